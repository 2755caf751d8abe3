"""Lint gold: against the offered tools, against the newest tools, against an agent that does nothing."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from labeling.coverage.expected import calls_of
from labeling.lint.findings import NamedExample, Report
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.matching.equivalence import expectation_form
from toolevals.grading.values import Expectation, ToolSpec, Transcript
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

# A tool must be called so often before an argument that is never filled says anything.
FEWEST_CALLS = 10
# What an agent does that does nothing.
IDLE = Transcript()


class GoldLint:
    """The lint of gold, one example at a time."""

    def __init__(self, report: Report, newest: Sequence[ToolSpec], version: str) -> None:
        self._report = report
        self._newest, self._version = newest, version
        self._calls: Counter[str] = Counter()
        self._filled: Counter[tuple[str, str]] = Counter()
        self._optional: dict[tuple[str, str], None] = {}

    def add(
        self, example: NamedExample, document: JsonMapping, tools: Mapping[str, ToolSpec], *, is_of_registry: bool
    ) -> str | None:
        """Take in one example with gold; return a text that is the same for gold that means the same.

        `is_of_registry`: the example offers a version of the registry that has a newest one.
        """
        self._report.gold += 1
        self._report.no_call += document.get("kind") == "no_call"
        offered = list(tools.values())
        try:
            expectation = Expectation.from_document(document)
        except InvalidDocument as error:
            self._say("breaks_schema", example, error.problems, "")
            return None
        whole, partial = _by_weight(expectation_problems(expectation, offered), document)
        self._say("breaks_schema", example, whole, "")
        self._say("breaks_schema_in_part", example, partial, "")
        if is_of_registry:
            after = f" ({self._version})"
            whole, _ = _by_weight(expectation_problems(expectation, self._newest), document)
            self._say("not_admitted", example, whole, after)
        self._idle(example, expectation, offered)
        self._count_arguments(document, tools)
        return digest(expectation_form(expectation))

    def finish(self) -> None:
        """Add what only all of the gold together shows."""
        for tool, name in self._optional:
            if self._calls[tool] >= FEWEST_CALLS and not self._filled[tool, name]:
                sentence = (
                    f"{tool} is called by {self._calls[tool]:,} gold labels, and none sets the optional "
                    f"argument {name}."
                )
                self._report.add("never_filled", sentence, about=[tool, name], tools=[tool])

    def _say(self, rule: str, example: NamedExample, problems: Sequence[Problem], after: str) -> None:
        if problems:
            sentence = f"{problems_sentence(example['external_id'], problems)}{after}."
            self._report.add(rule, sentence, about=[example["external_id"]], examples=[example])

    def _idle(self, example: NamedExample, expectation: Expectation, offered: Sequence[ToolSpec]) -> None:
        passed = grade(compile_case(expectation, offered), IDLE).statuses["outcome"] == "passed"
        self._report.passed_idle += passed
        if passed and expectation.kind != "no_call":
            sentence = f"{example['external_id']} passes without any call: nothing that it expects is required."
            self._report.add("passes_idle", sentence, about=[example["external_id"]], examples=[example])

    def _count_arguments(self, document: JsonMapping, tools: Mapping[str, ToolSpec]) -> None:
        for name in {call["tool"] for call in calls_of(document)} & tools.keys():
            self._calls[name] += 1
            filled = {
                argument
                for call in calls_of(document)
                if call["tool"] == name
                for argument, matcher in (call.get("arguments") or {}).items()
                if "absent" not in matcher
            }
            schema = tools[name].input_schema
            required = schema.get("required")
            properties = schema.get("properties")
            for argument in properties if isinstance(properties, dict) else ():
                if argument in filled:
                    self._filled[name, argument] += 1
                elif argument not in (required if isinstance(required, list) else ()):
                    self._optional[name, argument] = None


_ACCEPTED = re.compile(r"(?P<matcher>.*)/one_of/(?P<place>[0-9]+)(?:/.*)?")


def gold_misfits(document: JsonMapping, offered: Sequence[ToolSpec]) -> Sequence[Problem]:
    """Return why a gold breaks the schemas of the offered tools, whichever of its accepted values is taken."""
    try:
        expectation = Expectation.from_document(document)
    except InvalidDocument as error:
        return error.problems
    return _by_weight(expectation_problems(expectation, offered), document)[0]


def problems_sentence(external_id: str, problems: Sequence[Problem]) -> str:
    """Return an example's name with its first problem, and the number of the others, without a full stop."""
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return f"{external_id}: {problems[0].pointer} {problems[0].message}{more}"


def _by_weight(problems: Sequence[Problem], document: JsonMapping) -> tuple[list[Problem], list[Problem]]:
    """Return the problems that leave no way to be right, and those of accepted values with sound ones next to them."""
    broken: dict[str, set[str]] = defaultdict(set)
    matches = [(problem, _ACCEPTED.fullmatch(problem.pointer)) for problem in problems]
    for _, accepted in matches:
        if accepted:
            broken[accepted["matcher"]].add(accepted["place"])
    in_part = {
        matcher for matcher, places in broken.items() if len(places) < len(_at(document, f"{matcher}/one_of") or ())
    }
    partial = [problem for problem, accepted in matches if accepted and accepted["matcher"] in in_part]
    return [problem for problem in problems if problem not in partial], partial


def _at(document: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            document = document[int(name)]
        else:
            document = document.get(name) if isinstance(document, Mapping) else None
    return document
