"""Defines the plain values that the core takes and gives: frozen, with documents that round-trip."""

from toolevals.grading.values.expectations import (
    AnyOrder,
    CallExpectation,
    Expectation,
    ExpectationKind,
    Expected,
    OneOfCalls,
    ProfileName,
    Step,
    Trajectory,
    call_expectation_from,
    options_of,
    require_earlier,
)
from toolevals.grading.values.tools import ToolAnnotations, ToolSpec
from toolevals.grading.values.transcripts import (
    NOT_WHOLE,
    Call,
    MalformedCall,
    Measures,
    Message,
    StateChanges,
    ToolCall,
    ToolResult,
    Transcript,
)

__all__ = [
    "NOT_WHOLE",
    "AnyOrder",
    "Call",
    "CallExpectation",
    "Expectation",
    "ExpectationKind",
    "Expected",
    "MalformedCall",
    "Measures",
    "Message",
    "OneOfCalls",
    "ProfileName",
    "StateChanges",
    "Step",
    "ToolAnnotations",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "Trajectory",
    "Transcript",
    "call_expectation_from",
    "options_of",
    "require_earlier",
]
