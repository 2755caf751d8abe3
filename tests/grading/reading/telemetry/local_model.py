"""A server on this machine that speaks OpenAI's two protocols by the script of the conversation, and keeps OTLP.

For `make_fixtures.py`: the clients and exporters are the libraries' own.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.grading.reading.parsing.made import conversation as the

USAGE = {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49}


@contextmanager
def local_model() -> Iterator[tuple[str, list[bytes]]]:
    """Yield the server's address and the bodies that were sent to `/v1/traces`, unpacked."""
    with local_model_with_logs() as (address, kept, _):
        yield address, kept


@contextmanager
def local_model_with_logs() -> Iterator[tuple[str, list[bytes], list[bytes]]]:
    """Yield the same, and the bodies that were sent to `/v1/logs`."""
    kept: list[bytes] = []
    logs: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            path = self.path.partition("?")[0]
            if path.endswith(("/traces", "/logs")):
                (kept if path.endswith("/traces") else logs).append(body)
                self._send(b"", "application/x-protobuf")
                return
            answer = (_chat if path.endswith("/chat/completions") else _response)(json.loads(body))
            self._send(json.dumps(answer).encode(), "application/json")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", kept, logs
    finally:
        server.shutdown()


def _turn(items: list[dict[str, Any]]) -> tuple[int, bool]:
    """Return the place of the turn, and whether its tools have answered."""
    asked = sum(item.get("role") == "user" for item in items)
    last = items[-1]
    return asked - 1, last.get("role") == "tool" or last.get("type") == "function_call_output"


def _chat(request: dict[str, Any]) -> dict[str, Any]:
    turn, answered = _turn(request["messages"])
    message: dict[str, Any] = {"role": "assistant", "content": the.ANSWERS[turn]}
    if not answered:
        calls = [
            {"id": key, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for key, name, arguments in the.CALLS[turn]
        ]
        message = {"role": "assistant", "content": the.LOOKING if turn == 0 else None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "stop" if answered else "tool_calls"}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000, "model": request["model"]}
    return head | {"choices": [choice], "usage": USAGE}


def _response(request: dict[str, Any]) -> dict[str, Any]:
    given = request["input"]
    items = given if isinstance(given, list) else [{"role": "user", "content": given}]
    turn, answered = _turn(items)
    output: list[dict[str, Any]] = []
    if answered or turn == 0:
        part = {"type": "output_text", "text": the.ANSWERS[turn] if answered else the.LOOKING, "annotations": []}
        output.append({"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]})
    if not answered:
        output += [
            {"id": f"f{key}", "type": "function_call", "call_id": key, "name": name, "arguments": json.dumps(arguments)}
            for key, name, arguments in the.CALLS[turn]
        ]
    counts = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 40, "output_tokens": 9, "total_tokens": 49} | counts
    head = {"id": "resp_1", "object": "response", "created_at": 1_760_000_000, "model": request["model"]}
    rest = {
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": request.get("tools", []),
    }
    return head | rest | {"output": output, "usage": usage}


def main() -> None:
    """Serve until the input ends, for clients that are no Python; print the address."""
    import sys

    with local_model() as (address, _):
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
