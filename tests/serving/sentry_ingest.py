"""Takes envelopes as Sentry does, and writes each item as a line of JSON: `python sentry_ingest.py PORT FILE`.

The protocol: a POST to /api/PROJECT/envelope/ with the key in X-Sentry-Auth; a line of headers, then for each item a
line of its headers and as many bytes as they say.
"""

from __future__ import annotations

import gzip
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import brotli


class Ingest(BaseHTTPRequestHandler):
    """Answers one request."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        packed = {"gzip": gzip.decompress, "br": brotli.decompress}.get(self.headers.get("Content-Encoding", ""))
        if packed is not None:
            body = packed(body)
        is_ours = self.path == "/api/1/envelope/" and "sentry_key=public" in self.headers.get("X-Sentry-Auth", "")
        if is_ours:
            with FILE.open("a") as file:
                for item in items(body):
                    file.write(json.dumps({"raw": body.decode(), **item}) + "\n")
        self.send_response(200 if is_ours else 403)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def items(body: bytes) -> list[dict[str, Any]]:
    """Return the items of an envelope."""
    _, _, rest = body.partition(b"\n")
    found = []
    while rest.strip():
        head, _, rest = rest.partition(b"\n")
        says = json.loads(head)
        size = says.get("length", rest.find(b"\n") if b"\n" in rest else len(rest))
        found.append({"type": says["type"], "payload": json.loads(rest[:size])})
        rest = rest[size:].removeprefix(b"\n")
    return found


if __name__ == "__main__":
    FILE = Path(sys.argv[2])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Ingest).serve_forever()
