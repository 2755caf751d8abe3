"""A simulator on loopback, as somebody would write one: worlds by name, tools that change them."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

INITIAL = {"orders": {"A-1": "paid"}}
# What a test makes of a request before the service sees it: an answer with its status, or None to go on.
Interruption = Callable[[str, dict[str, Any]], "tuple[int, bytes] | None"]


def cancel(state: dict[str, Any], order_id: str) -> Any:
    """Cancel an order that there is."""
    if order_id not in state["orders"]:
        return {"error": f"no order {order_id}"}
    state["orders"][order_id] = "cancelled"
    return {"result": {"cancelled": order_id}}


TOOLS: Mapping[str, Callable[..., Any]] = {"cancel": cancel}


class WorldServer:
    """The service: its address, its worlds, and what it was sent."""

    def __init__(self, interrupt: Interruption) -> None:
        self.interrupt = interrupt
        self.url = ""
        self.worlds: dict[str, Any] = {}
        self.keys: list[str] = []

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Return the answer to a request."""
        world = body["world"]
        if path == "/sim/reset":
            self.worlds[world] = copy.deepcopy(INITIAL) if body["state"] is None else body["state"]
            return {}
        if path == "/sim/state":
            return {"state": self.worlds[world]}
        tool = TOOLS.get(body["tool"])
        return tool(self.worlds[world], **body["arguments"]) if tool else {"missing": True}


@contextmanager
def world_server(interrupt: Interruption = lambda _path, _body: None, port: int = 0) -> Iterator[WorldServer]:
    """Serve until the context ends, at this port or any."""
    served = WorldServer(interrupt)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.keys.append(self.headers.get("Authorization", ""))
            status, data = served.interrupt(self.path, body) or (
                200,
                json.dumps(served.answer(self.path, body)).encode(),
            )
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_port}/sim"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
