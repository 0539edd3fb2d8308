"""The addresses of hints, analyses and baselines, under /api/v1/."""

from django.urls import path

from bots import api

urlpatterns = [
    path("games/<str:game_id>/hints", api.Hints.as_view()),
    path("games/<str:game_id>/analysis", api.AnalysisOfGame.as_view()),
    path("games/<str:game_id>/analysis.svg", api.AnalysisSvg.as_view()),
    path("games/<str:game_id>/analysis.blksgf", api.AnalysisSgf.as_view()),
    path("puzzles/runs/<str:run_id>/hints", api.RunHints.as_view()),
    path("puzzles/baselines", api.PuzzleBaselines.as_view()),
    path("puzzles/baselines.svg", api.PuzzleBaselinesSvg.as_view()),
]
