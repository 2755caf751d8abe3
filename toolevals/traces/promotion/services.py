"""Makes examples of traces: asks for a sample, has it made, and undoes it as long as no one has begun to label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from labeling.batches.services import Choice, batch_create
from labeling.datasets.staging_datasets import examples_delete
from labeling.errors import InvalidAct
from labeling.models import (
    Comment,
    Dataset,
    Draft,
    Example,
    Gold,
    Label,
    LabelBatch,
    LabelSlot,
    Revision,
    Skip,
    SlotState,
    SpareLabel,
    VersionEntry,
)
from toolevals.json_types import JsonObject
from toolevals.traces.models import Promotion, PromotionSchedule, PromotionState, TraceExample, Turns
from toolevals.workspace.addresses import address
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, User

KIND = "promotion"
UNDOING = "promotion_undo"
MOST = 1_000


@dataclass(frozen=True, slots=True)
class PromotionRequest:
    """Says which traces become examples of which dataset: `traces` by hand, or `count` drawn from a filter by a seed.

    With `shows_first`, the sample waits until someone has seen its texts. Turns of traces that came cut are made
    examples only where `takes_cut` says so.
    """

    dataset: Dataset
    wanted: Mapping[str, str]
    count: int
    seed: int
    traces: tuple[UUID, ...] = ()
    turns: str = Turns.EVERY
    strata: Sequence[str] = field(default=("calls",))
    shows_first: bool = False
    takes_cut: bool = False


@transaction.atomic
def promotion_start(
    *, request: PromotionRequest, actor: User | None, schedule: PromotionSchedule | None = None
) -> Promotion:
    """Begin to make examples of traces; `job` of what is returned shows how far it is."""
    promotion = Promotion.objects.create(
        project=request.dataset.project,
        dataset=request.dataset,
        schedule=schedule,
        actor=actor,
        wanted=dict(request.wanted),
        strata=list(request.strata),
        count=len(request.traces) or min(request.count, MOST),
        seed=request.seed,
        turns=request.turns,
        chosen=[str(pk) for pk in request.traces],
        shows_first=request.shows_first,
    )
    verb = "Draw" if request.shows_first else "Make"
    payload = payload_of(promotion) | {"takes_cut": request.takes_cut}
    job_for(promotion, actor, BatchPlan("traces.draw", payload), verb)
    _audit(promotion, actor, "promotion_start", takes_cut=request.takes_cut)
    return promotion


@transaction.atomic
def promotion_make(*, promotion: Promotion, actor: User | None, takes_cut: bool = False) -> Promotion:
    """Make the examples of a sample that waited for someone to see it. Raises InvalidAct.

    Examples of traces that came cut are made only where `takes_cut` says so, which is recorded.
    """
    found = locked(promotion)
    if found.state != PromotionState.DRAWN:
        raise InvalidAct(f"This sample is {found.get_state_display()}: it cannot be made now.")
    if (cut := cut_turns(found)) and not takes_cut:
        raise InvalidAct(
            f"Of these turns, {cut:,} are of traces that came cut: their examples may lack what the agent was given."
            " Look at them, and confirm that they are made too (takes_cut)."
        )
    found.state = PromotionState.MAKING
    found.save(update_fields=["state"])
    job_for(found, actor, making_plan(found, stage=0), "Make")
    _audit(found, actor, "promotion_make", takes_cut=takes_cut, cut_turns=cut)
    return found


@transaction.atomic
def promotion_drop(*, promotion: Promotion, actor: User | None) -> Promotion:
    """Drop a sample that nothing was made of. Raises InvalidAct."""
    found = locked(promotion)
    if found.state != PromotionState.DRAWN:
        raise InvalidAct(f"This sample is {found.get_state_display()}: it cannot be dropped.")
    found.state, found.plan, found.ended_at = PromotionState.UNDONE, {}, database_now()
    found.save(update_fields=["state", "plan", "ended_at"])
    _audit(found, actor, "promotion_drop")
    return found


def promotion_label(*, promotion: Promotion, actor: User | None) -> LabelBatch:
    """Return the batch of a sample's examples that want labels, made the first time. Raises InvalidAct."""
    name = f"Examples of traces, {promotion.created_at:%Y-%m-%d}, {str(promotion.pk)[-6:]}"
    known = LabelBatch.objects.filter(dataset=promotion.dataset_id, name=name).first()
    if known is not None:
        return known
    made = TraceExample.objects.filter(promotion=promotion, is_folded=False)
    names = list(made.values_list("example__external_id", flat=True))
    if not names:
        raise InvalidAct("No example was created from this sample: nothing to label.")
    return batch_create(dataset=promotion.dataset, actor=actor, name=name, choice=Choice(names=names))


def cut_turns(promotion: Promotion) -> int:
    """Count the turns of a sample that is drawn, whose traces came cut."""
    return sum(1 for each in promotion.plan.get("new", ()) if each.get("cut"))


def locked(promotion: Promotion) -> Promotion:
    """Return the row, held until the end of the transaction."""
    return Promotion.objects.select_for_update(no_key=True).get(pk=promotion.pk)


def payload_of(promotion: Promotion) -> JsonObject:
    """Return what tells a batch of a job which promotion it works on."""
    return {"promotion": str(promotion.pk)}


def making_plan(promotion: Promotion, *, stage: int) -> BatchPlan:
    """Return the batch that makes the examples of a sample."""
    size = len(promotion.plan.get("new", ())) + len(promotion.plan.get("known", ()))
    return BatchPlan("traces.promote", payload_of(promotion), size=max(size, 1), stage=stage)


def job_for(promotion: Promotion, actor: User | None, plan: BatchPlan, verb: str, *, undoes: bool = False) -> Job:
    """Make the job that works on a promotion from now on."""
    project = promotion.project
    promotion.job = job_create(
        project=project,
        actor=actor,
        kind=UNDOING if undoes else KIND,
        title=f"{verb} examples of traces in {promotion.dataset.name}",
        batches=[plan],
        result_path=address("traces:promotion", project.slug, promotion.pk),
    )
    promotion.save(update_fields=["job"])
    return promotion.job


def _audit(promotion: Promotion, actor: User | None, verb: str, **more: object) -> None:
    detail = {
        "dataset": promotion.dataset.slug,
        "seed": promotion.seed,
        "count": promotion.count,
        "turns": promotion.turns,
        "strata": promotion.strata,
        "filter": promotion.wanted,
        **more,
    }
    audit_record(project=promotion.project, actor=actor, verb=verb, target=promotion, detail=detail)


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
