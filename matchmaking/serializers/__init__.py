"""The bodies of the REST API, by subject."""
