"""Addresses below `/api/v1/`."""

from django.urls import path

from matchmaking.api import pools

urlpatterns = [
    path("pools", pools.PoolsView.as_view(), name="pools"),
    path("pools/<str:key>", pools.PoolView.as_view(), name="pool"),
    path("pools/<str:key>/ticket", pools.TicketView.as_view(), name="ticket"),
]
