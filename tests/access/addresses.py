"""Every address of the application, from its URL map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver


@dataclass(frozen=True)
class Address:
    """One address: its name with the namespace, its route, and the names of the arguments in it."""

    name: str
    route: str
    arguments: tuple[str, ...]

    @property
    def is_api(self) -> bool:
        return self.route.startswith("api/")

    def __str__(self) -> str:
        return self.name


def addresses() -> list[Address]:
    """Return all of them, in the order in which they are tried."""
    return list(_below(get_resolver().url_patterns, "", "", ()))


def _below(
    patterns: Iterable[URLPattern | URLResolver], namespace: str, route: str, arguments: tuple[str, ...]
) -> Iterator[Address]:
    for entry in patterns:
        here = route + str(entry.pattern)
        known = (*arguments, *entry.pattern.converters)
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from _below(entry.url_patterns, inner, here, known)
        else:
            yield Address(f"{namespace}{entry.name}", here, known)
