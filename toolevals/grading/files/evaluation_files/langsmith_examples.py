"""Reads LangSmith's datasets: `{"inputs": {...}, "outputs": {...}, "metadata": {...}}`, one's own keys in each.

Keys that people use for conversations and for tool calls are known here; see docs/importing.md for the list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import messages_of
from toolevals.grading.files.evaluation_files.entries import (
    WORDS_ONLY,
    entry,
    expected_calls,
    external_id,
    strata_in,
    tools_at,
)
from toolevals.grading.files.evaluation_files.ideals import ideal_expectation
from toolevals.grading.reading.examples import ExampleRow, read_example
from toolevals.grading.reading.parsing.text import calls_said
from toolevals.grading.values import Expectation
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.verdicts import read_decided_by

# Where a question stands that is no list of messages; the first one there counts.
QUESTIONS = ("input", "question", "query", "prompt", "text", "user", "instruction")
# Where an answer stands; the first one there counts.
ANSWERS = ("tool_calls", "messages", "message", "output", "answer", "expected", "ideal", "reference", "response")


def langsmith_example(value: Any) -> ExampleRow:
    """Return one LangSmith example. Raises InvalidDocument."""
    row = entry(value)
    inputs, outputs = _part(row, "inputs"), _part(row, "outputs")
    metadata = _part(row, "metadata")
    left: list[Problem] = []
    content = _content(inputs, left)
    tools, lost = _tools(inputs, metadata)
    expectation, words = _expectation(outputs, left)
    losses = (*left, *lost)
    rationale = metadata.get("rationale") or outputs.get("rationale")
    return ExampleRow(
        external_id=external_id(
            metadata.get("external_id") or row.get("id"), "langsmith", [content, inputs.get("tools")]
        ),
        input=content,
        tools=tools,
        expectation=expectation,
        rationale=rationale if isinstance(rationale, str) else "",
        strata=strata_in(metadata),
        losses=(*losses, Problem("/outputs", WORDS_ONLY)) if words else losses,
        decided_by=read_decided_by(metadata.get("decided_by") or "", "/metadata/decided_by"),
    )


def _part(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = row.get(key)
    if value is None and key != "inputs":
        return {}
    if not isinstance(value, Mapping):
        raise InvalidDocument.at(f"/{key}", "is not an object")
    return value


def _content(inputs: Mapping[str, Any], left: list[Problem]) -> dict[str, Any]:
    if isinstance(given := inputs.get("messages"), list):
        used, messages = "messages", _messages(given, left)
    else:
        used = next((key for key in QUESTIONS if isinstance(inputs.get(key), str)), "")
        texts = [key for key, value in inputs.items() if isinstance(value, str)]
        if not used and len(texts) == 1:
            used = texts[0]
        if not used:
            raise InvalidDocument.at("/inputs", f"has neither messages nor text under one of {', '.join(QUESTIONS)}")
        messages = [{"role": "user", "content": inputs[used]}]
    if not messages:
        raise InvalidDocument.at("/inputs/messages", "is an empty list")
    rest = {key: value for key, value in inputs.items() if key not in {used, "tools", "context"}}
    context = inputs.get("context")
    if isinstance(context, Mapping):
        rest = {**context, **rest}
    elif context is not None:
        rest["context"] = context
    return {"messages": messages} | ({"context": rest} if rest else {})


def _messages(given: list[Any], left: list[Problem]) -> list[dict[str, Any]]:
    """Return messages with roles; LangChain's are turned into ours, and `left` grows by what these leave out."""
    if given and all(isinstance(each, dict) and isinstance(each.get("role"), str) and each["role"] for each in given):
        return given
    if not given:
        return []
    return [message.to_document() for message in messages_of(given, "/inputs/messages", left)]


def _tools(inputs: Mapping[str, Any], metadata: Mapping[str, Any]) -> tuple[Any, tuple[Problem, ...]]:
    part, holder = ("/inputs", inputs) if "tools" in inputs else ("/metadata", metadata)
    try:
        tools, losses = tools_at(holder, "tools")
    except InvalidDocument as error:
        raise error.below(part) from None
    return tools, tuple(loss.below(part) for loss in losses)


def _expectation(outputs: Mapping[str, Any], left: list[Problem]) -> tuple[Expectation | None, bool]:
    """Return what the outputs expect, and whether that is words without a call."""
    own = {key: outputs[key] for key in ("expectation", "expected_tool", "expected_args") if key in outputs}
    if own:
        try:
            return read_example({"id": "-", "input": {"messages": [{"role": "user"}]}, **own}).expectation, False
        except InvalidDocument as error:
            raise error.below("/outputs") from None
    key = next((key for key in ANSWERS if key in outputs), None)
    texts = [name for name, value in outputs.items() if isinstance(value, str)]
    if key is None and len(texts) == 1:
        key = texts[0]
    if key is None or outputs[key] in (None, "", {}):
        return None, False
    return _answer(outputs[key], f"/outputs/{key}", left)


def _answer(value: Any, pointer: str, left: list[Problem]) -> tuple[Expectation | None, bool]:
    if value == []:
        return Expectation("no_call"), False
    message = value[-1] if isinstance(value, list) and isinstance(value[-1], dict) else value
    if isinstance(message, dict) and ("role" in message or message.get("type") in ("ai", "AIMessage")):
        (read,) = messages_of(message, pointer, left)
        calls = read.calls or calls_said(read, None)
        return (expected_calls(calls, pointer) if calls else Expectation("no_call")), False
    return ideal_expectation(value, pointer)
