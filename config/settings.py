"""Django settings: one file; everything that differs between machines comes from the environment (config/env.py)."""

from typing import Any

import django_stubs_ext
from django.conf import global_settings

from accounts.rules import SCOPE_WORDS
from config.env import Environment, database_settings
from config.sign_in import SignIn

django_stubs_ext.monkeypatch()  # lets annotations such as ModelAdmin[Game] stand in code that runs

ENVIRONMENT = Environment.read()
SIGN_IN = SignIn.read()

SECRET_KEY = ENVIRONMENT.secret_key
DEBUG = ENVIRONMENT.debug
ALLOWED_HOSTS = list(ENVIRONMENT.hosts)

INSTALLED_APPS = [
    "config.second_factor.AdminWithSecondFactor",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "social_django",
    "oauth2_provider",
    "corsheaders",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "accounts",
    "games.territory",
    "games.puzzle",
    "matchmaking",
    "bots",
    "web",
    "config",
]

# WhiteNoise is synchronous, so all above it is called in a thread too; below it Django's own is asynchronous.
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "config.guard.page_policy",
    "corsheaders.middleware.CorsMiddleware",
    "config.guard.throttle",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
APPEND_SLASH = False

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# Data

DATABASES = {
    "default": database_settings(ENVIRONMENT.database_url, pool_size=ENVIRONMENT.database_pool)
}
DB_THREADS = ENVIRONMENT.database_threads
"""Threads that synchronous units of work run on in a web process; each holds at most one pooled connection."""

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.Player"

REDIS_URL = ENVIRONMENT.redis_url
CHANNEL_LAYERS = {
    # Control messages to the web processes only (a token revoked); live moves travel by common/feed.py.
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "kado-control"},
    }
}

DAILY_SECRET = ENVIRONMENT.daily_secret
GUEST_DAYS = ENVIRONMENT.guest_days

# Celery (config/celery.py reads the CELERY_ names)

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_RESULT_EXPIRES = None  # there are none; a scheduler would have them cleaned up
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_LOST_WAIT = 1.0  # seconds before the task of a process that died is given out again; Celery looks every five
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "priority_steps": list(
        range(10)
    ),  # a list in Redis for each; bots/queue.py says what has which
    "visibility_timeout": 600,  # seconds; far above the longest task
    "socket_timeout": 10,
    "socket_connect_timeout": 5,
    "retry_on_timeout": True,
    "health_check_interval": 10,
}
CELERY_TASK_PUBLISH_RETRY = False  # whoever publishes has a sweeper behind it
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {"bots.*": {"queue": "bots"}}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# Sign-in (docs/adr/0018-sign-in.md)

AUTHENTICATION_BACKENDS = ["accounts.backends.PlayerBackend", *SIGN_IN.backends]
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/account"
OTP_TOTP_ISSUER = "Kado"
"""What a device calls the account by."""
OTP_ADMIN_HIDE_SENSITIVE_DATA = True
STAFF_SECOND_FACTOR = ENVIRONMENT.staff_second_factor
SOCIAL_AUTH_PIPELINE = (
    "social_core.pipeline.social_auth.social_details",
    "social_core.pipeline.social_auth.social_uid",
    "social_core.pipeline.social_auth.auth_allowed",
    "accounts.pipeline.enter",
)
SOCIAL_AUTH_REQUESTS_TIMEOUT = 10
"""Seconds that a provider has for each answer."""
vars().update(SIGN_IN.settings)

# Third-party apps (docs/adr/0019-third-party-apps.md)

PASSWORD_HASHERS = [*global_settings.PASSWORD_HASHERS, "accounts.hashers.SecretHasher"]
OAUTH2_PROVIDER = {
    "OAUTH2_VALIDATOR_CLASS": "accounts.oauth.Validator",
    "ACCESS_TOKEN_GENERATOR": "accounts.oauth.access_token",
    "REFRESH_TOKEN_GENERATOR": "accounts.oauth.refresh_token",
    "CLIENT_SECRET_HASHER": "pbkdf2_sha256_random",
    "SCOPES": {scope.value: words for scope, words in SCOPE_WORDS.items()},
    "DEFAULT_SCOPES": ["play"],
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3_600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 24 * 3_600,  # after the last access token ran out
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ALLOWED_SCHEMES": [
        "https",
        "http",
    ],  # plain HTTP on the person's own machine only: accounts.oauth
    "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
    "OAUTH2_GRANT_TYPES_SUPPORTED": ["authorization_code", "refresh_token"],
    "OAUTH2_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED": [
        "none",
        "client_secret_basic",
        "client_secret_post",
    ],
    "OAUTH2_PROTECTED_RESOURCE_NAME": "Kado",
    # The best current practice (RFC 9700): no implicit or password grant, PKCE by S256, `iss`, hashes only.
    **{
        f"COMPLIANT_BCP_RFC9700_{rule}": True
        for rule in (
            *("IMPLICIT_GRANT", "PASSWORD_GRANT", "PKCE_METHOD", "PKCE_REQUIRED"),
            *("ACCESS_TOKEN_TRANSPORT", "AUTHZ_RESPONSE_ISS", "TOKEN_STORAGE"),
            *("REFRESH_TOKEN", "REDIRECT_URI_MATCHING"),
        )
    },
}
# Pages of other sites: of the origins that apps have registered (config/receivers.py), and never with cookies.
CORS_URLS_REGEX = r"^/(api/v1|oauth)/"
CORS_ALLOW_HEADERS = ("accept", "authorization", "content-type", "idempotency-key", "if-none-match")
CORS_EXPOSE_HEADERS = ("etag", "idempotent-replay", "retry-after")

# REST

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.TokenAuthentication",
        "accounts.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["config.parsing.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "config.openapi.Schema",
    "EXCEPTION_HANDLER": "config.problems.handle",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Kado",
    "DESCRIPTION": "Matchmaking and games for corner-to-corner polyomino games. Errors are "
    "`application/problem+json` with a stable `code`; see [the catalogue](/docs/errors). Live play is on the socket, `/ws/v1`.",
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_PUBLIC": True,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {"PlayerKindEnum": "accounts.models.Player.Kind"},
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024
"""Bytes of a request's body; the largest honest one is far below a kilobyte."""

# Web

STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = (
    True  # files are served from where they lie: nothing has to be collected first
)
WHITENOISE_AUTOREFRESH = DEBUG
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = ENVIRONMENT.https
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if ENVIRONMENT.https else 0
SILENCED_SYSTEM_CHECKS = [
    # Other hosts of the operator's domain, and browsers' lists of it, are not for this server to decide on.
    "security.W005",
    "security.W021",
    # Apps on a person's own machine come back by plain HTTP (RFC 8252); accounts/oauth.py allows no other host that.
    "oauth2_provider.W008",
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

LOGGING_CONFIG = "config.logs.configure"
LOGGING = {"level": "DEBUG" if DEBUG else "INFO"}
