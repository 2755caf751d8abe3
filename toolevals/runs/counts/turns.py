"""Count turns of conversations: once for each revision that has a run."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from labeling.models import VersionEntry
from toolevals.runs.models import RevisionTurn, Run

AT_ONCE = 2000
_first = itemgetter(0)


def turns_write(run: Run) -> None:
    """Write at which turn the examples of the run's version stand, where that is not written yet.

    It follows from what the revisions show, so that workers who race write the same.
    """
    part = _missing(run)
    while part:
        # In one order, so that workers who race never wait for each other.
        rows = [RevisionTurn(revision_id=pk, turn=turn_of(document)) for pk, document, _ in sorted(part, key=_first)]
        RevisionTurn.objects.bulk_create(rows, ignore_conflicts=True)
        # Not from the first again: what was just written would be passed over each time.
        part = _missing(run, after=part[-1][2])


def _missing(run: Run, *, after: int = -1) -> list[tuple[UUID, Any, int]]:
    """Return the next entries whose turn is not written, in order, from `after` a position."""
    known = RevisionTurn.objects.filter(revision=OuterRef("revision"))
    entries = VersionEntry.objects.filter(~Exists(known), version=run.dataset_version_id, position__gt=after)
    return list(entries.order_by("position").values_list("revision", "revision__input", "position")[:AT_ONCE])


def turn_of(document: Any) -> int:
    """Return how many messages of the user an input holds: 1 where the conversation begins."""
    messages = document.get("messages") if isinstance(document, Mapping) else None
    return sum(
        isinstance(message, Mapping) and message.get("role") == "user"
        for message in (messages if isinstance(messages, list) else [])
    )
