"""OpenTelemetry's own SDK and exporter, unmodified, send to the running application."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult

pytestmark = pytest.mark.servers

SETUP = """
from toolevals.workspace.models import Role, TokenScope
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.tokens.services import token_create
from toolevals.workspace.accounts.services import user_create
owner = user_create(actor=None, email="o@example.org", name="O")
project = project_create(actor=owner, slug="shop", name="Shop")
made = token_create(project=project, actor=owner, user=owner, name="agent", role=Role.VIEWER, scope=TokenScope.TRACES)
print(made[1])
"""
STATE = """
import json
from toolevals.traces.models import SpanChunk, Trace
from toolevals.traces.intake.models import keys_split
print(json.dumps({
    "spans": sum(len(keys_split(each.keys)) for each in SpanChunk.objects.all()),
    "traces": [[each.name, each.spans, each.is_whole, each.calls, each.input_tokens] for each in Trace.objects.all()],
}))
"""


@pytest.fixture(scope="module")
def app(live_app_start):
    """An application that sums traces up at once."""
    return live_app_start(TRACES_QUIET_SECONDS="0")


@pytest.fixture(scope="module")
def header(app) -> str:
    return f"Bearer {app.python(SETUP).strip()}"


def conversation(provider: TracerProvider) -> None:
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("invoke_agent shop") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"})
        with tracer.start_as_current_span("chat") as chat:
            told = [{"role": "user", "parts": [{"type": "text", "content": "Where is order 7?"}]}]
            call = {"type": "tool_call", "id": "c", "name": "get_order", "arguments": {"id": "7"}}
            chat.set_attributes({
                "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 9,
                "gen_ai.input.messages": json.dumps(told),
                "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [call]}]),
            })  # fmt: skip
        with tracer.start_as_current_span("execute_tool get_order") as tool:
            tool.set_attributes({
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order", "gen_ai.tool.call.id": "c",
                "gen_ai.tool.call.result": "shipped",
            })  # fmt: skip


def until(look: Callable[[], Any], wanted: Callable[[Any], bool]) -> Any:
    end = time.monotonic() + 60
    while not wanted(found := look()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


@pytest.mark.parametrize("compression", [Compression.Gzip, Compression.NoCompression, Compression.Deflate], ids=str)
def test_the_exporter_s_spans_become_a_trace(app, header, compression):
    before = json.loads(app.python(STATE))
    exporter = OTLPSpanExporter(
        f"{app.url}/v1/traces", headers={"Authorization": header}, compression=compression, timeout=10
    )
    provider = TracerProvider(resource=Resource.create({"service.name": "shop-agent"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    conversation(provider)
    provider.shutdown()
    if compression is Compression.Deflate:
        # Refused by name: the exporter logs it, and nothing is stored.
        assert json.loads(app.python(STATE)) == before
        return
    state = until(lambda: json.loads(app.python(STATE)), lambda found: found["traces"][-1:] == WHOLE)
    assert state["spans"] == before["spans"] + 3
    assert state["traces"] == [*before["traces"], *WHOLE]


WHOLE = [["shop", 3, True, 1, 9]]


def test_a_token_that_sends_nothing_is_told_so(app):
    exporter = OTLPSpanExporter(f"{app.url}/v1/traces", headers={"Authorization": "Bearer te_nobody"})
    assert exporter.export([]) is SpanExportResult.FAILURE
