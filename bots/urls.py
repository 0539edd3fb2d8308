"""The addresses of hints, under /api/v1/."""

from django.urls import path

from bots import api

urlpatterns = [
    path("games/<str:game_id>/hints", api.Hints.as_view()),
]
