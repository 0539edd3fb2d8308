"""The addresses of games, under /api/v1/."""

from django.urls import path

from games.territory import api, api_friends

urlpatterns = [
    path("games", api.Games.as_view()),
    path("games/friends", api_friends.FriendsGames.as_view()),
    path("games/<str:game_id>", api.OneGame.as_view()),
    path("games/<str:game_id>/events", api.Events.as_view()),
    path("games/<str:game_id>/moves", api.Moves.as_view()),
    path("games/<str:game_id>/legal-moves", api.LegalMovesView.as_view()),
    path("games/<str:game_id>/undo", api.Undo.as_view()),
    path("games/<str:game_id>/undo-answer", api.UndoAnswer.as_view()),
    path("games/<str:game_id>/resign", api.Resign.as_view()),
    path("games/<str:game_id>/board.svg", api.BoardSvg.as_view()),
    path("games/<str:game_id>/record", api.Record.as_view()),
    path("games/<str:game_id>/record.blksgf", api.SgfRecord.as_view()),
]
