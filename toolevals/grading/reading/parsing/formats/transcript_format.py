"""Defines one format of messages: how it is known, where its messages stand in a document, how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.turns import Turn
from toolevals.json_types import JsonObject

Item: TypeAlias = JsonObject
# An item with its JSON pointer in the document.
Placed: TypeAlias = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Opened:
    """The items of a whole document, and the pointer of the list that holds them.

    `system` is the prompt that is next to the items, with its pointer. `read` are the keys of the document that were
    looked at; `further` are parts that were left out, each a pointer with what it is.
    """

    items: list[Placed]
    at: str
    why: str
    system: Placed | None = None
    read: frozenset[str] = frozenset()
    further: tuple[tuple[str, str], ...] = ()


def _nothing(document: Item) -> Opened | None:
    return None


@dataclass(frozen=True, slots=True)
class TranscriptFormat:
    """A row of the table.

    `sign` returns why an item can be of this format only, None where it can be of others too. `accepts` tells whether
    an item can be read, `item` says what that takes. `turns` reads items with their pointers and hands what it leaves
    out to the account; `calls_at` says where calls stand, in words. `opens` finds the items of a whole document by keys
    that only this format has; lists under `messages` and bare lists are found for every format.

    `keys` are the words by which the nearest format of an unknown document is found. `made_by` says where the documents
    of its tests come from. `losses` names the known parts that a transcript has no place for.
    """

    name: str
    label: str
    sign: Callable[[Item], str | None]
    accepts: Callable[[Item], bool]
    item: str
    turns: Callable[[Iterable[Placed], Account], Iterator[Turn]]
    calls_at: str
    keys: frozenset[str]
    made_by: str
    losses: tuple[str, ...] = ()
    opens: Callable[[Item], Opened | None] = field(default=_nothing)


def listed(items: list[Any], at: str) -> list[Placed]:
    """Return the items of a list, each with its pointer."""
    return [(f"{at}/{place}", item) for place, item in enumerate(items)]


def has_role(item: Item) -> bool:
    """Tell whether an item says whose words it holds."""
    role = item.get("role")
    return isinstance(role, str) and role != ""


def kind_of(part: object, key: str = "type") -> str:
    """Return the type that a part names; empty where it names none."""
    kind = part.get(key) if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""
