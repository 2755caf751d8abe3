"""Shows a graded case as judging looks at it: what rules decided, and how its calls stand to the expected ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.counted_calls import CountedCalls, calls_that_count
from toolevals.grading.values import Call, Message, ToolCall, Transcript
from toolevals.grading.values.matchers import Fields, Items, Matcher, NaturalLanguage
from toolevals.grading.values.verdicts import CaseGrade, Status


@dataclass(frozen=True)
class GradedCaseView:
    """One case. `plain` is its grade without any judgement; `compiled` holds the answers to criteria in words so far.

    `conversation` and `context` are the example's: what the agent was given.
    """

    compiled: CompiledCase
    transcript: Transcript
    plain: CaseGrade
    conversation: Sequence[Message] = ()
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def statuses(self) -> Mapping[str, Status]:
        """Return what rules decided."""
        return self.plain.statuses

    @cached_property
    def counted(self) -> CountedCalls:
        """The calls that count, with their places."""
        return calls_that_count(self.compiled, self.transcript)

    @property
    def calls(self) -> Sequence[Call]:
        """The calls that count."""
        return self.counted.calls

    @cached_property
    def alignment(self) -> Alignment:
        """The expected calls next to the actual ones."""
        return self.counted.aligned(self.compiled, self.transcript)

    def faulty_pairs(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield the expected and the actual call of every pair whose arguments are not as expected."""
        alignment = self.alignment
        for (expected, actual), check in zip(alignment.pairs, alignment.checks, strict=True):
            if check.faults:
                call = self.calls[actual]
                yield alignment.compiled.calls[expected].expectation.to_document(), call.to_document()

    def worded(self) -> Iterator[tuple[str, Any]]:
        """Yield criteria in words next to the value that they are about, for every aligned call."""
        for expected, actual in self.alignment.pairs:
            call = self.calls[actual]
            wanted = self.alignment.compiled.calls[expected].arguments
            given = call.arguments if isinstance(call, ToolCall) else {}
            for name, argument in wanted.items():
                if name in given:
                    yield from _worded(argument.matcher, given[name])


def _worded(matcher: Matcher, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(matcher, NaturalLanguage):
        yield matcher.criteria, value
    elif isinstance(matcher, Fields) and isinstance(value, dict):
        for name, inner in matcher.fields.items():
            if name in value:
                yield from _worded(inner, value[name])
    elif isinstance(matcher, Items) and isinstance(value, list | tuple):
        for inner, item in zip(matcher.items, value, strict=False):
            yield from _worded(inner, item)
