"""A server on loopback that speaks the chat-completions protocol, plain and streamed, and answers as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# From a request's body to an assistant's message, or to what goes wrong.
Behaviour = Callable[[dict[str, Any]], "dict[str, Any] | Trouble"]


class Trouble:
    """An answer that is none: a status with headers and a body."""

    def __init__(self, status: int, body: str = "{}", **headers: str) -> None:
        self.status = status
        self.body = body
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


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


@contextmanager
def chat_server(behaviour: Behaviour) -> Iterator[ChatServer]:
    """Serve until the context ends."""
    played = ChatServer(behaviour)

    class Handler(_Handler):
        server_state = played

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    played.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield played
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server_state: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/chat/completions"
        self.server_state.requests.append(body)
        self.server_state.keys.append(self.headers.get("Authorization", ""))
        answer = self.server_state.behaviour(body)
        if isinstance(answer, Trouble):
            self._send(answer.status, answer.body, "application/json", answer.headers)
        elif body.get("stream"):
            self._send(200, "".join(_events(body, answer)), "text/event-stream", {})
        else:
            self._send(200, json.dumps(_whole(body, answer)), "application/json", {})

    def _send(self, status: int, body: str, kind: str, headers: dict[str, str]) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


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


def _events(body: dict[str, Any], message: dict[str, Any]) -> Iterator[str]:
    """Yield server-sent events: words one by one, arguments in pieces of three characters."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    deltas += [{"content": f"{word} "} for word in (message.get("content") or "").split()]
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
