"""Write proposals as expectations of plain calls, and decide whether a label accepts one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolevals.grading.engine.grading import compile_case, grade_calls
from toolevals.grading.values import Expectation, ToolCall, ToolSpec

NO_CALL: dict[str, Any] = {"kind": "no_call"}


def proposal_document(calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Return the expectation of just these calls, in order; of no call where there are none."""
    if not calls:
        return dict(NO_CALL)
    ordered = [
        {"tool": call.name, "arguments": {name: {"exact": value} for name, value in call.arguments.items()}}
        for call in calls
    ]
    return {"kind": "calls", "alternatives": [{"ordered": ordered, "additional_calls": False}]}


def calls_of(proposal: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the calls of a proposal's document."""
    if proposal["kind"] != "calls":
        return ()
    return tuple(
        ToolCall(call["tool"], {name: matcher["exact"] for name, matcher in call["arguments"].items()})
        for call in proposal["alternatives"][0]["ordered"]
    )


def accepts(expectation: Mapping[str, Any] | None, proposal: Mapping[str, Any], tools: Sequence[ToolSpec]) -> bool:
    """Tell whether a label's or gold's expectation lets a proposal pass; None, an answer without one, lets nothing."""
    if expectation is None:
        return False
    compiled = compile_case(Expectation.from_document(dict(expectation)), tuple(tools))
    return grade_calls(compiled, calls_of(proposal)).statuses["outcome"] == "passed"
