"""Tells acts as JSON to programs that keep logs, oldest first, so that each can go on where it stopped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection

from toolevals.json_types import JsonObject
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry

# An id says when its act was made, by the clock of the machine that made it: so much may clocks differ.
SETTLED_AFTER: Final = timedelta(minutes=1)


def audit_document(entry: AuditEntry) -> JsonObject:
    """Return an act as JSON; without an actor, the system's."""
    actor = entry.actor
    return {
        "id": str(entry.pk),
        "at": entry.at.isoformat(),
        "project": entry.project.slug if entry.project else None,
        "actor": {"id": str(actor.pk), "name": actor.name, "email": actor.email} if actor else None,
        "verb": entry.verb,
        "target_type": entry.target_type,
        "target_id": str(entry.target_id),
        "detail": entry.shown_detail,
    }


def audit_documents(after: UUID | None) -> Iterator[JsonObject]:
    """Yield the acts of the whole installation from the one after `after` on, in order.

    An act is told once none before it can still come: a minute after all transactions that are at work began.
    """
    acts = AuditEntry.objects.made_after(after).made_before(_all_began() - SETTLED_AFTER)
    for entry in acts.select_related("actor", "project").iterator():
        yield audit_document(entry)


def _all_began() -> datetime:
    """Return the time since which every transaction that is at work has begun."""
    now = database_now()
    if connection.vendor != "postgresql":
        # One transaction writes at a time: acts are stored in the order of their ids.
        return now
    with connection.cursor() as cursor:
        cursor.execute("SELECT min(xact_start) FROM pg_stat_activity WHERE datname = current_database()")
        [[began]] = cursor.fetchall()
    return min(began or now, now)
