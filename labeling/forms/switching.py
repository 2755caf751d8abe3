"""Tell what stays of a call's arguments when another tool is chosen: values of arguments that both tools have alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from labeling.forms.entries import CallEntries
from labeling.forms.fields import ArgumentField, Kind, argument_fields
from labeling.forms.matchers import first_matcher, matcher_keys

# What the page sends of a field, whether or not anything was entered.
_WITHOUT_VALUE = frozenset({"m", "x", "fmt"})
_NESTED = frozenset({Kind.LIST, Kind.OBJECT, Kind.VARIANT, Kind.JSON})


def keep_fitting(entries: CallEntries, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Drop what was entered for arguments that the tool chosen now does not have, or has of another type.

    Args:
        entries: the call's fields, changed in place.
        before: the input schema of the tool that was chosen.
        after: that of the tool chosen now.

    """
    entries.data.setlist(entries.name("e"), [])
    old = {one.path: one for one in argument_fields(before)}
    new = {one.path: one for one in argument_fields(after)}
    for path in old | new:
        if path not in old or path not in new or not _fits(entries, old[path], new[path]):
            forget(entries, path)


def forget(entries: CallEntries, path: str) -> None:
    """Drop what was entered for an argument and inside it."""
    for name in _names(entries, path):
        del entries.data[name]


def _fits(entries: CallEntries, old: ArgumentField, new: ArgumentField) -> bool:
    """Tell whether what was entered for one argument means the same for another of its name.

    An untouched one is compared as the new tool's form begins.
    """
    matcher = entries.one("m", old.path)
    if matcher in ("", first_matcher(old)) and not _is_entered(entries, old.path):
        return False
    is_alike = (old.kind, old.entries, old.choices) == (new.kind, new.entries, new.choices)
    return is_alike and matcher in {"", *matcher_keys(new)} and (new.kind not in _NESTED or old.schema == new.schema)


def _is_entered(entries: CallEntries, path: str) -> bool:
    parts = ((name.partition(".")[2].partition("/")[0], name) for name in _names(entries, path))
    return any(part not in _WITHOUT_VALUE and any(entries.data.getlist(name)) for part, name in parts)


def _names(entries: CallEntries, path: str) -> list[str]:
    own = re.compile(rf"c{entries.number}\.[a-z]+{re.escape(path)}(/.*)?", re.DOTALL)
    return [name for name in entries.data if own.fullmatch(name)]
