"""Reads a JSON value at a mark as calls, under whatever keys models write name and arguments."""

from __future__ import annotations

from typing import Any, Final

from toolevals.grading.reading.parsing.json_calls import ARGUMENT_KEYS, call_in, looks_like_call
from toolevals.grading.reading.parsing.text_formats.source import Found, Source
from toolevals.grading.values import Call
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

_NAMES: Final = ("tool_name", "tool", "recipient_name", "action", "function_name")
_ARGUMENTS: Final = (*ARGUMENT_KEYS, "action_input", "tool_input", "tool_arguments")
_LISTS: Final = ("tool_calls", "tool_uses", "calls")
# How Command R calls that it calls nothing, and how frames of agents call the final answer.
_NO_TOOLS: Final = frozenset({"directly_answer", "directly-answer", "final answer", "final_answer"})


def calls_of(value: Any) -> tuple[Call, ...] | None:
    """Return the calls of a JSON value; None where it is not meant as calls."""
    if isinstance(value, dict):
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), value)
    items = [_plain(item) for item in (value if isinstance(value, list) else [value])]
    if not items or not any(looks_like_call(item) for item in items):
        return None
    return tuple(call_in(item) for item in items if not _is_answer(item))


def json_calls_at(source: Source, place: int, start: int) -> Found:
    """Return the calls of the JSON values that follow here, and a malformed one where there is none to read."""
    calls: list[Call] = []
    end = place
    while (stop := source.json_end(end)) is not None:
        calls += _read(source, end, stop, start)
        following = source.skip(stop)
        following = source.skip(following + 1) if source.text[following : following + 1] in {",", ";"} else following
        if source.text[following : following + 1] not in {"{", "["}:
            return tuple(calls), stop
        end = following
    if source.text[end : end + 1] in {"{", "["} or not calls:
        calls.append(source.malformed(source.json_problem(end), start))
    return tuple(calls), end


def _read(source: Source, place: int, end: int, start: int) -> tuple[Call, ...]:
    try:
        value = load_json(source.text[place:end])
    except InvalidDocument as error:
        return (source.malformed(str(error), start),)
    if value == []:
        return ()
    if isinstance(value, list) and value and all(_is_nested(item) for item in value):
        value = [{"name": name, "arguments": item[name]} for item in value for name in item]
    read = calls_of(value)
    return (source.malformed("not a call", start),) if read is None else read


def _is_nested(item: Any) -> bool:
    """Tell whether an item is a name with its arguments, as Apertus writes calls."""
    return (
        isinstance(item, dict)
        and len(item) == 1
        and isinstance(next(iter(item.values())), dict)
        and ("function" not in item)
    )


def _plain(item: Any) -> Any:
    """Return a call under the keys of frames of agents and of Cohere as one of name and arguments."""
    if not isinstance(item, dict) or "name" in item or "function" in item:
        return item
    name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), None)
    key = next((key for key in _ARGUMENTS if key in item), None)
    if name is None or key is None:
        return item
    identifier = item.get("tool_call_id", item.get("id"))
    made = {"name": name.removeprefix("functions."), "arguments": item[key]}
    return made if identifier is None else made | {"id": identifier}


def _is_answer(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(name := item.get("name"), str) and name.casefold() in _NO_TOOLS
