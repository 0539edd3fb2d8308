"""Which providers there are is told by the environment, and the page says how to add one."""

import pytest
from django.conf import settings
from django.test import Client

from config.env import ConfigurationError
from config.sign_in import GOOGLE, OPENID, SignIn

OIDC = {
    "KADO_OIDC_ENDPOINT": "https://id.example/",
    "KADO_OIDC_CLIENT_ID": "kado",
    "KADO_OIDC_CLIENT_SECRET": "x",
    "KADO_OIDC_TITLE": "Example",
}


def test_nothing_is_needed() -> None:
    assert SignIn.read({}) == SignIn((), {})


def test_google_goes_by_its_own_number_of_a_person() -> None:
    found = SignIn.read({"KADO_GOOGLE_CLIENT_ID": "id", "KADO_GOOGLE_CLIENT_SECRET": "secret"})
    assert found.backends == (GOOGLE,)
    assert found.settings["SOCIAL_AUTH_GOOGLE_OPENIDCONNECT_KEY"] == "id"
    assert found.settings["SOCIAL_AUTH_GOOGLE_OPENIDCONNECT_ID_KEY"] == "sub"


def test_any_openid_provider_and_any_backend_of_social_auth() -> None:
    other = "social_core.backends.gitlab.GitLabOAuth2"
    found = SignIn.read(OIDC | {"KADO_SIGN_IN": f" {other}, ", "SOCIAL_AUTH_GITLAB_KEY": "k"})
    assert found.backends == (OPENID, other)
    assert found.settings["SOCIAL_AUTH_OIDC_OIDC_ENDPOINT"] == "https://id.example"
    assert found.settings["SOCIAL_AUTH_OIDC_TITLE"] == "Example"
    assert found.settings["SOCIAL_AUTH_GITLAB_KEY"] == "k"


@pytest.mark.parametrize("missing", ["KADO_OIDC_ENDPOINT", "KADO_OIDC_CLIENT_SECRET"])
def test_half_a_provider_is_told_in_one_sentence(missing: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{missing} not set, and KADO_OIDC sign-in needs"):
        SignIn.read({name: value for name, value in OIDC.items() if name != missing})


@pytest.mark.django_db
def test_without_a_provider_the_page_says_how_to_get_one_and_guests_play() -> None:
    assert settings.AUTHENTICATION_BACKENDS == ["accounts.backends.PlayerBackend"]
    client = Client()
    page = client.get("/sign-in").content.decode()
    assert "KADO_GOOGLE_CLIENT_ID" in page
    assert "http://testserver/sign-in/google-openidconnect/complete" in page
    assert client.post("/sign-in/oidc").status_code == 404
    assert client.post("/sign-in/guest").headers["Location"] == "/account"
    assert client.get("/api/v1/me").json()["kind"] == "guest"
