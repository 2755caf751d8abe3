"""Undo a promotion: its examples are deleted, as long as no one has begun to label one of them."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from labeling.errors import InvalidAct
from labeling.models import (
    Comment,
    Draft,
    Example,
    Gold,
    Label,
    LabelSlot,
    Revision,
    Skip,
    SlotState,
    SpareLabel,
    VersionEntry,
)
from labeling.services.waiting import examples_delete
from toolevals.traces.models import Promotion, PromotionState, TraceExample
from toolevals.traces.services.promoting import job_for, locked, payload_of
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs import BatchPlan, Lease
from toolevals.workspace.models import User
from toolevals.workspace.services.audit import audit_record

AT_ONCE = 100
TOO_LATE = "One of these examples is being labelled or was changed: this can no longer be undone."
# What people leave on an example when they work on it.
_WORK = (Label, SpareLabel, Draft, Skip, Comment, Gold, VersionEntry)


@transaction.atomic
def promotion_undo(*, promotion: Promotion, actor: User | None) -> Promotion:
    """Begin to delete the examples of a promotion; `job` shows how far it is. No one is handed one from now on.

    Raises InvalidAct where someone has begun to label, or where there is nothing to undo.
    """
    found = locked(promotion)
    stopped = found.state == PromotionState.MAKING and not (found.job and found.job.is_open)
    if found.state != PromotionState.MADE and not stopped:
        raise InvalidAct(f"This sample is {found.get_state_display()}: it cannot be undone.")
    examples = examples_of(found)
    # The places first: who claims one at this moment either has it before, or finds none.
    places = LabelSlot.objects.filter(revision__example__in=examples)
    places.filter(reviewer=None, state=SlotState.OPEN).update(state=SlotState.CLOSED, priority=None)
    if places.exclude(reviewer=None, state=SlotState.CLOSED).exists() or touched(examples).exists():
        raise InvalidAct(TOO_LATE)
    found.state = PromotionState.UNDOING
    found.save(update_fields=["state"])
    job_for(found, actor, BatchPlan("traces.undo", payload_of(found), size=max(found.made, 1)), "Delete", undoes=True)
    detail = {"dataset": found.dataset.slug, "examples": found.made}
    audit_record(project=found.project, actor=actor, verb="promotion_undo", target=found, detail=detail)
    return found


def promotion_delete(lease: Lease) -> None:
    """Delete the examples, some at a time. One on which someone worked meanwhile stays."""
    promotion = Promotion.objects.get(pk=lease.payload["promotion"])
    examples = examples_of(promotion)
    done = 0
    while some := list(examples.filter(~_has_work()).order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        with lease.transaction():
            examples_delete(some)
        done += len(some)
        lease.progress(done)
        others_write_first()
    with lease.finish():
        TraceExample.objects.filter(promotion=promotion, is_folded=True).delete()
        promotion.state, promotion.plan, promotion.ended_at = PromotionState.UNDONE, {}, database_now()
        promotion.save(update_fields=["state", "plan", "ended_at"])


def examples_of(promotion: Promotion) -> QuerySet[Example]:
    """Return the examples that a promotion has made."""
    return Example.objects.filter(
        pk__in=TraceExample.objects.filter(promotion=promotion, is_folded=False).values("example")
    )


def touched(examples: QuerySet[Example]) -> QuerySet[Example]:
    """Return those on which someone works or has worked, or that someone has changed."""
    held = LabelSlot.objects.filter(revision__example=OuterRef("pk"), reviewer__isnull=False)
    changed = Revision.objects.filter(example=OuterRef("pk"), number__gt=1)
    return examples.filter(_has_work() | Q(Exists(held)) | Q(Exists(changed)))


def _has_work() -> Q:
    """Return the condition on an example that people have left something on it."""
    found = Q()
    for model in _WORK:
        rows: Any = model._base_manager.filter(revision__example=OuterRef("pk"))
        found |= Q(Exists(rows))
    return found
