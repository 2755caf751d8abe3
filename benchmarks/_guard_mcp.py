"""Measures what `toolevals guard-mcp` adds to a call: the same calls with and without it, in turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import IO, Any

from benchmarks.row import Row

CALLS = 2_000
# Milliseconds.
TARGET = 3.0
# A server that does nothing but answer.
SERVER = """
import json, sys
schema = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
for line in sys.stdin:
    message = json.loads(line)
    result = {"tools": [{"name": "echo", "inputSchema": schema}]}
    if message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
RULES: Mapping[str, Any] = {
    "schema": {"kind": "schema", "mode": "enforce"},
    "blocked": {"kind": "blocked", "mode": "enforce", "tools": ["drop_all"]},
    "rates": {"kind": "tool_rates", "mode": "enforce", "a_minute": {"*": 1_000_000}},
    "patterns": {"kind": "patterns", "mode": "enforce"},
    "injected": {"kind": "injection", "mode": "enforce"},
}
SHORT = "The parcel came on Monday."
PAGE = "The parcel left the house on Monday and comes on Friday. " * 100


def rows() -> Iterator[Row]:
    """Measure calls with and without the guard, of a short text and of a page."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        policy = Path(folder) / "policy.json"
        policy.write_text(json.dumps({"rules": RULES, "deadline_ms": 10_000}), encoding="utf-8")
        server = [sys.executable, "-c", SERVER]
        guarded = [sys.executable, "-m", "toolevals.cli.main", "guard-mcp", "--policy", str(policy), "--", *server]
        with _peer(server) as plain, _peer(guarded) as through:
            for what, text in (("a short text", SHORT), ("5,700 characters", PAGE)):
                added = _added(plain, through, text)
                percentiles = quantiles(added, n=20)
                name = f"added to a call through guard-mcp, {what}"
                yield Row(f"{name}: median", percentiles[9], "ms", target=TARGET, better="lower")
                yield Row(f"{name}: 95th percentile", percentiles[18], "ms", target=TARGET, better="lower")


class _Peer:
    """A server as its client sees it."""

    def __init__(self, told: IO[bytes], heard: IO[bytes]) -> None:
        self._told, self._heard = told, heard
        self._number = 0

    def call(self, text: str) -> float:
        """Return how many milliseconds a call takes."""
        self._number += 1
        params = {"name": "echo", "arguments": {"text": text}}
        message = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
        line = json.dumps(message).encode() + b"\n"
        begin = time.perf_counter()
        self._told.write(line)
        self._told.flush()
        answer = self._heard.readline()
        took = time.perf_counter() - begin
        if json.loads(answer)["result"].get("isError"):
            raise RuntimeError(f"the usual call is refused: {answer!r}")
        return took * 1000


@contextmanager
def _peer(command: list[str]) -> Iterator[_Peer]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        peer = _Peer(process.stdin, process.stdout)
        peer.call(SHORT)
        yield peer


def _added(plain: _Peer, through: _Peer, text: str) -> list[float]:
    """Return what the guard adds to each of many pairs of calls."""
    return [through.call(text) - plain.call(text) for _ in range(CALLS)]
