"""Read OpenAI's formats: chat, as fine-tuning takes it, and Evals.

Chat is `{"messages": [...], "tools": [...]}`. What the assistant says at a decision is what should happen; what comes
before is the input. It is the last turn unless a person chooses the first, or every one.

Evals is `{"input": [messages] or text, "ideal": one answer or a list of which any will do}`.
Source: https://github.com/openai/evals (docs/build-eval.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from labeling.imports.parts import Settings
from toolevals.grading.files.evaluation_files.conversations import (
    calls_said,
    expectation_of_turn,
    left_by,
    places_of,
)
from toolevals.grading.files.evaluation_files.entries import (
    WORDS_ONLY,
    entry,
    external_id,
    ideal_expectation,
    messages_at,
    tools_at,
)
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing.messages import read_transcript
from toolevals.grading.values import Message, ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonObject


def openai_evals_row(value: Any, settings: Settings) -> ExampleRow:
    """Return one sample as an example; without `ideal` it is still to be labelled. Raises InvalidDocument.

    An ideal that is a call, as JSON or as text of one, is the expected call. Other text is expected in the answer.
    """
    row = entry(value)
    given = row.get("input")
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else messages_at(given, "/input")
    tools, losses = tools_at(row, "tools")
    content = {"messages": messages}
    expectation, words = (None, False) if row.get("ideal") in (None, "", []) else ideal_expectation(row["ideal"])
    return ExampleRow(
        external_id=external_id(row.get("id"), "eval", [content, row.get("tools")]),
        input=content,
        tools=tools,
        expectation=expectation,
        losses=(*losses, Problem("/ideal", WORDS_ONLY)) if words else losses,
    )


def openai_chat_rows(value: Any, settings: Settings) -> Iterator[ExampleRow]:
    """Yield the decisions of one conversation as examples. Raises InvalidDocument.

    A turn's calls are expected, or no call. A conversation that ends with the user's words is still to be labelled.
    """
    row = entry(value)
    messages = messages_at(row.get("messages"), "/messages")
    tools, losses = tools_at(row, "tools", "functions")
    decision = settings.options.get("decision", "last")
    offered = tools if isinstance(tools, list) else list((settings.tools or {}).values())
    said, left, wrong = _said(messages, offered)
    places = _places(said, decision)
    for number, place in enumerate(places, 1):
        content = {"messages": messages[:place]}
        if not content["messages"]:
            raise InvalidDocument.at("/messages", "nothing stands before the assistant's message")
        name = external_id(row.get("id"), "chat", [content, row.get("tools") or row.get("functions")])
        expectation = None
        if place in wrong:
            raise wrong[place]
        if place < len(said):
            expectation = expectation_of_turn(said[place].calls, f"/messages/{place}/tool_calls")
        yield ExampleRow(
            external_id=f"{name}-{number}" if decision == "every" and row.get("id") is not None else name,
            input=content,
            tools=tools,
            expectation=expectation,
            losses=(*losses, *left.get(place, ()), *left_by(said, place, decision, "/messages")),
        )


def _said(
    messages: list[JsonObject], tools: list[ToolSpec]
) -> tuple[list[Message], dict[int, tuple[Problem, ...]], dict[int, InvalidDocument]]:
    """Return the messages, of which only the assistant's are read; by place what is left out, and what is wrong.

    A turn that cannot be read is wrong only where it becomes an example: elsewhere it is part of an input.
    """
    said: list[Message] = []
    left: dict[int, tuple[Problem, ...]] = {}
    wrong: dict[int, InvalidDocument] = {}
    for place, message in enumerate(messages):
        turn = Message(message["role"])
        if message["role"] == "assistant":
            try:
                turn, left[place] = _turn(message, tools, f"/messages/{place}")
            except InvalidDocument as error:
                wrong[place] = error
        said.append(turn)
    return said, left, wrong


def _turn(message: JsonObject, tools: list[ToolSpec], pointer: str) -> tuple[Message, tuple[Problem, ...]]:
    read = read_transcript(message, "openai_chat")
    (turn,) = read.transcript.messages
    if not turn.calls and turn.content:
        turn = replace(turn, calls=calls_said(turn.content, tools, f"{pointer}/content"))
    return turn, tuple(Problem(pointer + loss.first, f"{loss.count:,} × {loss.what}: left out") for loss in read.losses)


def _places(said: list[Message], decision: str) -> list[int]:
    """Return the places of the decisions. Of a conversation in which no user speaks it is the last turn."""
    if places := places_of(said, decision):
        return places
    spoken = [place for place, message in enumerate(said) if message.role == "assistant"]
    return spoken[-1:] or [len(said)]
