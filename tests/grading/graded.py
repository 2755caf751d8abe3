"""A shop's tools, calls of them, and their grades: for the tests of the engine."""

from typing import Any

from tests.grading import strategies
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    MalformedCall,
    Message,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade

ORDER = {"type": "object", "properties": {"order": {"type": "string"}, "limit": {"type": "integer"}}}
TRACK = ToolSpec("track", "Says where an order is.", {**ORDER, "required": ["order"]})
HISTORY = ToolSpec("history", "Lists orders.", ORDER)
REFUND = ToolSpec("refund", "Gives money back.", ORDER)
TOOLS = (TRACK, HISTORY, REFUND)
# The tools that drawn calls name, but one.
NAMED = tuple(ToolSpec(name, "", {"properties": {"a": {"type": "string"}}}) for name in strategies.NAMES[1:])
GARBLED = MalformedCall("not JSON at line 1, column 3: Expecting value", 2, "{{")


def called(*calls: ToolCall | MalformedCall) -> Transcript:
    return Transcript((Message("assistant", calls=calls),))


def graded(expectation: Expectation, *calls: ToolCall | MalformedCall, tools: Any = TOOLS) -> CaseGrade:
    return grade(compile_case(expectation, tools), called(*calls))


# The verdicts on calls; the others are of whole transcripts.
ON_CALLS = ("outcome", "selection", "arguments", "schema", "shape", "equivalence")


def statuses(result: CaseGrade) -> dict[str, str]:
    return {name: verdict.status for name, verdict in result.verdicts.items()}


def all_but_transcripts(status: str) -> dict[str, str]:
    return {name: status if name in ON_CALLS else "unscored" for name in VERDICT_NAMES}


def expecting(*calls: CallExpectation, **options: Any) -> Expectation:
    return Expectation("calls", alternatives=(Trajectory(calls, **options),))


PLAIN = Expectation.single("track", {"order": "A-1"})
LISTED = Expectation.single("history", {"page": 5})
RIGHT = ToolCall("track", {"order": "A-1"})


def talk(*messages: Message, answer: str | None = None, state: dict[str, Any] | None = None) -> Transcript:
    return Transcript((*called(RIGHT).messages, *messages), answer=answer, state=state)
