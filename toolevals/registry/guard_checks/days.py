"""Counts what a policy decides, by day, key and rule: in one statement, however many count at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import OperationalError, connection
from uuid_utils.compat import uuid7

from toolevals.grading.guard import Decision
from toolevals.registry.guard_checks.counting import FORGOTTEN_AT_ONCE, said_in_time, short_name
from toolevals.registry.guard_checks.models import GuardDay
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.clock import database_now

KEPT: Final = timedelta(days=90)
_NUMBERS: Final = {"allowed": (1, 0, 0), "would_refuse": (0, 1, 0), "refused": (0, 0, 1)}


def decision_count(*, policy: UUID, key: str, decision: Decision, milliseconds: int) -> None:
    """Count a decision for its key, and its refusals for each rule; left out where the database cannot in time."""
    whole = "refused" if not decision.allowed else "would_refuse" if decision.would_refuse else "allowed"
    rules = {each.rule: "would_refuse" for each in decision.would_refuse} | {
        each.rule: "refused" for each in decision.reasons
    }
    with suppress(OperationalError):
        _add(policy, short_name(key), [("", whole), *sorted(rules.items())], milliseconds)


def _add(policy: UUID, key: str, outcomes: Sequence[tuple[str, str]], milliseconds: int) -> None:
    field, table = GuardDay._meta.pk, GuardDay._meta.db_table
    day = connection.ops.adapt_datefield_value(database_now().date())
    values: list[Any] = []
    # The row of the key comes first, then the rules by name: who holds it is alone with the key.
    for rule, outcome in outcomes:
        ids = field.get_db_prep_value(uuid7(), connection), field.get_db_prep_value(policy, connection)
        values += [*ids, day, key, rule, *_NUMBERS[outcome]]
    rows = ", ".join(["(%s, %s, %s, %s, %s, %s, %s, %s)"] * len(outcomes))
    statement = (
        f"INSERT INTO {table} (id, policy_id, day, key, rule, allowed, would_refuse, refused) VALUES {rows} "  # noqa: S608
        "ON CONFLICT (policy_id, day, key, rule) DO UPDATE SET "
        f"allowed = {table}.allowed + excluded.allowed, would_refuse = {table}.would_refuse + excluded.would_refuse, "
        f"refused = {table}.refused + excluded.refused RETURNING rule"
    )
    said_in_time(statement, values, milliseconds)


def guard_days_forget(now: datetime) -> None:
    """Delete the counts of days that are older than KEPT, in short transactions."""
    old = GuardDay.objects.filter(day__lt=(now - KEPT).date()).order_by("day")
    while ids := list(old.values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE]):
        GuardDay.objects.filter(pk__in=ids).delete()
        others_write_first()
