"""Test what is fuzzed. A target takes bytes and raises only where something is wrong.

To add one is a line in TARGETS.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.matching.equivalence import equivalent
from toolevals.grading.reading.parsing import MESSAGE_FORMATS, MessageFormat, calls_in_text, read_run, transcript_in
from toolevals.grading.reading.parsing.recorded import tau2_runs, tau_runs
from toolevals.grading.reading.parsing.steps import run_of
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import Expectation, ToolSpec, Transcript
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.documents import load_json, require_json
from toolevals.grading.values.problems import InvalidDocument


@dataclass(frozen=True, slots=True)
class Target:
    """A function of bytes, and inputs to begin with."""

    check: Callable[[bytes], object]
    seeds: tuple[bytes, ...]


def on_text(check: Callable[[str], object]) -> Callable[[bytes], object]:
    """Return a target of a function of text, lone surrogates and NUL characters included."""
    return lambda data: check(data.decode("utf-8", "surrogateescape"))


def on_json(check: Callable[[Any], object]) -> Callable[[bytes], object]:
    """Return a target of a function of any value that Python's own reader makes of JSON; what it raises is refused."""

    def checked(data: bytes) -> None:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return
        try:
            check(value)
        except InvalidDocument:
            return

    return checked


def on_transcript(check: Callable[[Transcript], object]) -> Callable[[bytes], object]:
    """Return a target of a function of transcripts, such as a grader: nothing that it raises is accepted."""

    def checked(data: bytes) -> None:
        try:
            transcript = transcript_in(load_json(data))
        except InvalidDocument:
            return
        check(transcript)

    return checked


def _json(*values: Any) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


TEXTS = (
    b"[f(a=1), g.h(b='x', c=[-1.5, {'k': None}])]",
    b"f(class='x', from=(1, 2))\nimport(x=True); a-b(c=0x1F)",
    b'Sure! ```json\n[{"name": "f", "arguments": {"a": 1}}]\n``` and `g(b="")`',
    b'<tool_call>{"name": "f", "parameters": "{\\"a\\": 1}"}</tool_call><|eom_id|>',
    b"f(a=f'{x}', b=b'y', c=1j, **d, *e)",
    '[f(é="naïve \\ud83d", b="""l1\nl2""")] \u2028'.encode(),
)
CONVERSATION: list[Any] = [
    {"role": "user", "content": "Where is A-1?"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "name": "f", "content": '{"state": "sent", "error": 503}', "is_error": True},
    {"role": "assistant", "content": "It was sent on 2024-05-01 for $45.00."},
]
MESSAGES = _json(
    CONVERSATION,
    {"choices": [{"message": CONVERSATION[1]}], "usage": {"prompt_tokens": 1}},
    {"output": [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "1", "output": [{"type": "output_text", "text": "x"}]},
                {"type": "mcp_call", "id": "2", "name": "g", "arguments": "[1]", "error": "late"}]},
    [{"role": "assistant", "content": [{"type": "text", "text": "x"},
                                       {"type": "tool_use", "id": "1", "name": "f", "input": {"a": [1]}}]},
     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [], "is_error": True}]}],
    {"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}, {"text": "x"}]},
                  {"parts": [{"functionResponse": {"name": "f", "response": {"error": "x"}}}]}]},
    {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "f("}]},
    [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f", "arguments": {}}},
     {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "x"}], "isError": True}},
     {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}],
    [{"type": "ai", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "1"}], "invalid_tool_calls": [{"name": "g"}]},
     {"lc": 1, "id": ["x", "ToolMessage"], "kwargs": {"content": "x", "tool_call_id": "1", "status": "error"}}],
    {"messages": [{"role": "assistant", "calls": [{"malformed": {"reason": "x", "position": 1}}, {"name": "f"}]}]},
)  # fmt: skip
STEPS = _json(
    {"goal": "g", "available_tools": ["f", {"name": "h"}], "final_result": [1], "steps": [
        {"thought": "t", "tool": "f", "arguments": {"a": 1}, "result": {"x": 1}, "error": None},
        {"action": "f", "action_input": "{}", "observation": "x", "is_final": True},
        {"tool_calls": [{"name": "f", "arguments": {}, "success": False, "error": "e"}]}]},
    [[{"tool": "f", "tool_input": {}}, "x"], {"action": "Final Answer", "action_input": "y"}],
)  # fmt: skip
RECORDINGS = _json(
    {"records": [{"task_id": 1, "trial": 0, "reward": 1.0, "traj": CONVERSATION}]},
    {"simulations": [{"task_id": "1", "trial": 0, "reward_info": {"reward": 0.5}, "messages": [
        {"role": "assistant", "tool_calls": [{"id": "1", "name": "f", "arguments": {}, "requestor": "assistant"}]},
        {"role": "tool", "id": "1", "content": "x", "error": True, "requestor": "user"}]}]},
)  # fmt: skip
PREDICTIONS = _json(
    {"id": "a", "trial": 1, "tool_calls": [{"name": "f", "arguments": '{"x": 1}'}], "answer": "x"},
    {"id": "a", "messages": CONVERSATION, "format": "openai_chat", "usage": {"input_tokens": 1}, "latency_ms": 2},
    {"id": "a", "steps": [{"tool": "f", "arguments": {}}]},
    {"id": "a", "text": "[f(a=1)]", "error": None},
)


