"""Tell what came of asking a judge again: its verdicts of old next to those of now, and people next to both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from toolevals.grading.judging import Rubric, Scale
from toolevals.grading.judging.drift import Answer, DriftTable, Now, least_value, verdict_now
from toolevals.grading.judging.raters import JUDGE, PeopleSay, people_say
from toolevals.grading.metrics.calibration import JudgeTable
from toolevals.runs.judging.blindness import hidden_examples
from toolevals.runs.models import CalibratedCase, DriftAnswer, DriftCheck


@dataclass(frozen=True, slots=True)
class AgainCase:
    """One case of a check: what the judge said of it before and now, and what people say.

    `reason_now` is that of the answer that decides, or why there is none. `is_hidden` says that people rate the example
    in another calibration now, so that no one is shown what judges say of it.
    """

    case: CalibratedCase
    now: Now
    value: float | None
    reason_before: str
    reason_now: str
    people: PeopleSay
    is_hidden: bool

    @property
    def before(self) -> str:
        """The verdict of old."""
        return "passed" if self.case.passed else "failed"

    @property
    def kind(self) -> str:
        """`changed` or `same` where there is a verdict now, else what there is instead."""
        if self.now not in JUDGE:
            return self.now
        return "same" if self.now == self.before else "changed"


@dataclass(frozen=True, slots=True)
class DriftCounts:
    """A finished check in figures. `then` and `now`: judge next to people on the held-out cases that are compared."""

    changes: DriftTable
    then: JudgeTable
    now: JudgeTable

    @property
    def sentence(self) -> str:
        """Return how many verdicts changed, and what the judge was and is next to people. Its tolerance flags it."""
        changes = self.changes
        if not changes.compared:
            return "No result: no case has both an old and a new verdict."
        whole = f"{changes.compared:,} verdict{'' if changes.compared == 1 else 's'}"
        then, now = self.then.kappa.value, self.now.kappa.value
        beside = "" if then is None or now is None else f"; kappa with people was {then:.2f} and is {now:.2f}"
        changed = f"{changes.changed:,}" if changes.changed else "None"
        return f"{changed} of {whole} changed when the judge was asked again{beside}."

    def to_document(self) -> dict[str, dict[str, int]]:
        """Return the counts as they are kept."""
        return {name: asdict(getattr(self, name)) for name in ("changes", "then", "now")}

    @classmethod
    def from_document(cls, document: Mapping[str, Mapping[str, int]]) -> DriftCounts:
        """Read what `to_document` gives."""
        then, now = JudgeTable(**document["then"]), JudgeTable(**document["now"])
        return cls(DriftTable(**document["changes"]), then, now)


def counts_of(check: DriftCheck) -> DriftCounts | None:
    """Return the figures of a check; None until it is finished."""
    return None if check.counts is None else DriftCounts.from_document(check.counts)


def cases_again(check: DriftCheck) -> list[AgainCase]:
    """Return every case of a check in its order, those too that were not asked again."""
    answers: dict[UUID, list[DriftAnswer]] = {}
    for answer in check.answers.all():
        answers.setdefault(answer.case_id, []).append(answer)
    rubric = Rubric.from_document(check.judge.rubric.document)
    rows = check.calibration.cases.drawn().prefetch_related("ratings")
    rows = rows.select_related("case__transcript__entry__revision__example")
    hidden = hidden_examples(rubric.name)
    return [_again(row, answers.get(row.pk, []), rubric, hidden) for row in rows]


def counted(cases: Sequence[AgainCase]) -> DriftCounts:
    """Return the figures of a check's cases."""
    held = [
        (case.case.passed, case.now == "passed", case.people == "passed")
        for case in cases
        if case.case.is_held_out and case.now in JUDGE and case.people in JUDGE
    ]
    return DriftCounts(
        changes=DriftTable.of_cases((case.case.passed, case.now) for case in cases),
        then=JudgeTable.of_cases((before, people) for before, _, people in held),
        now=JudgeTable.of_cases((now, people) for _, now, people in held),
    )


def _again(row: CalibratedCase, answers: Sequence[DriftAnswer], rubric: Rubric, hidden: set[UUID]) -> AgainCase:
    said = [Answer(answer.value, answer.error) for answer in answers]
    now = verdict_now(said, len(row.questions), rubric.scale)
    judged = row.case.detail.get("judged", {}).get(rubric.name, {})
    return AgainCase(
        case=row,
        now=now,
        value=least_value(said) if now in JUDGE else None,
        reason_before=judged.get("reason", ""),
        reason_now=_reason(answers, now),
        people=_people(row, rubric.scale),
        is_hidden=row.case.transcript.entry.revision_id in hidden,
    )


def _reason(answers: Sequence[DriftAnswer], now: Now) -> str:
    if now == "errored":
        return next(answer.error for answer in answers if answer.error)
    if now == "unasked" or not answers:
        return ""
    return min(answers, key=lambda answer: 2.0 if answer.value is None else answer.value).reason


def _people(row: CalibratedCase, scale: Scale) -> PeopleSay:
    return people_say([rating.value for rating in row.ratings.all()], scale)


COLUMNS = (
    "drift_check_id",
    "case_id",
    "set",
    "graded_case_id",
    "transcript_id",
    "external_id",
    "kind",
    "before",
    "before_value",
    "before_reason",
    "now",
    "now_value",
    "now_reason",
    "people",
)


def drift_rows(check: DriftCheck) -> Iterator[tuple[Any, ...]]:
    """Yield a line for each case of a check, as `COLUMNS`; without what is hidden now."""
    for each in cases_again(check):
        transcript = each.case.case.transcript
        about = (check.pk, each.case.pk, each.case.set_name, each.case.case_id)
        example = (transcript.pk, transcript.entry.revision.example.external_id)
        if each.is_hidden:
            yield (*about, *example, "hidden", *([None] * 7))
            continue
        before = (each.before, each.case.value, each.reason_before)
        yield (*about, *example, each.kind, *before, each.now, each.value, each.reason_now, each.people)
