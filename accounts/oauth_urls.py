"""The addresses of OAuth. The names are those by which django-oauth-toolkit finds them."""

from django.urls import path
from oauth2_provider.views import OAuthProtectedResourceMetadataView, OAuthServerMetadataView

from accounts.pages import apps

app_name = "oauth2_provider"
urlpatterns = [
    path("oauth/authorize", apps.Authorize.as_view(), name="authorize"),
    path("oauth/token", apps.Token.as_view(), name="token"),
    path("oauth/revoke", apps.Revoke.as_view(), name="revoke-token"),
    path(
        ".well-known/oauth-authorization-server",
        OAuthServerMetadataView.as_view(),
        name="oauth-server-metadata",
    ),
    path(
        ".well-known/oauth-protected-resource",
        OAuthProtectedResourceMetadataView.as_view(),
        name="oauth-resource-metadata",
    ),
]
