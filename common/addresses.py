"""Addresses of Redis: one server, or whichever a service's Sentinels call the master. Pure.

redis://:password@host:6379/0                     (or rediss:// for TLS)
redis+sentinel://:password@host1:26379,host2:26379/service/0?sentinel_password=…
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

PLAIN = ("redis://", "rediss://")
SENTINEL = "redis+sentinel://"
SENTINEL_PORT = 26379


@dataclass(frozen=True, slots=True)
class Address:
    """Where a Redis is. `sentinels` is empty for a single server, whose `url` says everything."""

    url: str
    sentinels: tuple[tuple[str, int], ...] = ()
    service: str = ""
    database: int = 0
    username: str = ""
    password: str = ""
    sentinel_password: str = ""

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Raises `ValueError` for what is no such address."""
        if url.startswith(PLAIN):
            return cls(url)
        if not url.startswith(SENTINEL):
            raise ValueError("it begins with none of redis://, rediss:// and redis+sentinel://")
        parts = urlsplit(url)
        credentials, _, hosts = parts.netloc.rpartition("@")
        username, _, password = credentials.partition(":")
        service, _, database = parts.path.strip("/").partition("/")
        options = dict(parse_qsl(parts.query))
        secret = options.pop("sentinel_password", "")
        if not service or options or (database and not database.isdigit()):
            raise ValueError("after the Sentinels it has /service, or /service/database")
        return cls(
            url,
            tuple(_host(host) for host in hosts.split(",")),
            service,
            int(database or 0),
            unquote(username),
            unquote(password),
            secret,
        )

    @property
    def name(self) -> str:
        """The address without its secrets: what decides which streams have their place here."""
        scheme, _, rest = self.url.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"

    @property
    def credentials(self) -> dict[str, Any]:
        """What the master asks for, as redis-py names it."""
        found: dict[str, Any] = {"db": self.database}
        if self.username:
            found["username"] = self.username
        if self.password:
            found["password"] = self.password
        return found

    @property
    def sentinel_options(self) -> dict[str, Any]:
        """What the Sentinels themselves ask for, as redis-py names it."""
        return {"password": self.sentinel_password} if self.sentinel_password else {}

    def for_celery(self) -> tuple[str, dict[str, Any]]:
        """The broker's address as Celery spells it, and its transport options."""
        if not self.sentinels:
            return self.url, {}
        user, password = quote(self.username, safe=""), quote(self.password, safe="")
        login = f"{user}:{password}@" if self.password else ""
        urls = [f"sentinel://{login}{host}:{port}/{self.database}" for host, port in self.sentinels]
        options: dict[str, Any] = {"master_name": self.service}
        if self.sentinel_options:
            options["sentinel_kwargs"] = self.sentinel_options
        return ";".join(urls), options

    def for_channels(self) -> str | dict[str, Any]:
        """The host as channels-redis wants it."""
        if not self.sentinels:
            return self.url
        return {
            "sentinels": list(self.sentinels),
            "master_name": self.service,
            "sentinel_kwargs": self.sentinel_options,
            **self.credentials,
        }


def _host(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = text, str(SENTINEL_PORT)
    if not host or not port.isdigit():
        raise ValueError(f"{text!r} is no Sentinel's host:port")
    return host, int(port)


def parse_all(text: str) -> tuple[Address, ...]:
    """One address or several, separated by spaces. Raises `ValueError`."""
    addresses = tuple(Address.parse(url) for url in text.split())
    if not addresses or len({address.name for address in addresses}) < len(addresses):
        raise ValueError("it names none, or one twice")
    return addresses
