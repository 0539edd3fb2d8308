"""Opaque identifiers."""

import secrets

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
LENGTH = 12


def new_id() -> str:
    """A random id of 12 base-62 characters (71 bits): unguessable, and safe in addresses and stream names."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def is_id(text: str) -> bool:
    """Whether `text` has the form of an id. Whatever has not is unknown, without asking the database."""
    return len(text) == LENGTH and text.isascii() and text.isalnum()
