"""Calls that fail and are made again: tools, answers of each class of error, and what is expected."""

from __future__ import annotations

from tests.grading.layers.recovery.scripts import call
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.values import CallExpectation, Expectation, Message, ToolCall, ToolSpec, Trajectory, Transcript
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.verdicts import CaseGrade

DOWN, OK = "Error: 503 Service Unavailable", '{"state": "sent"}'
# One answer of each class of error.
ANSWERS = {
    "400": "HTTP 400 bad request",
    "401": "HTTP 401",
    "403": "HTTP 403",
    "404": "HTTP 404",
    "408": "HTTP 408",
    "429": '{"status_code": 429, "error": "later"}',
    "5xx": DOWN,
    "timeout": "timed out",
    "empty": "[]",
    "partial": '{"rows": [1], "truncated": true}',
    "unknown": "Error: hm",
}
TOOLS = (
    ToolSpec("track", "", {"properties": {"order": {"type": "string"}}}),
    ToolSpec("refund", "", {}),
    ToolSpec("search_flights"),
)
TRACK, REFUND = CallExpectation("track", {"order": Exact("A-1")}), CallExpectation("refund")
ON_CALLS = ("selection", "arguments", "schema", "shape", "equivalence")


def track(result: str | None, order: object = "A-1") -> list[Message]:
    return call("track", result, order=order)


def at_one_time(*made: tuple[str, str]) -> list[Message]:
    """Calls of one message, by tool and answer."""
    calls = tuple(ToolCall(tool, {"order": "A-1"}, f"c{number}") for number, (tool, _) in enumerate(made))
    answers = [Message("tool", answer, call_id=f"c{number}") for number, (_, answer) in enumerate(made)]
    return [Message("assistant", None, calls), *answers]


def expecting(*calls: CallExpectation, additional: bool = False) -> Expectation:
    return Expectation("calls", alternatives=(Trajectory(calls, additional_calls=additional),))


def graded(expectation: Expectation, transcript: Transcript) -> CaseGrade:
    return grade(compile_case(expectation, TOOLS), transcript)
