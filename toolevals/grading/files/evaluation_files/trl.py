"""Reads rows that TRL trains with: `{"prompt", "completion", "tools"}`, and preferences with `chosen` and `rejected`.

Source: TRL's "Dataset formats and types". What the completion does is expected, the prompt is the input. Rows of
`messages` alone are OpenAI chat messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolevals.grading.files.evaluation_files.content import messages_of
from toolevals.grading.files.evaluation_files.conversations import (
    calls_said,
    conversations_read,
    expectation_of_turn,
)
from toolevals.grading.files.evaluation_files.dataset_tools import dataset_tools
from toolevals.grading.files.evaluation_files.entries import external_id
from toolevals.grading.files.evaluation_files.entry import Entry, Found, keys, unknown_keys
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import Message, ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

_KNOWN = keys("id prompt completion chosen rejected tools functions label")
_DONE = ("completion", "chosen")


def detect(item: object) -> str | None:
    """Return why an item is such a row; None where it is none."""
    if not isinstance(item, Mapping) or not isinstance(item.get("prompt"), list | str):
        return None
    done = next((key for key in _DONE if isinstance(item.get(key), list | str)), None)
    if done is None or (done == "chosen" and "rejected" not in item):
        return None
    return f"entries have prompt and {done}"


def read(document: object, decision: str = "first") -> Iterator[Found]:
    """Yield the decisions of each row's completion."""
    yield from conversations_read(document, decision, _row)


def _row(item: JsonMapping, decision: str) -> Iterator[Entry]:
    key = next((key for key in _DONE if item.get(key) is not None), _DONE[0])
    given = next((name for name in ("tools", "functions") if item.get(name) not in (None, "", [], "[]")), None)
    tools, lost = (None, ()) if given is None else dataset_tools(item[given], f"/{given}")
    losses = [*lost, *unknown_keys(item, _KNOWN)]
    if item.get("rejected") is not None:
        losses.append(Problem("/rejected", "is what the assistant should not do: left out"))
    before = _messages(item.get("prompt"), "user", "/prompt", losses)
    done = _messages(item.get(key), "assistant", f"/{key}", losses)
    offered = list(tools or ())
    said = [_with_calls(message, offered, f"/{key}/{place}") for place, message in enumerate(done)]
    turns = [place for place, message in enumerate(said) if message.role == "assistant"]
    if not turns:
        raise InvalidDocument.at(f"/{key}", "has no turn of the assistant")
    chosen = {"first": turns[:1], "last": turns[-1:]}.get(decision, turns)
    if left := len(turns) - len(chosen):
        losses.append(
            Problem(f"/{key}", f"{left:,} × other turns of the assistant: take the decision every to have them")
        )
    name = external_id(item.get("id"), "completion", [item.get("prompt"), item.get(key), item.get("tools")])
    for number, place in enumerate(chosen, 1):
        row = ExampleRow(
            external_id=f"{name}-{number}" if decision == "every" else name,
            input={"messages": [message.to_document() for message in (*before, *said[:place])]},
            tools=tools,
            expectation=expectation_of_turn(said[place].calls, f"/{key}/{place}"),
            losses=tuple(losses),
        )
        yield Entry(row, losses=row.losses)


def _messages(given: object, role: str, pointer: str, losses: list[Problem]) -> tuple[Message, ...]:
    if isinstance(given, str) and given.strip():
        return (Message(role, given),)
    if not isinstance(given, list) or not given:
        raise InvalidDocument.at(pointer, "is neither text nor a list of messages")
    return messages_of(given, pointer, losses)


def _with_calls(message: Message, tools: list[ToolSpec], pointer: str) -> Message:
    """Return a message with the calls that its text makes, where it has none of its own."""
    if message.role != "assistant" or message.calls or not message.content:
        return message
    calls = calls_said(message.content, tools, pointer)
    return replace(message, content=None, calls=calls) if calls else message
