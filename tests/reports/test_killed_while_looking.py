"""A source whose worker is killed while it reads is looked at once more by another: told of once, published never."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.fixtures.prepared import prepared_copy
from tests.reports.tool_drift.sources import openapi
from tests.runs.building import TOOLS
from tests.workspace.installation import Installation

pytestmark = pytest.mark.servers
DRIVER = "tests.reports.drift_driver"


def test_a_worker_killed_while_it_looks_leaves_the_look_to_another(tmp_path, applications):
    prepared_copy(applications.prepared, tmp_path / "data", sample=False)
    arrived, goes_on, asked = threading.Event(), threading.Event(), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            arrived.set()
            goes_on.wait(60)
            body = json.dumps(openapi(TOOLS)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with Installation(tmp_path / "data", TOOLEVALS_AGENT_NETWORKS="*") as installation:
            installation.drive("begin", server.server_port, DRIVER)
            worker = installation.worker()
            assert arrived.wait(60), installation.log()
            installation.kill(worker)
            goes_on.set()
            installation.drive("time_out", 0, DRIVER)
            installation.worker()
            assert installation.drive("wait", 0, DRIVER) == ["", 0, 1, 1], installation.log()
        assert len(asked) == 2
    finally:
        goes_on.set()
        server.shutdown()
        server.server_close()
