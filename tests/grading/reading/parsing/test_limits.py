"""Test how many calls a transcript may have: however they come, one too many is refused with its place."""

from collections.abc import Callable
from typing import Any

import pytest

from toolevals.grading.reading.parsing import calls_in_text, read_run, transcript_in
from toolevals.grading.reading.parsing.recorded import tau2_runs, tau_runs
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values import MalformedCall, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.transcripts import MOST_CALLS

CALL = {"name": "a", "arguments": {}}


def native(count: int) -> list[dict[str, Any]]:
    half = count // 2
    return [{"role": "assistant", "calls": [CALL] * half}, {"role": "assistant", "calls": [CALL] * (count - half)}]


def chat(count: int) -> list[dict[str, Any]]:
    call = {"id": "x", "type": "function", "function": {"name": "a", "arguments": "{}"}}
    return [{"role": "assistant", "content": None, "tool_calls": [call] * count}]


def recorded(count: int) -> list[dict[str, Any]]:
    return [{"task_id": 1, "trial": 0, "reward": 1.0, "traj": chat(count)}]


def simulated(count: int) -> list[dict[str, Any]]:
    messages = [{"role": "assistant", "content": None, "tool_calls": [CALL] * count}]
    return [{"task_id": "1", "trial": 0, "messages": messages, "reward_info": {"reward": 1.0}}]


def steps(count: int) -> list[dict[str, Any]]:
    return [{"action": "a", "tool": "a", "arguments": {}} for _ in range(count)]


@pytest.mark.parametrize(
    ("read", "pointer"),
    [
        (lambda count: Transcript.from_document({"messages": native(count)}), "/messages"),
        (lambda count: transcript_in(native(count)), ""),
        (lambda count: transcript_in({"messages": chat(count)}), "/messages"),
        (lambda count: transcript_in({"choices": [{"message": chat(count)[0]}]}), "/choices/0/message"),
        (lambda count: read_run({"steps": steps(count)}), "/steps"),
        (lambda count: list(tau_runs(recorded(count))), "/0/traj"),
        (lambda count: list(tau2_runs(simulated(count))), "/0/messages"),
        (lambda count: read_prediction({"id": "x", "tool_calls": [CALL] * count}), "/tool_calls"),
        (lambda count: read_prediction({"id": "x", "messages": native(count)}), "/messages"),
        (lambda count: read_prediction({"id": "x", "steps": steps(count)}), "/steps"),
    ],
)
def test_one_call_too_many_is_refused_with_its_place(read: Callable[[int], object], pointer: str) -> None:
    read(MOST_CALLS)
    with pytest.raises(InvalidDocument) as refused:
        read(MOST_CALLS + 1)
    (problem,) = refused.value.problems
    assert problem.pointer == pointer
    assert problem.message == "holds 2,001 calls, and a transcript has at most 2,000"


def test_text_with_too_many_calls_is_one_that_cannot_be_read() -> None:
    assert len(calls_in_text("[" + ",".join(["a()"] * MOST_CALLS) + "]")) == MOST_CALLS
    (call,) = calls_in_text("[" + ",".join(["a()"] * (MOST_CALLS + 1)) + "]")
    assert isinstance(call, MalformedCall)
    assert call.reason == "2,001 calls, and a transcript has at most 2,000"
