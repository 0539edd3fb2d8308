"""The addresses of the browser client: one page, which draws what its address says."""

from django.urls import path
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.generic import TemplateView

client = ensure_csrf_cookie(TemplateView.as_view(template_name="web/app.html"))

urlpatterns = [
    path("", client, name="home"),
    path("game/<str:game_id>", client, name="game"),
]
