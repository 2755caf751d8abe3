"""A server on loopback that speaks the Anthropic Messages protocol, whole and streamed, and answers as a test says.

It refuses what the provider refuses: no version, turns that do not alternate, calls without results, empty texts, ids
and names with signs that the protocol does not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from tests.agents.loopback import Handler, Trouble, broken_stream, playing

# From a request's body to an answer's blocks, or to what goes wrong.
Behaviour = Callable[[dict[str, Any]], "list[dict[str, Any]] | Trouble"]
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class MessagesServer:
    """The server: its address, and every request that it was sent with its headers."""

    def __init__(self, behaviour: Behaviour, stop_reason: str = "") -> None:
        self.behaviour = behaviour
        self.stop_reason = stop_reason
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""


def use(name: str, given: dict[str, Any], identifier: str = "toolu_1") -> dict[str, Any]:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": identifier, "name": name, "input": given}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def error(kind: str, message: str) -> str:
    """Return the body of an error."""
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}})


def messages_server(behaviour: Behaviour, stop_reason: str = "") -> AbstractContextManager[MessagesServer]:
    """Serve until the context ends. `stop_reason` is by default what the blocks say."""
    return playing(_Handler, MessagesServer(behaviour, stop_reason))


class _Handler(Handler):
    server_state: MessagesServer

    def answer(self) -> None:
        body = json.loads(self.body())
        self.server_state.requests.append(body)
        self.server_state.headers.append({name.lower(): value for name, value in self.headers.items()})
        if wrong := _wrong(self.path, self.headers.get("anthropic-version"), body):
            self.trouble(Trouble(400, error("invalid_request_error", wrong)))
            return
        said = self.server_state.behaviour(body)
        if isinstance(said, Trouble):
            self.trouble(said)
        elif body.get("stream"):
            self.send(200, "".join(_events(self._whole(body, said))), "text/event-stream", {})
        else:
            self.send(200, json.dumps(self._whole(body, said)), "application/json", {})

    def _whole(self, body: dict[str, Any], blocks: list[dict[str, Any]]) -> dict[str, Any]:
        called = any(block["type"] == "tool_use" for block in blocks)
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": f"{body['model']}-20260101",
            "content": blocks,
            "stop_reason": self.server_state.stop_reason or ("tool_use" if called else "end_turn"),
            "stop_sequence": None,
            "usage": USAGE,
        }


USAGE = {"input_tokens": 20, "cache_read_input_tokens": 16, "cache_creation_input_tokens": 4, "output_tokens": 7}


def _wrong(path: str, version: str | None, body: dict[str, Any]) -> str:
    """Return what the provider would refuse of a request, empty where nothing."""
    turns = body["messages"]
    if path != "/v1/messages" or not version or "max_tokens" not in body:
        return "path, version or max_tokens"
    if [turn["role"] for turn in turns] != ["user" if place % 2 == 0 else "assistant" for place in range(len(turns))]:
        return "roles must alternate, from user"
    names = [tool["name"] for tool in body.get("tools", [])]
    for before, turn in zip([None, *turns], turns, strict=False):
        blocks = turn["content"]
        names += [block[key] for block in blocks for key in ("id", "name", "tool_use_id") if key in block]
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            return "text content blocks must be non-empty"
        asked = [block["id"] for block in before["content"] if block["type"] == "tool_use"] if before else []
        given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if asked != given:
            return "tool_use ids were found without tool_result blocks immediately after"
    return "" if all(NAME.fullmatch(name) for name in names) else "a name or id has other signs"


def cut_off(blocks: list[dict[str, Any]], kept: int, *, closed: bool) -> Trouble:
    """Return a stream that ends after some of its events, whether its length says so or the connection breaks."""
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": blocks,
             "stop_reason": "tool_use", "stop_sequence": None, "usage": USAGE}  # fmt: skip
    return broken_stream("".join(list(_events(whole))[:kept]), closed=closed)


def _events(answer: dict[str, Any]) -> Iterator[str]:
    """Yield server-sent events: words one by one, arguments in pieces of three characters, pings between."""
    begun = {**answer, "content": [], "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}
    yield _event({"type": "message_start", "message": begun})
    yield _event({"type": "ping"})
    for index, block in enumerate(answer["content"]):
        called = block["type"] == "tool_use"
        shown = "thinking" if block["type"] == "thinking" else "text"
        empty = {**block, "input": {}} if called else {**block, shown: ""}
        yield _event({"type": "content_block_start", "index": index, "content_block": empty})
        for delta in _calls_in(block) if called else _words_in(block):
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": USAGE["output_tokens"]}})
    yield _event({"type": "message_stop"})


def _calls_in(block: dict[str, Any]) -> list[dict[str, Any]]:
    written = block.get("written") or json.dumps(block["input"])
    pieces = [written[start : start + 3] for start in range(0, len(written), 3)] if block["input"] else [""]
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _words_in(block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "thinking":
        return [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": "s"},
        ]
    return [{"type": "text_delta", "text": piece} for piece in re.findall(r"\S+\s*", block.get("text", ""))]


def _event(document: dict[str, Any]) -> str:
    return f"event: {document['type']}\ndata: {json.dumps(document)}\n\n"
