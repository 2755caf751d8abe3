"""Offer a site whose OpenAPI document can be changed, and what tests of sources ask of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from reports.tool_drift.queries import source_of, source_view
from reports.tool_drift.services import look_ask, sources_look
from tests.runs.building import EXAMPLES, TOOLS
from toolevals.registry.models import ToolSource


def openapi(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an OpenAPI document whose operations are these tools."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "paths": {
            f"/{tool['name']}": {
                "post": {
                    "operationId": tool["name"],
                    "description": tool["description"],
                    "parameters": [
                        {
                            "name": name,
                            "in": "query",
                            "required": name in tool["input_schema"].get("required", []),
                            "schema": part,
                        }
                        for name, part in tool["input_schema"]["properties"].items()
                    ],
                    "responses": {"200": {"description": "Done."}},
                }
            }
            for tool in tools
        },
    }


class Site:
    """A server whose answer can be changed: `status`, `headers`, `body`; `asked` holds what was sent to it."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 200, dict[str, str](), b""
        self.asked: list[dict[str, str]] = []
        self.url = ""

    def show(self, tools: list[dict[str, Any]]) -> None:
        self.body = json.dumps(openapi(tools)).encode()


@contextmanager
def site_over_http() -> Iterator[Site]:
    found = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(dict(self.headers))
            self.send_response(found.status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            self.wfile.write(found.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found.url = f"http://127.0.0.1:{server.server_port}/openapi.json"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


def looked(source: ToolSource) -> Any:
    """Look at a source, and return what its page shows."""
    look_ask(source=source)
    assert sources_look() == 1
    return view_of(source)


def view_of(source: ToolSource) -> Any:
    found = source_of(source.registry)
    assert found is not None
    return source_view(found)


def with_changes() -> list[dict[str, Any]]:
    """Return the tools with one that breaks, one that is worded otherwise, and one that is new."""
    tools = json.loads(json.dumps(TOOLS))
    tools[0]["input_schema"]["properties"]["order_id"]["pattern"] = "^A-[0-9]{5}$"
    tools[1]["description"] += " Newest first."
    return [*tools, {**TOOLS[2], "name": "cancel_order"}]


def offered(registry: Any) -> list[dict[str, Any]]:
    """Return the tools of a registry's newest version, as examples offer them."""
    entries = registry.versions.first().tools.entries.select_related("spec")
    return [entry.spec.document for entry in entries]


def examples(registry: Any) -> list[dict[str, Any]]:
    return [{**row, "tools": offered(registry)} for row in EXAMPLES]
