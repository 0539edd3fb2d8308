"""The addresses of people and standing, below `/api/v1/`."""

from django.urls import path

from accounts import api

urlpatterns = [
    path("guests", api.GuestsView.as_view()),
    path("me", api.MeView.as_view()),
    path("me/name", api.NameView.as_view()),
    path("me/bot", api.BotView.as_view()),
    path("me/tokens", api.TokensView.as_view()),
    path("me/tokens/<str:token_id>", api.TokenView.as_view()),
    path("me/grants", api.GrantsView.as_view()),
    path("me/grants/<str:app>", api.GrantView.as_view()),
    path("me/inbox", api.InboxView.as_view()),
    path("players/<str:name>", api.PlayerView.as_view()),
    path("players/<str:name>/ratings/<str:key>/history", api.RatingHistoryView.as_view()),
    path("leaderboards/<str:key>", api.LeaderboardView.as_view()),
    path("leaderboards/<str:key>/around/<str:name>", api.AroundView.as_view()),
]
