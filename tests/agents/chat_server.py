"""A server on loopback that speaks the chat-completions protocol, plain and streamed, and answers as a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from tests.agents.loopback import Handler, Trouble, broken_stream, playing

__all__ = ["ChatServer", "Trouble", "calls", "chat_server", "says"]

# From a request's body to an assistant's message, or to what goes wrong.
Behaviour = Callable[[dict[str, Any]], "dict[str, Any] | Trouble"]


class ChatServer:
    """The server: its address, and every request that it was sent with its headers."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.url = ""


def calls(*made: tuple[str, str], ids: bool = True) -> dict[str, Any]:
    """Return an assistant's message that makes calls, each a name and the text of its arguments."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"type": "function", "function": {"name": name, "arguments": text}} | ({"id": f"id-{n}"} if ids else {})
            for n, (name, text) in enumerate(made)
        ],
    }


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def chat_server(behaviour: Behaviour) -> AbstractContextManager[ChatServer]:
    """Serve until the context ends."""
    return playing(_Handler, ChatServer(behaviour), "/v1")


class _Handler(Handler):
    server_state: ChatServer

    def answer(self) -> None:
        body = json.loads(self.body())
        assert self.path == "/v1/chat/completions"
        self.server_state.requests.append(body)
        self.server_state.keys.append(self.headers.get("Authorization", ""))
        said = self.server_state.behaviour(body)
        if isinstance(said, Trouble):
            self.trouble(said)
        elif body.get("stream"):
            self.send(200, "".join(_events(body, said)), "text/event-stream", {})
        else:
            self.send(200, json.dumps(_whole(body, said)), "application/json", {})


USAGE = {
    "prompt_tokens": 40,
    "completion_tokens": 7,
    "total_tokens": 47,
    "prompt_tokens_details": {"cached_tokens": 16},
}


def _whole(body: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{body['model']}-2026-01-01",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": USAGE,
    }


def cut_off(message: dict[str, Any], kept: int, *, closed: bool) -> Trouble:
    """Return a stream that ends after some of its events, whether its length says so or the connection breaks."""
    events = list(_events({"model": "small"}, message))[:kept]
    return broken_stream("".join(events), closed=closed)


def _events(body: dict[str, Any], message: dict[str, Any]) -> Iterator[str]:
    """Yield server-sent events: words one by one, arguments in pieces of three characters."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    deltas += [{"content": f"{word} "} for word in (message.get("content") or "").split()]
    # What else a message says comes in two pieces, where it is text.
    for key in message.keys() - {"role", "content", "tool_calls"}:
        value = message[key]
        deltas += [{key: part} for part in ((value[:3], value[3:]) if isinstance(value, str) else (value,))]
    for index, call in enumerate(message.get("tool_calls") or []):
        function = call["function"]
        deltas.append({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
        text = function["arguments"]
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": text[start : start + 3]}}]}
            for start in range(0, len(text), 3)
        ]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": f"{body['model']}-2026-01-01"}
    for delta in deltas:
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield _event({**head, "choices": [], "usage": USAGE})
    yield "data: [DONE]\n\n"


def _event(document: dict[str, Any]) -> str:
    return f"data: {json.dumps(document)}\n\n"