def _json_is_read_as_it_is_kept(text: str) -> None:
    try:
        value = load_json(text)
    except InvalidDocument as error:
        _is_told(error, text)
        return
    require_json(value)
    assert canonical(load_json(canonical(value))) == canonical(value)


def _is_told(error: InvalidDocument, text: str) -> None:
    assert error.problems
    assert error.position is None or 0 <= error.position <= len(text)
    canonical(str(error))


def _calls_can_be_kept(text: str) -> None:
    for call in calls_in_text(text):
        canonical(call.to_document())


def _is_kept(transcript: Transcript) -> None:
    document = transcript.to_document()
    canonical(document)
    assert Transcript.from_document(document) == transcript
    assert len(transcript.results) == sum(message.role == "tool" for message in transcript.messages)
    run_of(transcript)


def _native(value: Any) -> None:
    transcript = Transcript.from_document(value)
    require_json(value)
    _is_kept(transcript)


def _messages(name: MessageFormat | None) -> Callable[[bytes], object]:
    return on_json(lambda value: _is_kept(transcript_in(value, name)))


def _recordings(value: Any) -> None:
    for read in (tau_runs, tau2_runs):
        try:
            for run in read(value):
                _is_kept(run.transcript)
        except InvalidDocument:
            continue


_TOOLS = [ToolSpec("f", "Finds.", {"type": "object", "properties": {"a": {"type": "integer"}}})]
_GRADED = [
    compile_case(Expectation("no_call", answer={"contains": ["45"]}, state={"a": 1}), _TOOLS),
    compile_case(Expectation.single("f", {"a": 1}), _TOOLS),
]
SPECS = _json(
    [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": True}}],
    [{"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}}}],
    {
        "functionDeclarations": [
            {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"nullable": True}}}}
        ]
    },
    {"tools": [{"name": "f", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]},
    {"openapi": "3.0.0", "paths": {"/a/{b}": {"get": {"parameters": [{"name": "b", "in": "path", "schema": {}}]}}}},
    [{"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": "tuple"}}, "required": ["a"]}}],
)
EXPECTATIONS = _json(
    {"kind": "calls", "alternatives": [{"ordered": [
        {"tool": "f", "arguments": {"a": {"range": [1, None]}, "b": {"pattern": "a+", "optional": True}}},
        {"any_order": [{"tool": "f"}, {"tool": "g", "additional_arguments": False}]}],
        "unordered": [{"one_of_calls": [{"tool": "f"}, {"tool": "g"}]}], "disallowed": [{"tool": "h"}]}]},
    {"kind": "no_call", "answer": {"contains": ["x"], "pattern": "[0-9]"}, "reactions": ["clarification"], "state": {}},
)  # fmt: skip


def _graded(transcript: Transcript) -> None:
    for case in _GRADED:
        document = grade(case, transcript).to_document()
        assert document["tag"] != "HARNESS_ERROR"
        canonical(document)


def _expectation(value: Any) -> None:
    require_json(value)
    expectation = Expectation.from_document(value)
    assert Expectation.from_document(expectation.to_document()) == expectation
    assert equivalent(expectation, expectation)
    grade(compile_case(expectation, _TOOLS), Transcript()).to_document()


TARGETS: dict[str, Target] = {
    "json": Target(
        on_text(_json_is_read_as_it_is_kept), (*MESSAGES, b'{"a": [1e5, -0.0, "\\ud83d\\ude00"], "b": NaN}')
    ),
    "text": Target(on_text(_calls_can_be_kept), TEXTS),
    "messages": Target(_messages(None), MESSAGES),
    **{f"messages-{name}": Target(_messages(name), MESSAGES) for name in MESSAGE_FORMATS},
    "steps": Target(on_json(lambda value: _is_kept(read_run(value).transcript)), STEPS),
    "recordings": Target(on_json(_recordings), RECORDINGS),
    "predictions": Target(on_json(lambda value: _is_kept(read_prediction(value).transcript)), PREDICTIONS),
    "transcripts": Target(on_json(_native), MESSAGES),
    "grading": Target(on_transcript(_graded), MESSAGES),
    "specs": Target(on_json(read_tools), SPECS),
    "expectations": Target(on_json(_expectation), EXPECTATIONS),
}
