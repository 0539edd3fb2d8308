"""The addresses of the pages, below `/`."""

from django.urls import path

from accounts.pages import account, apps, sign_in

urlpatterns = [
    path("sign-in", sign_in.sign_in_page, name="sign-in"),
    path("sign-in/guest", sign_in.as_guest, name="sign-in-guest"),
    path("sign-in/<str:backend>", sign_in.begin, name="sign-in-begin"),
    path("sign-in/<str:backend>/complete", sign_in.complete, name="sign-in-complete"),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("account", account.account, name="account"),
    path("account/name", account.choose_name, name="account-name"),
    path("account/bot", account.make_bot, name="account-bot"),
    path("account/tokens", account.new_token, name="account-tokens"),
    path("account/tokens/<int:token_id>/revoke", account.end_token, name="account-token-revoke"),
    path("account/apps", apps.apps, name="apps"),
    path("account/apps/<slug:client_id>", apps.app, name="app"),
    path("account/apps/<slug:client_id>/delete", apps.remove, name="app-delete"),
    path("account/apps/<slug:client_id>/revoke", apps.revoke, name="app-revoke"),
]
