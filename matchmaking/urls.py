"""Addresses below `/api/v1/`."""

from django.urls import path

from matchmaking import api

urlpatterns = [
    path("pools", api.PoolsView.as_view(), name="pools"),
    path("pools/<str:key>", api.PoolView.as_view(), name="pool"),
    path("pools/<str:key>/ticket", api.TicketView.as_view(), name="ticket"),
]
