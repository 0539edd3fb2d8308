"""The addresses of hints and analyses, under /api/v1/."""

from django.urls import path

from bots import api

urlpatterns = [
    path("games/<str:game_id>/hints", api.Hints.as_view()),
    path("games/<str:game_id>/analysis", api.AnalysisOfGame.as_view()),
    path("games/<str:game_id>/analysis.svg", api.AnalysisSvg.as_view()),
    path("games/<str:game_id>/analysis.blksgf", api.AnalysisSgf.as_view()),
]
