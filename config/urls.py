"""All addresses of the HTTP server."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from config import catalogue

admin.site.site_header = admin.site.site_title = "Kado"
admin.site.index_title = "Administration"

api: list[URLPattern | URLResolver] = [
    path("", include("accounts.urls")),
    path("", include("games.territory.urls")),
    path("", include("games.puzzle.urls")),
    path("", include("matchmaking.urls")),
    path("", include("bots.urls")),
    path("schema", SpectacularAPIView.as_view(), name="schema"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
]

urlpatterns = [
    path("", include("web.urls")),
    path("", include("accounts.page_urls")),
    path("", include("accounts.oauth_urls")),
    path("api/v1/", include(api)),
    path("admin/", admin.site.urls),
    path(catalogue.ADDRESS, catalogue.page),
]

handler400 = "config.problems.bad_request"
handler403 = "config.problems.permission_denied"
handler404 = "config.problems.page_not_found"
handler500 = "config.problems.server_error"
