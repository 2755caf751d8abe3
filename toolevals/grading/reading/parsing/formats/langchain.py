"""Reads LangChain and LangGraph messages as dicts: `{"type": "ai", "tool_calls": [{"name", "args", "id"}]}`.

Plain, as they are dumped, or in the state of a graph. Source: langchain_core.messages (`messages_to_dict`, `dumpd`,
`model_dump`), langgraph (`StateSnapshot`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from toolevals.grading.reading.parsing.calls import called, calls_in, joined_calls
from toolevals.grading.reading.parsing.content import PART_LOSSES, part_said, result_said, said
from toolevals.grading.reading.parsing.extras import MEASURE_KEYS, REASONING, measures_in
from toolevals.grading.reading.parsing.formats.transcript_format import (
    Item,
    Opened,
    Placed,
    TranscriptFormat,
    kind_of,
    listed,
)
from toolevals.grading.reading.parsing.json_calls import call_in, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import Turn
from toolevals.grading.values import Call, MalformedCall, Message, ToolCall
from toolevals.json_types import JsonValue

_ROLES = {
    "human": "user", "HumanMessage": "user", "HumanMessageChunk": "user",
    "ai": "assistant", "AIMessage": "assistant", "AIMessageChunk": "assistant",
    "tool": "tool", "ToolMessage": "tool", "function": "tool", "FunctionMessage": "tool",
    "ToolMessageChunk": "tool", "FunctionMessageChunk": "tool",
    "system": "system", "SystemMessage": "system", "SystemMessageChunk": "system",
    "developer": "developer", "remove": "",
}  # fmt: skip
_CHUNK = "AIMessageChunk"
_OUTSIDE = frozenset({"lc", "type", "id", "kwargs", "name", "graph", "data"})
_BESIDE = frozenset({
    "type", "content", "id", "name", "response_metadata", "additional_kwargs", "example", "chunk_position",
    *MEASURE_KEYS,
})  # fmt: skip
_OF_SPEAKERS = _BESIDE | {"tool_calls", "invalid_tool_calls", "tool_call_chunks"}
_OF_RESULTS = _BESIDE | {"tool_call_id", "status", "artifact"}
# Kinds of blocks that repeat what stands in `tool_calls`.
_REPEATED = frozenset({"tool_use", "tool_call", "function_call", "tool_call_chunk", "invalid_tool_call"})


def _sign(item: Item) -> str | None:
    return f"a message is of type `{_kind(item)}`" if "role" not in item and _accepts(item) else None


def _accepts(item: Item) -> bool:
    return bool(_ROLES.get(_kind(item))) and isinstance(_fields(item), dict)


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    """Read messages. A tool's message with status "error" is an error; `invalid_tool_calls` are malformed."""
    for pointer, item in _whole(items):
        role, fields, here = _ROLES[_kind(item)], _fields(item), pointer + _below(item)
        if fields is not item:
            account.rest(item, _OUTSIDE, pointer)
        account.rest(fields, _OF_RESULTS if role == "tool" else _OF_SPEAKERS, here)
        if role == "tool":
            if fields.get("artifact"):
                account.lost(f"{here}/artifact", "artifact")
            name = fields.get("name")
            message = Message(
                "tool",
                result_said(fields.get("content"), f"{here}/content", account),
                call_id=identifier_in(fields, "tool_call_id"),
                is_error=fields.get("status") == "error",
                measures=measures_in(fields),
            )
            yield Turn(message, name if isinstance(name, str) else None)
        else:
            calls = _calls(fields, here, account)
            words = _words(fields.get("content"), f"{here}/content", bool(calls), account)
            yield Turn(Message(role, words, calls, measures=measures_in(fields)))


def _whole(items: Iterable[Placed]) -> Iterator[Placed]:
    """Yield the items, with chunks of one message that follow each other put together."""
    for (is_chunk, _), group in groupby(items, key=lambda placed: _message_of(placed[1])):
        some = list(group)
        if is_chunk and len(some) > 1:
            yield some[0][0], _joined([_fields(item) for _, item in some])
        else:
            yield from some


def _message_of(item: Item) -> tuple[bool, Any]:
    """Return whether an item is a chunk, and by what it is known to be of one message with its neighbours."""
    is_chunk = _kind(item) == _CHUNK
    identifier = _fields(item).get("id") if is_chunk else None
    return is_chunk, identifier if isinstance(identifier, str) else None


