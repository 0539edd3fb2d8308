"""Opaque identifiers."""

import secrets

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
LENGTH = 12


def new_id() -> str:
    """A random id of 12 base-62 characters (71 bits): unguessable, and safe in addresses and stream names."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
