"""How labels become gold: compared when all wanted ones are in, settled when the time to take one back has passed."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

from django.db import transaction
from django.utils import timezone

from labeling.models import Adjudication, Dispute, Gold, GoldSource, Label, Resolution, Revision, SlotState
from toolevals.grading.equivalence import equivalent
from toolevals.grading.values import Expectation
from toolevals.workspace.models import Project, User
from toolevals.workspace.services import audit_record


def revision_locked(pk: Any) -> Revision:
    """Return the revision, locked to the end of the transaction: its labels are compared by one person at a time."""
    return (
        Revision.objects.select_for_update(of=("self",)).select_related("example__dataset__project", "tools").get(pk=pk)
    )


def revision_evaluate(revision: Revision) -> None:
    """Set how far a locked revision's labelling is, after a label came, changed or went.

    What is resolved stays resolved, and a superseded revision waits for nobody.
    """
    if revision.resolution == Resolution.RESOLVED or revision.example.current_id != revision.pk:
        return
    resolution, settles_at = Resolution.OPEN, None
    if not revision.slots.filter(state__in=[SlotState.OPEN, SlotState.CLAIMED]).exists():
        labels = list(Label.objects.filter(revision=revision).in_force())
        if _all_equivalent(labels):
            resolution = Resolution.AGREED
            settles_at = timezone.now() + timedelta(seconds=revision.example.dataset.project.undo_seconds)
        else:
            resolution = Resolution.DISAGREED
    if (revision.resolution, revision.settles_at) != (resolution, settles_at):
        revision.resolution, revision.settles_at = resolution, settles_at
        revision.save(update_fields=["resolution", "settles_at"])


def revision_settle(*, revision: Revision, actor: User | None = None, now: datetime | None = None) -> Gold | None:
    """Turn an agreement whose time has come into gold; return None where there is none, or another has done it."""
    with transaction.atomic():
        locked = revision_locked(revision.pk)
        if not Revision.objects.due(now or timezone.now()).filter(pk=locked.pk).exists():
            return None
        labels = list(Label.objects.filter(revision=locked).in_force().order_by("slot__number"))
        gold = gold_set(
            locked,
            actor=actor,
            expectation=labels[0].expectation,
            rationale=next((label.rationale for label in labels if label.rationale), ""),
            source=GoldSource.SINGLE if len(labels) == 1 else GoldSource.AGREED,
        )
        audit_record(
            project=locked.example.dataset.project,
            actor=actor,
            verb="revision_settle",
            target=gold,
            detail={"revision": str(locked.pk), "source": gold.source},
        )
    return gold


def settle_due(now: datetime | None = None, *, project: Project | None = None, limit: int = 1000) -> int:
    """Settle the agreements that are due, in one project or everywhere; return how many became gold."""
    now = now or timezone.now()
    due = Revision.objects.due(now)
    if project is not None:
        due = due.in_project(project)
    return sum(
        revision_settle(revision=revision, now=now) is not None
        for revision in due.only("pk").order_by("settles_at")[:limit]
    )


def gold_set(
    revision: Revision,
    *,
    actor: User | None,
    expectation: dict[str, Any],
    rationale: str,
    source: GoldSource,
    adjudication: Adjudication | None = None,
) -> Gold:
    """Add gold to a locked revision and put it in force. Labels that are still missing are wanted no more.

    Open disputes that ask for just this expectation are settled by it. The caller leaves the audit row.
    """
    gold = Gold.objects.create(
        revision=revision,
        expectation=expectation,
        rationale=rationale,
        source=source,
        adjudication=adjudication,
        actor=actor,
    )
    revision.gold, revision.resolution, revision.settles_at = gold, Resolution.RESOLVED, None
    revision.save(update_fields=["gold", "resolution", "settles_at"])
    slots_close(revision)
    granted = [
        dispute.pk
        for dispute in Dispute.objects.filter(revision=revision, settled_at=None).exclude(expectation=None)
        if equivalent(Expectation.from_document(dispute.expectation), Expectation.from_document(expectation))
    ]
    Dispute.objects.filter(pk__in=granted).update(settled_at=timezone.now())
    return gold


def slots_close(revision: Revision) -> None:
    """Take the slots that have no label out of the queue. Who is at work on one may still hand in the label."""
    revision.slots.filter(state__in=[SlotState.OPEN, SlotState.CLAIMED]).update(
        state=SlotState.CLOSED, lease_until=None, priority=None
    )


def _all_equivalent(labels: list[Label]) -> bool:
    expectations = [Expectation.from_document(label.expectation) for label in labels]
    return all(equivalent(left, right) for left, right in combinations(expectations, 2))
