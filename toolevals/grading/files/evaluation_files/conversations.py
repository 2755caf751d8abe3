"""Makes examples of whole conversations, as models are trained with: of the first, of every or of the last decision.

A decision is a turn of the assistant after a user has spoken: what stands before it is the input, what it calls is
expected, and where it calls nothing, no call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from toolevals.grading.files.evaluation_files.entries import expected_calls
from toolevals.grading.files.evaluation_files.entry import Entry, Found, items_at, object_at
from toolevals.grading.files.evaluation_files.tables import cell_value
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing import call_in, calls_in_text
from toolevals.grading.reading.parsing.text import has_call_mark
from toolevals.grading.values import Call, Expectation, MalformedCall, Message, ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.thoughts import without_thoughts
from toolevals.json_types import JsonMapping, JsonValue

Decision: TypeAlias = Literal["first", "every", "last"]
# What becomes an example, and what a person is told of it.
DECISIONS: Mapping[str, str] = {
    "first": "the assistant's first turn of each conversation",
    "every": "every turn of the assistant: several examples of a conversation",
    "last": "the assistant's last turn of each conversation",
}
_REFERENCE = re.compile(r"'parameters': \{[^}]*API_call_\d")
# Glaive's mark, which stands before JSON that is read without it.
_GLAIVE = "<functioncall"


def places_of(messages: Sequence[Message], decision: str) -> list[int]:
    """Return the places of the decisions; the length of the list is the place of a turn that is still to come."""
    asked = next((place for place, each in enumerate(messages) if each.role == "user"), len(messages))
    turns = [place for place, each in enumerate(messages) if each.role == "assistant" and place > asked]
    is_open = bool(messages) and messages[-1].role == "user"
    if decision == "first":
        return turns[:1] or [len(messages)] * is_open
    if decision == "last":
        return [len(messages)] if is_open else turns[-1:]
    return turns + [len(messages)] * is_open


def left_by(messages: Sequence[Message], place: int, decision: str, pointer: str) -> tuple[Problem, ...]:
    """Return what a conversation decides besides the turn at `place`, where only one becomes an example."""
    if decision == "every":
        return ()
    before = sum(bool(each.calls) for each in messages[:place])
    after = sum(each.role == "assistant" for each in messages[place + 1 :])
    losses = []
    if before:
        words = "the assistant's turns with calls before it are part of the input, and not expected"
        losses.append(Problem(pointer, f"{before:,} × {words}: take the decision first or every to expect them"))
    if after:
        words = "the assistant's turns after it are left out"
        losses.append(Problem(pointer, f"{after:,} × {words}: take the decision every to have them"))
    return tuple(losses)


def decisions_in(
    identifier: str,
    messages: Sequence[Message],
    decision: str,
    pointer: str,
    *,
    tools: list[ToolSpec] | None = None,
    losses: Sequence[Problem] = (),
) -> Iterator[Entry]:
    """Yield the examples of a conversation. Raises InvalidDocument where it has no decision, or one cannot be read."""
    places = places_of(messages, decision)
    if not places:
        raise InvalidDocument.at(pointer, "has no turn of the assistant after a user has spoken")
    for number, place in enumerate(places, 1):
        said = messages[place] if place < len(messages) else None
        row = ExampleRow(
            external_id=f"{identifier}-{number}" if decision == "every" else identifier,
            input={"messages": [message.to_document() for message in messages[:place]]},
            tools=tools,
            expectation=None if said is None else expectation_of_turn(said.calls, f"{pointer}/{place}"),
            losses=(*losses, *left_by(messages, place, decision, pointer)),
        )
        yield Entry(row, losses=row.losses)


def expectation_of_turn(calls: Sequence[Call], pointer: str) -> Expectation:
    """Return what a turn of the assistant expects: its calls, or no call. Raises InvalidDocument."""
    return expected_calls(calls, pointer) if calls else Expectation("no_call")


def calls_said(text: str, tools: Sequence[ToolSpec], pointer: str) -> tuple[Call, ...]:
    """Return the calls that a turn's text makes: marked as calls, of offered tools, or nothing but calls.

    Values that arrive as text get the types of the tool's schema. Other code and JSON are words. Raises InvalidDocument
    where a mark, or a tool's name in JSON, stands there and no call can be read: such a turn is no answer in words.
    """
    names = [tool.name for tool in tools]
    short = {name: f"tool_{number}_" for number, name in enumerate(names) if not name.replace(".", "_").isidentifier()}
    plain = without_thoughts(text).strip()
    for name in sorted(short, key=len, reverse=True):
        plain = plain.replace(f"{name}(", f"{short[name]}(")
    back = {replaced: name for name, replaced in short.items()}
    offered = [replace(tool, name=short.get(tool.name, tool.name)) for tool in tools] or None
    calls = tuple(_renamed(call, back) for call in calls_in_text(plain, offered))
    is_marked = has_call_mark(plain) or _GLAIVE in plain
    is_alone = not names and plain[:1] in "[{" and not any(isinstance(call, MalformedCall) for call in calls)
    if calls and (is_marked or is_alone or any(call.name in names for call in calls)):
        return calls
    value = cell_value(plain)
    if isinstance(value, dict | list) and (calls := _in_json(value, pointer)):
        return calls
    if is_marked or (isinstance(value, dict | list) and any(name in plain for name in names)):
        raise InvalidDocument.at(pointer, "is meant as a call, and no call can be read")
    return ()


def _in_json(value: JsonValue, pointer: str) -> tuple[Call, ...]:
    """Return the calls of a value in the words of Seal-Tools, `api` and `parameters`; none of any other value."""
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(each, Mapping) and {"api", "parameters"} <= each.keys() for each in items):
        return ()
    if _REFERENCE.search(str(value)):
        raise InvalidDocument.at(pointer, "refers to a result of an earlier call: the dataset's own rows are read so")
    return tuple(call_in({"name": each["api"], "arguments": each["parameters"]}) for each in items)


def conversations_read(
    document: object, decision: str, read: Callable[[JsonMapping, str], Iterator[Entry]]
) -> Iterator[Found]:
    """Yield the entries of each row, or what is wrong with it: of a row that is wrong, nothing is read."""
    for pointer, item in items_at(document):
        try:
            entries = list(read(object_at(item), decision))
        except InvalidDocument as error:
            yield pointer, error
        else:
            yield from ((pointer, entry) for entry in entries)


def _renamed(call: Call, back: Mapping[str, str]) -> Call:
    if isinstance(call, MalformedCall) or call.name not in back:
        return call
    return type(call)(back[call.name], call.arguments, call.id)
