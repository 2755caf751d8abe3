"""Writes the lists of people, tokens, secrets, jobs and acts as files: columns (see docs/tables.md) and rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from toolevals.presentation.csv import Cell
from toolevals.workspace.models import ApiToken, AuditEntry, Invitation, Membership, Secret

AUDIT: Final = ("entry_id", "at", "actor_id", "actor", "verb", "target_type", "target_id", "detail")
INVITATIONS: Final = (
    "invitation_id",
    "email",
    "role",
    "state",
    "invited_by_id",
    "invited_by",
    "created_at",
    "expires_at",
)
MEMBERS: Final = ("member_id", "user_id", "name", "email", "role", "created_at")
SECRETS: Final = ("secret_id", "name", "addresses", "set_by_id", "set_by", "changed_at")
TOKENS: Final = (
    "token_id",
    "name",
    "prefix",
    "user_id",
    "user",
    "role",
    "scope",
    "created_at",
    "last_used_at",
    "expires_at",
)


def audit_lines(entries: Iterable[AuditEntry]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each act; without an actor, the system's."""
    for entry in entries:
        actor = entry.actor
        detail = json.dumps(entry.shown_detail, ensure_ascii=False) if entry.detail else None
        who = (actor.pk, actor.name) if actor else (None, None)
        yield entry.pk, entry.at, *who, entry.verb, entry.target_type, entry.target_id, detail


def invitation_lines(invitations: Iterable[Invitation]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each invitation that was read with who made it; of its link, nothing."""
    for each in invitations:
        who = (each.actor.pk, each.actor.name) if each.actor else (None, None)
        state = "expired" if each.is_expired else each.state
        yield each.pk, each.email, each.get_role_display(), state, *who, each.created_at, each.expires_at


def secret_lines(secrets: Iterable[Secret]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each secret that was read with who set it; its addresses parted by spaces, and no value."""
    for each in secrets:
        who = (each.actor.pk, each.actor.name) if each.actor else (None, None)
        yield each.pk, each.name, " ".join(each.addresses), *who, each.changed_at


def member_lines(members: Iterable[Membership]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each membership that was read with its person."""
    for each in members:
        yield each.pk, each.user.pk, each.user.name, each.user.email, each.get_role_display(), each.created_at


def token_lines(tokens: Iterable[ApiToken]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each token that was read with its person; of the secret, what the list shows of it."""
    for each in tokens:
        times = each.created_at, each.last_used_at, each.expires_at
        yield each.pk, each.name, each.prefix, each.user.pk, each.user.name, each.get_role_display(), each.scope, *times
