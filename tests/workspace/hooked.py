"""A server that webhooks are posted to, which answers as a test says and checks who sent it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """A server that keeps what came. `answers` are given one after the other, the last again and again."""

    def __init__(self) -> None:
        self.url = ""
        self.answers: list[tuple[int, dict[str, str], bytes]] = [(204, {}, b"")]
        self.came: list[tuple[dict[str, str], bytes]] = []
        # Held until it is set: a server that does not answer.
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.arrived = threading.Event()

    def messages(self) -> list[Any]:
        return [json.loads(body) for _, body in self.came]

    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.came]


def is_signed(headers: dict[str, str], body: bytes, secret: str) -> bool:
    """Check as the standard says, in other words than ours: https://www.standardwebhooks.com."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    assert len(key) >= 24
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 60
    content = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    wanted = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return f"v1,{wanted}" in headers["webhook-signature"].split(" ")


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Serve on a port of this machine while the block lasts."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.came.append(({name.lower(): value for name, value in self.headers.items()}, body))
            receiver.arrived.set()
            receiver.goes_on.wait(60)
            status, headers, answer = receiver.answers[0]
            if len(receiver.answers) > 1:
                receiver.answers.pop(0)
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            except OSError:
                # Who asked has gone.
                return

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return

    # As long as that of other servers: else connections that come at once are refused.
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}/in?key=hush"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.goes_on.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
