"""Tell what came of trying a rubric: question, answer, value and cost of each case side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from labeling.conversation import Picks
from labeling.conversation.lines import Line, lines
from toolevals.grading.judging import Rubric
from toolevals.grading.judging.drift import Answer, Now, least_value, verdict_now
from toolevals.grading.values.canonical import exact
from toolevals.runs.judging.blindness import hidden_examples
from toolevals.runs.judging.shown_questions import Given, shown_question
from toolevals.runs.models import Tryout, TryoutAnswer, TryoutCase


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it was put, and its answer; None where there is none."""

    given: tuple[Given, ...]
    answer: TryoutAnswer | None
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class TriedCase:
    """One case that a rubric was tried on: what its answers come to, as a judgement does."""

    case: TryoutCase
    questions: tuple[Asked, ...]
    now: Now
    value: float | None


@dataclass(frozen=True, slots=True)
class Tried:
    """A try's cases; `hidden` are not among them, since people rate them now. `cost` is None without prices."""

    cases: tuple[TriedCase, ...]
    hidden: int
    cost: float | None

    @property
    def by_verdict(self) -> dict[str, int]:
        """Return how many cases came to what; what there is none of is left out."""
        counts: dict[str, int] = {}
        for each in self.cases:
            counts[each.now] = counts.get(each.now, 0) + 1
        return counts


def tried(tryout: Tryout) -> Tried:
    """Return what came of a try so far."""
    rubric = Rubric.from_document(tryout.document)
    rows = tryout.cases.select_related("case__transcript__entry__revision__example").prefetch_related("answers")
    hidden = hidden_examples(rubric.name)
    shown = [row for row in rows if row.case.transcript.entry.revision_id not in hidden]
    costs = [answer.cost for row in rows for answer in row.answers.all() if answer.cost is not None]
    return Tried(tuple(_case(row, rubric) for row in shown), len(rows) - len(shown), sum(costs) if costs else None)


def _case(row: TryoutCase, rubric: Rubric) -> TriedCase:
    answers = {answer.place: answer for answer in row.answers.all()}
    said = [Answer(answer.value, answer.error) for answer in answers.values()]
    asked = tuple(
        Asked(shown_question(inputs), answer := answers.get(place), _lines(answer))
        for place, inputs in enumerate(row.questions)
    )
    return TriedCase(row, asked, verdict_now(said, len(row.questions), rubric.scale), least_value(said))


def _lines(answer: TryoutAnswer | None) -> tuple[Line, ...]:
    return lines(answer.answer, Picks()) if answer and answer.answer else ()


COLUMNS = (
    "tryout_id",
    "case_id",
    "graded_case_id",
    "transcript_id",
    "external_id",
    "question",
    "verdict",
    "value",
    "reason",
    "error",
    "answer",
    "answered_by",
    "input_tokens",
    "output_tokens",
    "cost",
)


def tryout_rows(tryout: Tryout) -> Iterator[tuple[Any, ...]]:
    """Yield a line for each question of a try, as `COLUMNS`; `verdict` is the case's."""
    for each in tried(tryout).cases:
        transcript = each.case.case.transcript
        example = transcript.entry.revision.example.external_id
        about = (tryout.pk, each.case.pk, each.case.case_id, transcript.pk, example)
        for place, question in enumerate(each.questions, start=1):
            said = question.answer
            if said is None:
                yield (*about, place, each.now, *([None] * 8))
                continue
            answer = exact(said.answer) if said.answer else None
            counted = (said.answered_by, said.input_tokens, said.output_tokens, said.cost)
            yield (*about, place, each.now, said.value, said.reason, said.error, answer, *counted)
