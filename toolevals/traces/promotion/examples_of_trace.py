"""Tell what became of a trace: its examples, what people said once that is known, and what later runs did on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F

from labeling.blindness import RESOLVED, may_see_resolution
from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.models import Label, LabelAnswer, Resolution, Revision, VersionEntry
from toolevals.runs.models import CaseGrade
from toolevals.traces.models import Trace, TraceExample
from toolevals.workspace.models import Role, User

# Of each example, the newest.
MOST_RUNS = 20


@dataclass(frozen=True, slots=True)
class SaidLabel:
    """Holds what one reviewer said: an expectation in words, or why there is none."""

    words: ExpectationWords | None
    answer: str
    rationale: str


@dataclass(frozen=True, slots=True)
class LaterCase:
    """Holds what a run did on an example: a case to open."""

    run: int
    agent: str
    case: UUID
    outcome: str
    mode: str


@dataclass(frozen=True, slots=True)
class ExampleOfTrace:
    """An example that a turn asks. Gold, labels and the status beyond "to label" are known once it is resolved."""

    turn: int
    example: UUID
    external_id: str
    dataset: str
    dataset_name: str
    is_folded: bool
    status: str
    gold: ExpectationWords | None
    gold_document: dict[str, object] | None
    rationale: str
    set_aside: str
    labels: Sequence[SaidLabel]
    cases: Sequence[LaterCase]


def examples_of_trace(trace: Trace, user: User, role: Role) -> list[ExampleOfTrace]:
    """Return the examples of a trace that is open to this person."""
    rows = TraceExample.objects.shown().filter(trace=trace).exclude(example__current=None).order_by("turn", "pk")
    found = rows.select_related("example__dataset__project", "example__current__gold")
    return [_example(row, user, role) for row in found]


def _example(row: TraceExample, user: User, role: Role) -> ExampleOfTrace:
    example = row.example
    revision: Revision = example.current  # type: ignore[assignment]
    revision.example = example
    resolution = may_see_resolution(revision, user, role)
    is_resolved = resolution in RESOLVED
    gold = revision.gold if is_resolved else None
    return ExampleOfTrace(
        turn=row.turn,
        example=example.pk,
        external_id=example.external_id,
        dataset=example.dataset.slug,
        dataset_name=example.dataset.name,
        is_folded=row.is_folded,
        status=str(Resolution(resolution).label),
        gold=expectation_words(gold.expectation) if gold else None,
        gold_document=gold.expectation if gold else None,
        rationale=gold.rationale if gold else "",
        set_aside=str(LabelAnswer(revision.set_aside_as).label) if is_resolved and revision.set_aside_as else "",
        labels=_labels(revision, user, role) if is_resolved else (),
        cases=_cases(example.pk),
    )


def _labels(revision: Revision, user: User, role: Role) -> list[SaidLabel]:
    labels = Label.objects.filter(revision=revision).visible_to(user, role).in_force().order_by("pk")
    return [
        SaidLabel(
            expectation_words(each.expectation) if each.expectation is not None else None,
            str(LabelAnswer(each.answer).label),
            each.rationale,
        )
        for each in labels
    ]


def _cases(example: UUID) -> list[LaterCase]:
    # Two steps, so that no database begins with every transcript of the project.
    entries = list(VersionEntry.objects.filter(revision__example=example).order_by().values_list("pk", flat=True))
    shown = CaseGrade.objects.filter(
        transcript__entry__in=entries,
        grading=F("transcript__run__grading"),
        transcript__run__baseline_agent="",
        transcript__run__deleted_at=None,
    )
    rows = shown.order_by("-transcript__run__number", "transcript__trial").values_list(
        "transcript__run__number", "transcript__run__agent__name", "pk", "outcome", "mode"
    )
    return [LaterCase(*row) for row in rows[:MOST_RUNS]]
