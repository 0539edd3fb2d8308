"""The addresses of the pages."""

from django.urls import path
from django.views.generic import TemplateView

urlpatterns = [path("", TemplateView.as_view(template_name="web/home.html"), name="home")]
