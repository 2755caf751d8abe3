"""Expectations whose arguments are results of earlier calls, and what an agent did."""

from __future__ import annotations

import json
from typing import Any

from toolevals.grading.engine.compiled import compile_case
from toolevals.grading.engine.grading import grade
from toolevals.grading.values import Expectation, Message, ToolCall, Transcript
from toolevals.grading.values.verdicts import CaseGrade

# A step: a tool, its arguments, and what the tool answered; None where that is not recorded.
Step = tuple[str, dict[str, Any], Any]


def ref(call: int, pointer: str = "/id", **more: Any) -> dict[str, Any]:
    return {"result_of": {"call": call, "pointer": pointer}, **more}


def due(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "additional_arguments": False}


def calls(*ordered: Any, **more: Any) -> Expectation:
    return Expectation.from_document(
        {"kind": "calls", "alternatives": [{"ordered": list(ordered), "additional_calls": False, **more}]}
    )


FIND_THEN_PAY = calls(due("find", name={"exact": "Ada"}), due("pay", customer=ref(1)))


def done(*steps: Step, at_once: bool = False) -> Transcript:
    made = [ToolCall(tool, arguments, f"c{place}") for place, (tool, arguments, _) in enumerate(steps)]
    answers = [
        None
        if answer is None
        else Message("tool", answer if isinstance(answer, str) else json.dumps(answer), call_id=f"c{place}")
        for place, (_, _, answer) in enumerate(steps)
    ]
    if at_once:
        return Transcript((Message("assistant", None, tuple(made)), *(each for each in answers if each)))
    messages: list[Message] = []
    for call, answer in zip(made, answers, strict=True):
        messages += [Message("assistant", None, (call,)), *([answer] if answer else [])]
    return Transcript(tuple(messages))


def graded(expectation: Expectation, transcript: Transcript) -> CaseGrade:
    return grade(compile_case(expectation, ()), transcript)
