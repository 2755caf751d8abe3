"""Tell what differs between two versions of a policy, by JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from toolevals.grading.values.canonical import exact
from toolevals.grading.values.problems import pointer_to
from toolevals.json_types import JsonValue


class PolicyChange(NamedTuple):
    """One difference: where it is, and the values before and after as JSON, empty where there is none."""

    pointer: str
    kind: str
    before: str
    after: str


def policy_changes(before: JsonValue, after: JsonValue) -> list[PolicyChange]:
    """Return what differs between two documents, the version's number aside."""
    return [each for each in _changes(before, after, ()) if each.pointer != "/version"]


def _changes(before: JsonValue, after: JsonValue, path: tuple[str, ...]) -> Iterator[PolicyChange]:
    if before == after and type(before) is type(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            here = (*path, name)
            if name not in before:
                yield PolicyChange(pointer_to(here), "added", "", exact(after[name]))
            elif name not in after:
                yield PolicyChange(pointer_to(here), "removed", exact(before[name]), "")
            else:
                yield from _changes(before[name], after[name], here)
        return
    yield PolicyChange(pointer_to(path), "changed", exact(before), exact(after))
