"""How the secrets of apps are kept."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class SecretHasher(PBKDF2PasswordHasher):
    """For secrets that the server drew: they cannot be guessed, so slowness would only hold up the web process."""

    algorithm = "pbkdf2_sha256_random"
    iterations = 1
