"""What the adjudication page shows: the two sides, what is chosen of them, and the gold that comes of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from labeling.blindness import Side, sides_of
from labeling.comparison import LEFT, RIGHT, Comparison, Part, compare, merged
from labeling.forms.reading import Entered, FieldProblem, read_form, read_json
from labeling.models import Dispute, Revision
from labeling.wording import ExpectationWords, expectation_words
from toolevals.grading.conformance import expectation_problems
from toolevals.grading.equivalence import equivalent
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.workspace.requests import ProjectRequest


@dataclass(frozen=True, slots=True)
class Sides:
    """What is to be compared: two sides, and what else was said."""

    left: Side
    right: Side
    others: tuple[Side, ...]
    # Set where the gold in force (left) is disputed; the right may then say nothing but why.
    dispute: Dispute | None = None

    @property
    def comparison(self) -> Comparison:
        return compare(self.left.expectation, self.right.expectation)


@dataclass(frozen=True, slots=True)
class ChosenPart:
    """A part that differs, and the side chosen: "left", "right" or ""."""

    part: Part
    chosen: str
    number: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The gold so far."""

    mode: str
    parts: tuple[ChosenPart, ...]
    words: ExpectationWords | None
    problems: tuple[str, ...]
    json: str = ""

    @property
    def open(self) -> int:
        return sum(not part.chosen for part in self.parts) if self.mode == "sides" else 0

    @property
    def decided(self) -> int:
        return len(self.parts) - self.open


def sides_for(request: ProjectRequest, revision: Revision) -> Sides | None:
    """Return the two sides of what is to be decided; None where this person sees no difference."""
    dispute = Dispute.objects.filter(revision=revision).open().order_by("id").first()
    if revision.gold is not None and dispute is not None:
        gold = Side(revision.gold.expectation, revision.gold.rationale, flagged=False)
        wanted = Side(dispute.expectation or revision.gold.expectation, dispute.reason, flagged=False)
        return Sides(gold, wanted, (), dispute)
    sides = _distinct(sides_of(revision, request.user, request.role))
    return Sides(sides[0], sides[1], tuple(sides[2:])) if len(sides) > 1 else None


def outcome(data: QueryDict, sides: Sides, tools: Sequence[ToolSpec], *, to: str = "") -> Outcome:
    """Return the gold so far for what is chosen or edited; `to` turns to "json" and back to "sides"."""
    differing = sides.comparison.differing
    chosen = {part.path: side for part in differing if (side := data.get(f"choice:{part.path}", "")) in (LEFT, RIGHT)}
    parts = tuple(ChosenPart(part, chosen.get(part.path, ""), place) for place, part in enumerate(differing))
    if data.get("mode") == "json" and to != "sides":
        entered = read_json(data.get("json", ""))
        return _told("json", parts, entered.document, tools, text=data.get("json", ""), found=entered.problems)
    document = merged(sides.left.expectation, sides.right.expectation, chosen)
    text = _pretty(document) if to == "json" else ""
    return _told("json" if to == "json" else "sides", parts, document, tools, text=text)


def decided(data: QueryDict, sides: Sides, tools: Sequence[ToolSpec]) -> Entered:
    """Return the expectation that was decided on: chosen from the sides, edited as JSON, or entered afresh."""
    mode = data.get("mode", "")
    if mode == "json":
        return read_json(data.get("json", ""))
    if mode != "sides":
        return read_form(data, tools)
    result = outcome(data, sides, tools)
    if result.open:
        words = "difference is" if result.open == 1 else "differences are"
        return Entered(None, (FieldProblem("", f"{result.open} {words} still open."),))
    chosen = {part.part.path: part.chosen for part in result.parts}
    return Entered(merged(sides.left.expectation, sides.right.expectation, chosen), ())


def _pretty(document: dict[str, Any]) -> str:
    """Return an expectation as JSON, in the order of its normal form where it has one."""
    with suppress(InvalidDocument):
        document = Expectation.from_document(document).to_document()
    return json.dumps(document, ensure_ascii=False, indent=2)


def _told(
    mode: str,
    parts: tuple[ChosenPart, ...],
    document: dict[str, Any] | None,
    tools: Sequence[ToolSpec],
    *,
    text: str,
    found: Sequence[FieldProblem] = (),
) -> Outcome:
    problems = [problem.message for problem in found]
    words = None
    if document is not None:
        try:
            expectation = Expectation.from_document(document)
        except InvalidDocument as error:
            problems += [str(problem) for problem in error.problems]
        else:
            words = expectation_words(expectation.to_document())
            problems += [str(problem) for problem in expectation_problems(expectation, tools)]
    return Outcome(mode, parts, words, tuple(problems), text)


def _distinct(sides: Sequence[Side]) -> list[Side]:
    """Return one side of each meaning, in the given order."""
    kept: list[Side] = []
    for side in sides:
        here = Expectation.from_document(side.expectation)
        if not any(equivalent(here, Expectation.from_document(other.expectation)) for other in kept):
            kept.append(side)
    return kept
