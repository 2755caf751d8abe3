"""Work out what a case's calls left behind, expected next to actual, record by record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reports.analyses.case import ComparedRow
from reports.analyses.wording import path_text, value_text

KINDS: Final = ("wrong", "missing", "polluted")
# How each is drawn: as another value, as one that is missing, as one too many.
_DRAWN: Final = {"wrong": "changed", "missing": "missing", "polluted": "extra"}


@dataclass(frozen=True, slots=True)
class ChangedRecord:
    """One record of the state, such as `orders.W1`, with the places where it is not as expected."""

    name: str
    rows: tuple[ComparedRow, ...]


@dataclass(frozen=True, slots=True)
class StateComparison:
    """The records that differ, in the order of the grade, and how many further differences it does not list."""

    records: tuple[ChangedRecord, ...] = ()
    more: int = 0


def compared_state(details: Mapping[str, Any]) -> StateComparison:
    """Return the differences of the `execution` details of a grade, by record."""
    execution = details.get("execution", {})
    records: dict[str, list[ComparedRow]] = {}
    for each in _differences(execution):
        record, path = each["record"], each["path"]
        where = path_text(path[len(record) :]) if path != record else "whole record"
        row = ComparedRow(where, _side(each, "expected"), _side(each, "actual"), _DRAWN[each["kind"]], each["kind"])
        records.setdefault(record, []).append(row)
    return StateComparison(
        tuple(ChangedRecord(path_text(record) if record else "state", tuple(rows)) for record, rows in records.items()),
        sum(execution.get("more", {}).values()),
    )


def state_differences(details: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str | None, str | None]]:
    """Yield kind, record, path, expected and actual of each difference, as they are downloaded."""
    for each in _differences(details.get("execution", {})):
        yield each["kind"], each["record"], each["path"], _side(each, "expected"), _side(each, "actual")


def _differences(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for kind in KINDS:
        yield from found.get(kind, ())


def _side(difference: Mapping[str, Any], side: str) -> str | None:
    """Return a side as text, None where there is nothing; of what was too long to keep, its beginning."""
    if f"{side}_cut" in difference:
        return str(difference[f"{side}_cut"])
    return value_text(difference[side]) if side in difference else None
