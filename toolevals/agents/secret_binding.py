"""Secrets are bound to addresses: scheme, host and port. This module decides whether one may be sent somewhere.

Who runs agents enters addresses, and names a secret for each. Without a binding they could name a server of their own,
and the secret would be sent there. Equality is exact: no suffix, no wildcard, no redirect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from typing import Final, Self

import idna

PORTS: Final = {"http": 80, "https": 443}
_ADDRESS: Final = re.compile(r"(https?)://([^/?#]*)(.*)", re.IGNORECASE)
_PLACE: Final = re.compile(r"(\[[^\[\]@]*\]|[^:@\[\]]*)(?::(\d{0,5}))?")
_NAME: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_MOST_PORTS: Final = 65_535


class OriginError(ValueError):
    """A text names no scheme, host and port. The message follows the text: "must begin with ..."."""


class SecretForbiddenError(Exception):
    """The secret is not bound to the address. The text never holds its value."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A scheme, a host and a port: what an address is compared by."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, address: str) -> Self:
        """Return where requests to an address go. Raises OriginError for what clients may read in two ways."""
        return cls._read(address)[0]

    @classmethod
    def alone(cls, text: str) -> Self:
        """Return the same of a text that names nothing else: no path, no query. Raises OriginError."""
        origin, rest = cls._read(text)
        if rest not in ("", "/"):
            raise OriginError(f"must be a scheme, a host and a port alone: {origin}")
        return origin

    @classmethod
    def _read(cls, address: str) -> tuple[Self, str]:
        if not address.isprintable() or " " in address:
            raise OriginError("must hold no space and no control character")
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise OriginError("must start with http:// or https://")
        scheme, place = found[1].lower(), _PLACE.fullmatch(found[2])
        if place is None:
            raise OriginError("must name a host and perhaps a port, without a user or password")
        port = int(place[2]) if place[2] else PORTS[scheme]
        if not 1 <= port <= _MOST_PORTS:
            raise OriginError(f"must name a port from 1 to {_MOST_PORTS}")
        return cls(scheme, _host(place[1]), port), found[3]

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")


@dataclass(frozen=True, slots=True)
class SecretBinding:
    """A secret's value and where it may be sent. `key_for` is the one way to the value."""

    name: str
    origins: frozenset[Origin]
    value: str = field(default="", repr=False)

    @classmethod
    def of(cls, name: str, origins: Iterable[str], value: str = "") -> Self:
        """Return a binding to origins as `Origin` writes them. Raises OriginError."""
        return cls(name, frozenset(Origin.of(each) for each in origins), value)

    def key_for(self, address: str) -> str:
        """Return the value, to be sent to this address and without following redirects. Raises SecretForbiddenError."""
        try:
            origin = Origin.of(address)
        except OriginError as error:
            raise SecretForbiddenError(
                f"The secret {self.name!r} cannot be sent to this address: it {error}."
            ) from None
        if not self.origins:
            raise SecretForbiddenError(f"The secret {self.name!r} may be sent to no address yet, so not to {origin}.")
        if origin not in self.origins:
            raise SecretForbiddenError(f"The secret {self.name!r} may not be sent to {origin}.")
        return self.value


def origins_read(texts: Iterable[str]) -> list[str]:
    """Return what each text names, written in one way, sorted and each once. Raises OriginError with the text."""
    found = set()
    for text in texts:
        try:
            found.add(str(Origin.alone(text.strip())))
        except OriginError as error:
            raise OriginError(f"{text.strip()[:200]!r} {error}") from None
    return sorted(found)


def _host(said: str) -> str:
    if said.startswith("["):
        return _ipv6(said[1:-1])
    name = said.lower()
    if not said.isascii():
        try:
            name = idna.encode(name).decode("ascii")
        except idna.IDNAError:
            raise OriginError("must name a host that can be written in ASCII") from None
    if not _NAME.fullmatch(name):
        raise OriginError("must name a host by letters, digits, hyphens and dots, without a dot at the end")
    return name


def _ipv6(said: str) -> str:
    try:
        address = ip_address(said)
    except ValueError:
        address = None
    if not isinstance(address, IPv6Address) or address.scope_id is not None:
        raise OriginError("must hold an IPv6 address between brackets")
    return str(address)
