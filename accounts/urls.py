"""The addresses of people and standing, below `/api/v1/`."""

from django.urls import path

from accounts.api import credentials, friends, inbox, people, privacy, reports, seasons, standing

urlpatterns = [
    path("guests", people.GuestsView.as_view()),
    path("me", people.MeView.as_view()),
    path("me/export", privacy.ExportView.as_view()),
    path("me/name", people.NameView.as_view()),
    path("me/bot", people.BotView.as_view()),
    path("me/tokens", credentials.TokensView.as_view()),
    path("me/tokens/<str:token_id>", credentials.TokenView.as_view()),
    path("me/grants", credentials.GrantsView.as_view()),
    path("me/grants/<str:app>", credentials.GrantView.as_view()),
    path("me/inbox", inbox.InboxView.as_view()),
    path("reports", reports.ReportsView.as_view()),
    path("me/inbox/read", inbox.ReadView.as_view()),
    path("me/requests-from", friends.RequestsFromView.as_view()),
    path("friends", friends.FriendsView.as_view()),
    path("friends/<str:name>", friends.FriendView.as_view()),
    path("friend-requests", friends.FriendRequestsView.as_view()),
    path("friend-requests/<str:name>", friends.FriendRequestView.as_view()),
    path("blocks", friends.BlocksView.as_view()),
    path("blocks/<str:name>", friends.BlockView.as_view()),
    path("players/<str:name>", people.PlayerView.as_view()),
    path("players/<str:name>/ratings/<str:key>/history", standing.RatingHistoryView.as_view()),
    path("players/<str:name>/ratings/<str:key>/history.svg", standing.RatingPictureView.as_view()),
    path("leaderboards/<str:key>", standing.LeaderboardView.as_view()),
    path("leaderboards/<str:key>/friends", standing.FriendsBoardView.as_view()),
    path("leaderboards/<str:key>/around/<str:name>", standing.AroundView.as_view()),
    path("seasons", seasons.SeasonsView.as_view()),
    path("seasons/<str:season_id>", seasons.SeasonView.as_view()),
    path("seasons/<str:season_id>/tables/<str:key>", seasons.SeasonTableView.as_view()),
    path(
        "seasons/<str:season_id>/tables/<str:key>/around/<str:name>",
        seasons.SeasonAroundView.as_view(),
    ),
]
