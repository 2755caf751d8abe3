"""The lists of members, tokens, jobs and acts as files: their columns (described in docs/reports.md) and their rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from toolevals.presentation.csv import Cell
from toolevals.workspace.models import ApiToken, AuditEntry, Job, Membership

AUDIT: Final = ("entry_id", "at", "actor_id", "actor", "verb", "target_type", "target_id", "detail")
JOBS: Final = ("job_id", "kind", "title", "state", "stage", "done", "total", "created_at", "finished_at")
MEMBERS: Final = ("member_id", "user_id", "name", "email", "role", "created_at")
TOKENS: Final = (
    "token_id",
    "name",
    "prefix",
    "user_id",
    "user",
    "role",
    "created_at",
    "last_used_at",
    "expires_at",
)


def audit_lines(entries: Iterable[AuditEntry]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each act; without an actor, the system's."""
    for entry in entries:
        actor = entry.actor
        detail = json.dumps(entry.detail, ensure_ascii=False) if entry.detail else None
        who = (actor.pk, actor.name) if actor else (None, None)
        yield entry.pk, entry.at, *who, entry.verb, entry.target_type, entry.target_id, detail


def job_lines(jobs: Iterable[Job]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each job that was read `with_progress`."""
    for job in jobs:
        done, total = job.progress
        yield job.pk, job.kind, job.title, job.state, job.stage, done, total, job.created_at, job.finished_at


def member_lines(members: Iterable[Membership]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each membership that was read with its person."""
    for each in members:
        yield each.pk, each.user.pk, each.user.name, each.user.email, each.get_role_display(), each.created_at


def token_lines(tokens: Iterable[ApiToken]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each token that was read with its person; of the secret, what the list shows of it."""
    for each in tokens:
        times = each.created_at, each.last_used_at, each.expires_at
        yield each.pk, each.name, each.prefix, each.user.pk, each.user.name, each.get_role_display(), *times
