"""The addresses of games, under /api/v1/."""

from django.urls import path

from games.territory import api, api_friends, api_leaving, api_own_games, live_api, profiles

urlpatterns = [
    path("players/<str:name>/statistics", profiles.StatisticsView.as_view()),
    path("players/<str:name>/games", profiles.PlayerGames.as_view()),
    path("players/<str:name>/games/export", profiles.ExportNdJson.as_view()),
    path("players/<str:name>/games/export.blksgf", profiles.ExportSgf.as_view()),
    path("games", api.Games.as_view()),
    path("games/live", live_api.LiveGames.as_view()),
    path("games/friends", api_friends.FriendsGames.as_view()),
    path("me/vacation", api_own_games.OwnVacation.as_view()),
    path("me/games", api_own_games.OwnGames.as_view()),
    path("games/<str:game_id>", api.OneGame.as_view()),
    path("games/<str:game_id>/events", api.Events.as_view()),
    path("games/<str:game_id>/moves", api.Moves.as_view()),
    path("games/<str:game_id>/legal-moves", api.LegalMovesView.as_view()),
    path("games/<str:game_id>/undo", api.Undo.as_view()),
    path("games/<str:game_id>/undo-answer", api.UndoAnswer.as_view()),
    path("games/<str:game_id>/resign", api.Resign.as_view()),
    path("games/<str:game_id>/presence", api_leaving.Presence.as_view()),
    path("games/<str:game_id>/claim", api_leaving.Claim.as_view()),
    path("games/<str:game_id>/return", api_leaving.Return.as_view()),
    path("games/<str:game_id>/abort", api_leaving.Abort.as_view()),
    path("games/<str:game_id>/board.svg", api.BoardSvg.as_view()),
    path("games/<str:game_id>/record", api.Record.as_view()),
    path("games/<str:game_id>/record.blksgf", api.SgfRecord.as_view()),
]
