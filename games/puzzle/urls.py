"""The addresses of block puzzles, under /api/v1/."""

from django.urls import path

from games.puzzle import api

urlpatterns = [
    path("puzzles/runs", api.Runs.as_view()),
    path("puzzles/runs/<str:run_id>", api.OneRun.as_view()),
    path("puzzles/runs/<str:run_id>/events", api.RunEvents.as_view()),
    path("puzzles/runs/<str:run_id>/placements", api.Placements.as_view()),
    path("puzzles/runs/<str:run_id>/legal-placements", api.LegalPlacements.as_view()),
    path("puzzles/runs/<str:run_id>/undo", api.RunUndo.as_view()),
    path("puzzles/runs/<str:run_id>/board.svg", api.RunSvg.as_view()),
    path("puzzles/runs/<str:run_id>/record", api.RunRecord.as_view()),
    path("puzzles/daily", api.Today.as_view()),
    path("puzzles/daily/<str:date>", api.OneDaily.as_view()),
    path("puzzles/daily/<str:date>/run", api.DailyRun.as_view()),
    path("puzzles/bests", api.Bests.as_view()),
]
