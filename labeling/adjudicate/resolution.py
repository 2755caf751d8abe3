"""Turn labels into gold: the sweeper compares them once all wanted ones are in and none can be changed any more.

A person who hands in a label does the same work whatever others have said: the moment is written down from which the
labels may be compared, and nothing else. What people said first decides alone what becomes gold by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from labeling.blindness import RESOLVED
from labeling.expectations.meaning import groups
from labeling.feedback.services import feedback_give
from labeling.label.queries import count_skipped, locked_revision, states_of
from labeling.models import (
    Adjudication,
    Dispute,
    Gold,
    GoldSource,
    Label,
    LabelAnswer,
    Resolution,
    Revision,
    SlotState,
)
from toolevals.grading.matching.equivalence import equivalent
from toolevals.grading.values import Expectation
from toolevals.json_types import JsonObject
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User

# So many people pass an example on before an adjudicator decides it.
SKIPS_TO_RETIRE = 2


def revision_locked(pk: Any) -> Revision:
    """Return the revision, locked to the end of the transaction: its labels are compared by one person at a time."""
    return locked_revision(pk)


def revision_wait(revision: Revision) -> None:
    """Have a locked revision looked at once a label that comes in now can no longer be changed.

    This asks nothing about other labels: an answer that took longer where one is in would tell of it.
    """
    revision.settles_at = _end_of_window(revision, database_now())
    Revision.objects.filter(pk=revision.pk).update(settles_at=revision.settles_at)


def revision_evaluate(revision: Revision) -> None:
    """Set how far a locked revision's labelling is, after a skip came, or a label, a skip or a slot went.

    What is resolved stays resolved, and a superseded revision waits for no one. Two people's skips retire what lacks
    labels to the adjudicators; when one of them is undone, its slots are open again. Labels are not compared here.
    """
    if revision.resolution in RESOLVED or revision.example.current_id != revision.pk:
        return
    resolution, settles_at = _state(revision), revision.settles_at
    if resolution == Resolution.OPEN and not _lacks_labels(revision):
        newest = max((label.created_at for label in _in_force(revision)), default=None)
        settles_at = _end_of_window(revision, newest) if newest else None
    if resolution == Resolution.PASSED_ON:
        slots_close(revision)
    elif resolution == Resolution.OPEN and revision.resolution == Resolution.PASSED_ON:
        _slots_open(revision)
    if (revision.resolution, revision.settles_at) != (resolution, settles_at):
        revision.resolution, revision.settles_at = resolution, settles_at
        revision.save(update_fields=["resolution", "settles_at"])


def _state(revision: Revision) -> Resolution:
    """Return how far a revision is that is not resolved; labels that all are in have been compared, or wait for it."""
    if _lacks_labels(revision):
        return Resolution.PASSED_ON if count_skipped(revision) >= SKIPS_TO_RETIRE else Resolution.OPEN
    return Resolution.DISAGREED if revision.resolution == Resolution.DISAGREED else Resolution.OPEN


def _lacks_labels(revision: Revision) -> bool:
    states = {state for number, state in states_of(revision) if number == revision.round}
    return not states.isdisjoint({SlotState.OPEN, SlotState.CLAIMED}) or (
        revision.resolution == Resolution.PASSED_ON and SlotState.CLOSED in states
    )


def _in_force(revision: Revision) -> list[Label]:
    return list(Label.objects.filter(revision=revision).in_force().order_by("slot__number"))


def _end_of_window(revision: Revision, submitted: datetime) -> datetime:
    """Return until when a label that was handed in at a moment can be changed or taken back."""
    return submitted + timedelta(seconds=revision.example.dataset.project.undo_seconds)


def _agree(revision: Revision, labels: Sequence[Label]) -> bool:
    """Tell whether labels in force mean the same, and each what its author said first.

    Who changes a label might do so to find out what the other says; that never makes gold. A label that stands alone
    has no other to find out about.
    """
    if len(labels) == 1:
        return True
    rows = Label.objects.filter(revision=revision).first_of_round()
    firsts = {(label.reviewer_id, label.external_author): label for label in rows}
    said_first = [firsts.get((label.reviewer_id, label.external_author), label) for label in labels]
    return len(groups([*labels, *said_first])) == 1


def revision_settle(*, revision: Revision, actor: User | None = None, now: datetime | None = None) -> bool:
    """Compare labels that can no longer be changed: they become gold where they agree, else an adjudicator decides.

    Where people agree that no one can say what is right, the example is set aside. Return whether the revision is
    resolved by it: False where labels are missing or differ, one was changed, nothing is due, or another has done it.
    """
    with transaction.atomic():
        locked = revision_locked(revision.pk)
        if not Revision.objects.due(now or database_now()).filter(pk=locked.pk).exists():
            return False
        labels = _to_compare(locked)
        if not labels or not _agree(locked, labels):
            locked.resolution = Resolution.DISAGREED if labels else locked.resolution
            locked.settles_at = None
            locked.save(update_fields=["resolution", "settles_at"])
            return False
        source = _source(labels)
        target: Gold | Revision = locked
        if labels[0].expectation is None:
            revision_set_aside(locked, LabelAnswer(labels[0].answer))
        else:
            target = gold_set(
                locked,
                actor=actor,
                expectation=labels[0].expectation,
                rationale=next((label.rationale for label in labels if label.rationale), ""),
                source=source,
            )
        if locked.round > 1:
            # Those who said otherwise in an earlier round learn of it.
            feedback_give(locked)
        audit_record(
            project=locked.example.dataset.project,
            actor=actor,
            verb="revision_settle",
            target=target,
            detail={"revision": str(locked.pk), "source": source, "resolution": locked.resolution},
        )
    return True


def _source(labels: Sequence[Label]) -> GoldSource:
    """Return the source of the gold that these labels make: only those that were given here are known to be blind."""
    if any(label.external_author for label in labels):
        return GoldSource.ELSEWHERE
    return GoldSource.SINGLE if len(labels) == 1 else GoldSource.AGREED


def _to_compare(revision: Revision) -> list[Label]:
    """Return the labels of a revision that all are in and wait to be compared; nothing where it is not so far."""
    if revision.resolution in RESOLVED or revision.example.current_id != revision.pk or _lacks_labels(revision):
        return []
    return _in_force(revision)


def settle_due(now: datetime | None = None, *, project: Project | None = None, limit: int = 1000) -> int:
    """Compare the labels that are due, in one project or everywhere; return how many examples that resolved."""
    now = now or database_now()
    due = Revision.objects.due(now)
    if project is not None:
        due = due.in_project(project)
    return sum(
        revision_settle(revision=revision, now=now) for revision in due.only("pk").order_by("settles_at")[:limit]
    )


def gold_set(
    revision: Revision,
    *,
    actor: User | None,
    expectation: JsonObject,
    rationale: str,
    source: GoldSource,
    adjudication: Adjudication | None = None,
    after_agents: Iterable[str] = (),
) -> Gold:
    """Add gold to a locked revision and put it in force. Labels that are still missing are wanted no more.

    Open disputes that ask for just this expectation are settled by it. `after_agents` names those whose proposals it
    rests on. The caller leaves the audit row.
    """
    gold = Gold.objects.create(
        revision=revision,
        expectation=expectation,
        rationale=rationale,
        source=source,
        after_agents="\n".join(sorted(set(after_agents))),
        adjudication=adjudication,
        actor=actor,
    )
    _resolve(revision, Resolution.RESOLVED, gold=gold)
    granted = [
        dispute.pk
        for dispute in Dispute.objects.filter(revision=revision, settled_at=None).exclude(expectation=None)
        if equivalent(Expectation.from_document(dispute.expectation), Expectation.from_document(expectation))
    ]
    Dispute.objects.filter(pk__in=granted).update(settled_at=database_now())
    return gold


def revision_set_aside(revision: Revision, answer: LabelAnswer) -> None:
    """Give a locked revision no gold, on purpose, and say why. The caller leaves the audit row."""
    _resolve(revision, Resolution.SET_ASIDE, set_aside_as=answer)


def _resolve(revision: Revision, resolution: Resolution, *, gold: Gold | None = None, set_aside_as: str = "") -> None:
    revision.resolution, revision.gold, revision.set_aside_as = resolution, gold, set_aside_as
    revision.settles_at = None
    revision.save(update_fields=["resolution", "gold", "set_aside_as", "settles_at"])
    slots_close(revision)


def slots_close(revision: Revision) -> None:
    """Take the slots that have no label out of the queue. Who is at work on one may still hand in the label."""
    revision.slots.filter(state__in=[SlotState.OPEN, SlotState.CLAIMED]).update(
        state=SlotState.CLOSED, lease_until=None, priority=None
    )


def _slots_open(revision: Revision) -> None:
    """Put the current round's closed slots back into the queue."""
    revision.slots.filter(round=revision.round, state=SlotState.CLOSED).update(
        state=SlotState.OPEN, reviewer=None, claimed_at=None, lease_until=None, priority=revision.priority
    )
