"""Which providers people may sign in with, from the environment. None is needed: guests play without."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from config.env import ConfigurationError

GOOGLE = "social_core.backends.google_openidconnect.GoogleOpenIdConnect"
OPENID = "social_core.backends.open_id_connect.OpenIdConnectAuth"
SETTING = "SOCIAL_AUTH_"


@dataclass(frozen=True, slots=True)
class SignIn:
    """The backends of social-auth that are in use, in the order of the page, and their Django settings."""

    backends: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, environ: Mapping[str, str] | None = None) -> "SignIn":
        """Read and check the variables; raises `ConfigurationError` for a provider that is configured by half."""
        environ = os.environ if environ is None else environ
        backends: list[str] = []
        settings: dict[str, Any] = {}
        if google := _together(environ, "KADO_GOOGLE_CLIENT_ID", "KADO_GOOGLE_CLIENT_SECRET"):
            backends.append(GOOGLE)
            settings |= _settings("GOOGLE_OPENIDCONNECT", *google)
        names = ("KADO_OIDC_CLIENT_ID", "KADO_OIDC_CLIENT_SECRET", "KADO_OIDC_ENDPOINT")
        if openid := _together(environ, *names):
            backends.append(OPENID)
            settings |= _settings("OIDC", *openid[:2])
            settings["SOCIAL_AUTH_OIDC_OIDC_ENDPOINT"] = openid[2].rstrip("/")
            settings["SOCIAL_AUTH_OIDC_TITLE"] = environ.get("KADO_OIDC_TITLE", "").strip()
        others = [word.strip() for word in environ.get("KADO_SIGN_IN", "").split(",")]
        backends += [word for word in others if word and word not in backends]
        settings |= {name: text for name, text in environ.items() if name.startswith(SETTING)}
        return cls(tuple(backends), settings)


def _settings(prefix: str, key: str, secret: str) -> dict[str, Any]:
    return {
        f"{SETTING}{prefix}_KEY": key,
        f"{SETTING}{prefix}_SECRET": secret,
        # Who somebody is, is the provider's own number of them. An e-mail address may change its owner.
        f"{SETTING}{prefix}_ID_KEY": "sub",
        f"{SETTING}{prefix}_USE_PKCE": True,
    }


def _together(environ: Mapping[str, str], *names: str) -> tuple[str, ...]:
    """The values of variables that make sense only together; none of them set is all right."""
    given = [environ.get(name, "").strip() for name in names]
    if any(given) and not all(given):
        missing = " and ".join(name for name, text in zip(names, given, strict=True) if not text)
        raise ConfigurationError(
            f"{missing} not set, and {names[0].rpartition('_CLIENT')[0]} sign-in needs all of: {', '.join(names)}."
        )
    return tuple(given) if all(given) else ()
