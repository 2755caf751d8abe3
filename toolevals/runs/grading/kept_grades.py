"""Keep grades of the grading before, where only what was errored is graded again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Q

from toolevals.grading.values.verdicts import CaseGrade, FailureTag
from toolevals.json_types import JsonMapping
from toolevals.runs import models
from toolevals.workspace.expressions import known_with

# What could not be graded though its agent had answered: its simulator was away, or a grader crashed.
UNGRADED = Q(execution="errored") & ~Q(tag=FailureTag.ADAPTER_ERROR) | Q(
    outcome="errored", tag=FailureTag.HARNESS_ERROR
)


def may_be_kept(grading: models.Grading, before: models.Grading) -> bool:
    """Return whether grades of `before` are what `grading` would find: by the same graders, judges and gold."""
    names = "dataset_version_id", "graders", "judges", "simulator_id", "policy_id"
    return all(getattr(grading, name) == getattr(before, name) for name in names)


@dataclass(frozen=True, slots=True)
class KeptGrade:
    """A grade that is taken as it is, with its values (`toolevals.runs.aggregates.packed_cases`)."""

    grade: CaseGrade
    measured: str


def kept_grades(grading: models.Grading, payload: JsonMapping) -> dict[UUID, KeptGrade]:
    """Return what a batch keeps of the grading that its payload names, by transcript; nothing where it names none.

    Everything is kept where it asks a judge about what is unscored (`ask`, its rubric), but for what that judge said.
    """
    if "keep" not in payload:
        return {}
    run = grading.run
    transcripts = models.Transcript.objects.between(
        run.pk, run.dataset_version_id, payload["start"], payload["stop"]
    ).order_by()
    before = known_with("transcript__trial", UUID(payload["keep"]))
    rows = models.CaseGrade.objects.filter(grading=before, transcript__in=transcripts.values("pk"))
    if (ask := payload.get("ask")) is None:
        rows = rows.exclude(UNGRADED)
    return {
        row.transcript_id: KeptGrade(_without(CaseGrade.from_document(row.detail), ask), row.measured) for row in rows
    }


def _without(grade: CaseGrade, rubric: str | None) -> CaseGrade:
    judged = {name: verdict for name, verdict in grade.judged.items() if name != rubric}
    return grade if rubric is None else replace(grade, judged=judged)
