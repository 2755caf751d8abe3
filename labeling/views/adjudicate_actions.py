"""Say what the adjudication page shows: what was said, two of it side by side, what is chosen, and what comes of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from labeling.expectations.comparison import Comparison, Part, compare_answers
from labeling.expectations.merging import BOTH, LEFT, RIGHT, merged
from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.label_form.calls import FieldProblem
from labeling.label_form.form_from_expectation import empty_form, form_of
from labeling.label_form.reading import Entered, read_form, read_json
from labeling.models import LabelAnswer
from labeling.views.columns import Sides
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.problems import InvalidDocument

EXPECTATION = LabelAnswer.EXPECTATION.value


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision so far: an answer and its expectation, and what is wrong with it or still open."""

    answer: str
    expectation: dict[str, Any] | None
    problems: tuple[FieldProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenPart:
    """A part that differs, and the side chosen: "left", "right", "both" or ""."""

    part: Part
    chosen: str
    number: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The gold so far; `aside` says why there will be none."""

    mode: str
    parts: tuple[ChosenPart, ...]
    words: ExpectationWords | None
    problems: tuple[str, ...]
    json: str = ""
    aside: str = ""

    @property
    def open(self) -> int:
        return sum(not part.chosen for part in self.parts) if self.mode == "sides" else 0

    @property
    def decided(self) -> int:
        return len(self.parts) - self.open

    @property
    def aside_words(self) -> str:
        return str(LabelAnswer(self.aside).label) if self.aside else ""


def comparison_of(sides: Sides) -> Comparison:
    """Return what the two columns shown differ in; nothing where there is but one."""
    if sides.left is None or sides.right is None:
        return Comparison((), ())
    return compare_answers(sides.left, sides.right)


def outcome(data: QueryDict, sides: Sides, tools: Sequence[ToolSpec], *, to: str = "") -> Outcome:
    """Return the gold so far for what is chosen or edited; `to` turns to "json", "aside" or back to "sides"."""
    parts = _parts(data, sides)
    mode = to or data.get("mode", "")
    if mode == "aside":
        return Outcome("aside", parts, None, (), aside=_aside(data))
    if mode == "json" and data.get("mode") == "json":
        entered = read_json(data.get("json", ""))
        return _told("json", parts, entered.document, tools, text=data.get("json", ""), found=entered.problems)
    so_far = _chosen(parts, sides)
    if so_far.expectation is None:
        # Taken from a side that says there is no gold: nothing to write down as JSON but a beginning.
        return Outcome("json", parts, None, (), "{}") if mode == "json" else _none(parts, so_far)
    text = _pretty(so_far.expectation) if mode == "json" else ""
    return _told("json" if mode == "json" else "sides", parts, so_far.expectation, tools, text=text)


def decided(data: QueryDict, sides: Sides, tools: Sequence[ToolSpec]) -> Decision:
    """Return what was decided: chosen from the sides, edited as JSON, entered in the form, or set aside."""
    mode = data.get("mode", "")
    if mode == "aside":
        return Decision(_aside(data), None)
    if mode == "sides" and sides.left is not None:
        parts = _parts(data, sides)
        if missing := sum(not part.chosen for part in parts):
            words = "difference is" if missing == 1 else "differences are"
            return Decision(EXPECTATION, None, (FieldProblem("", f"{missing} {words} still open."),))
        return _chosen(parts, sides)
    entered: Entered = read_json(data.get("json", "")) if mode == "json" else read_form(data, tools)
    return Decision(EXPECTATION, entered.document, tuple(entered.problems))


def entered_afresh(data: QueryDict, sides: Sides, tools: Sequence[ToolSpec]) -> QueryDict:
    """Return what the form of a decision begins with: what was entered in it, else the gold so far."""
    if data.get("mode") not in ("sides", "aside") and data:
        return data
    if not any(name.startswith("choice:") for name in data):
        return empty_form()
    so_far = decided(data, sides, tools).expectation
    return form_of(so_far, tools) if so_far is not None else empty_form()


def _aside(data: QueryDict) -> str:
    said = data.get("aside", "")
    return said if said in LabelAnswer.values and said != EXPECTATION else LabelAnswer.AMBIGUOUS.value


def _parts(data: QueryDict, sides: Sides) -> tuple[ChosenPart, ...]:
    found = []
    is_same = data.get("of", sides.token) == sides.token
    for number, part in enumerate(comparison_of(sides).differing):
        chosen = data.get(f"choice:{part.path}", "") if is_same else ""
        known = chosen in (LEFT, RIGHT) or (chosen == BOTH and part.may_be_both)
        found.append(ChosenPart(part, chosen if known else "", number))
    return tuple(found)


def _chosen(parts: Sequence[ChosenPart], sides: Sides) -> Decision:
    """Return the sides put together; where nothing is chosen yet, the left one stands in."""
    left, right = sides.left, sides.right
    if left is None:
        return Decision(EXPECTATION, None)
    if right is None or not parts:
        return Decision(left.answer, left.expectation)
    chosen = {one.part.path: one.chosen for one in parts if one.chosen}
    if left.expectation is None or right.expectation is None:
        taken = right if chosen.get("") == RIGHT else left
        return Decision(taken.answer, taken.expectation)
    return Decision(EXPECTATION, merged(left.expectation, right.expectation, chosen))


def _none(parts: tuple[ChosenPart, ...], so_far: Decision) -> Outcome:
    return Outcome("sides", parts, None, (), aside=so_far.answer if so_far.answer != EXPECTATION else "")


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
