"""The REST endpoints, by subject."""
