"""Count turns of conversations: once for each revision that has a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, OuterRef

from labeling.models import Revision, VersionEntry
from toolevals.runs.models import RevisionTurn, Run

AT_ONCE = 2000


def turns_write(run: Run) -> None:
    """Write at which turn the examples of the run's version stand, where that is not written yet.

    It follows from what the revisions show, so that workers who race write the same.
    """
    known = RevisionTurn.objects.filter(revision=OuterRef("pk"))
    entries = VersionEntry.objects.filter(version=run.dataset_version_id)
    missing = Revision.objects.filter(~Exists(known), pk__in=entries.values("revision")).order_by("pk")
    while some := list(missing.values_list("pk", "input")[:AT_ONCE]):
        rows = [RevisionTurn(revision_id=pk, turn=turn_of(document)) for pk, document in some]
        RevisionTurn.objects.bulk_create(rows, ignore_conflicts=True)


def turn_of(document: Any) -> int:
    """Return how many messages of the user an input holds: 1 where the conversation begins."""
    messages = document.get("messages") if isinstance(document, Mapping) else None
    return sum(
        isinstance(message, Mapping) and message.get("role") == "user"
        for message in (messages if isinstance(messages, list) else [])
    )