def _joined(chunks: list[Item]) -> Item:
    contents = [chunk.get("content") or "" for chunk in chunks]
    if all(isinstance(content, str) for content in contents):
        content: JsonValue = "".join(contents)
    else:
        content = [part for each in contents for part in (each if isinstance(each, list) else [each]) if part]
    whole = {key: value for chunk in chunks for key, value in chunk.items() if value}
    pieces = [chunk["tool_call_chunks"] for chunk in chunks if chunk.get("tool_call_chunks")]
    if pieces:
        # What each chunk holds as `tool_calls` was read from its piece alone.
        whole |= {"tool_calls": joined_calls(pieces), "invalid_tool_calls": [], "tool_call_chunks": []}
    return {**whole, "type": _CHUNK, "content": content}


def _words(content: object, pointer: str, called_already: bool, account: Account) -> str | None:
    """Return the text of the content. Blocks of calls repeat the calls next to it; without those they are refused."""
    if not (called_already and isinstance(content, list)):
        return said(content, pointer, account)
    texts = [
        part_said(part, f"{pointer}/{place}", account)
        for place, part in enumerate(content)
        if kind_of(part) not in _REPEATED
    ]
    return "\n".join(text for text in texts if text is not None) or None


def _calls(fields: Item, pointer: str, account: Account) -> tuple[Call, ...]:
    bad, here = fields.get("invalid_tool_calls"), f"{pointer}/invalid_tool_calls"
    bad = bad if isinstance(bad, list) else []
    calls = (
        *calls_in(fields.get("tool_calls"), f"{pointer}/tool_calls", account),
        *(_invalid(item, f"{here}/{place}", account) for place, item in enumerate(bad)),
    )
    if not calls and fields.get("tool_call_chunks"):
        calls = tuple(map(call_in, joined_calls([fields["tool_call_chunks"]])))
    beside = fields.get("additional_kwargs")
    if not isinstance(beside, dict):
        return calls
    # Old dumps have the provider's own calls here alone; new ones have them twice.
    if not calls:
        there = f"{pointer}/additional_kwargs"
        calls = (
            *calls_in(beside.get("tool_calls"), f"{there}/tool_calls", account),
            *calls_in(beside.get("function_call"), f"{there}/function_call", account),
        )
    _leave(beside, f"{pointer}/additional_kwargs", account)
    return calls


def _leave(beside: Item, pointer: str, account: Account) -> None:
    for key, value in beside.items():
        if value and key in {*PART_LOSSES, "reasoning_content"}:
            account.lost(f"{pointer}/{key}", PART_LOSSES.get(key, REASONING), value)


def _invalid(item: JsonValue, pointer: str, account: Account) -> MalformedCall:
    called(item, pointer, account)
    call = call_in(item)
    if isinstance(call, ToolCall):
        # We can read what LangChain could not; the agent's own loop did not run it.
        error = item.get("error")
        reason = error if isinstance(error, str) and error else "LangChain could not read the call"
        return MalformedCall(reason, name=call.name, id=call.id)
    return call


def _kind(item: Item) -> str:
    if "lc" in item and isinstance(path := item.get("id"), list) and path:
        return path[-1] if isinstance(path[-1], str) else ""
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def _fields(item: Item) -> Any:
    return item.get("kwargs") if "lc" in item else item.get("data", item)


def _below(item: Item) -> str:
    return "/kwargs" if "lc" in item else "/data" if "data" in item else ""


def _opens(document: Item) -> Opened | None:
    """Find the messages in the state of a graph (`values`)."""
    values = document.get("values")
    if isinstance(values, dict) and isinstance(messages := values.get("messages"), list):
        why = "the document has `messages` in `values`, as the state of a graph"
        further = tuple((f"/values/{key}", "state of the graph") for key in values if key != "messages" and values[key])
        read = frozenset({"values", "next", "config", "metadata", "created_at", "parent_config", "tasks", "interrupts",
                          "checkpoint", "checkpoint_id", "parent_checkpoint", "parent_checkpoint_id"})  # fmt: skip
        return Opened(listed(messages, "/values/messages"), "/values/messages", why, read=read, further=further)
    return None


LANGCHAIN = TranscriptFormat(
    name="langchain",
    label="LangChain, LangGraph",
    sign=_sign,
    accepts=_accepts,
    item="a message with LangChain's type",
    turns=_turns,
    calls_at="`tool_calls` of a message of type `ai`",
    keys=frozenset({"type", "data", "lc", "kwargs", "values", "human", "ai", *_OF_SPEAKERS, *_OF_RESULTS}),
    made_by="library: langchain-core 1.7, langgraph 1.2",
    losses=("reasoning", "image", "audio", "file", "citation", "artifact", "state of the graph", PROVIDER_RUN),
    opens=_opens,
)
