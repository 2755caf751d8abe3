"""Makes batches of spans as an agent sends them: conversations of sixteen spans, in protobuf."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SPANS, PER_TRACE = 512, 16
START = 1_795_000_000_000_000_000


def batch(chance: Random) -> bytes:
    """Return a batch: the agent, then models and tools in turns, each model's call with all that was said before."""
    request = ExportTraceServiceRequest()
    resource_spans = request.resource_spans.add()
    _put(resource_spans.resource, "service.name", "shop-agent")
    scope_spans = resource_spans.scope_spans.add()
    scope_spans.scope.name = "bench"
    for number in range(SPANS // PER_TRACE):
        _conversation(scope_spans, number, chance)
    return bytes(request.SerializeToString())


def _conversation(scope_spans: Any, number: int, chance: Random) -> None:
    trace, root, start = chance.randbytes(16), chance.randbytes(8), START + number * 10**9
    said: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"type": "text", "content": f"Where is order {chance.randrange(10**6)}? " * 8}]}
    ]
    for place in range(PER_TRACE):
        span = scope_spans.spans.add()
        span.trace_id, span.span_id = trace, chance.randbytes(8) if place else root
        span.parent_span_id = root if place else b""
        span.start_time_unix_nano = start + place * 10**7
        span.end_time_unix_nano = span.start_time_unix_nano + chance.randrange(10**6, 10**8)
        if not place:
            span.name = "invoke_agent shop"
            _put_all(span, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"})
            _put(span, "gen_ai.conversation.id", chance.randbytes(4).hex())
        elif place % 2:
            call = {"type": "tool_call", "id": f"c{place}", "name": f"tool_{place % 5}", "arguments": {"id": place}}
            made = {"role": "assistant", "parts": [call]}
            span.name = "chat small-1"
            _put_all(span, {
                "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "small-1",
                "gen_ai.input.messages": json.dumps(said), "gen_ai.output.messages": json.dumps([made]),
                "gen_ai.response.model": "small-1-2026", "gen_ai.response.id": chance.randbytes(8).hex(),
            })  # fmt: skip
            span.attributes.add(key="gen_ai.usage.input_tokens").value.int_value = 800
            span.attributes.add(key="gen_ai.usage.output_tokens").value.int_value = 40
            result = {"type": "tool_call_response", "id": f"c{place}", "response": f"Order {place} " + "x" * 200}
            said += [made, {"role": "tool", "parts": [result]}]
        else:
            span.name = f"execute_tool tool_{(place - 1) % 5}"
            _put_all(span, {
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"tool_{(place - 1) % 5}",
                "gen_ai.tool.call.id": f"c{place - 1}", "gen_ai.tool.call.arguments": json.dumps({"id": place - 1}),
                "gen_ai.tool.call.result": f"Order {place - 1} " + "x" * 200,
            })  # fmt: skip


def _put_all(holder: Any, values: dict[str, str]) -> None:
    for key, value in values.items():
        _put(holder, key, value)


def _put(holder: Any, key: str, value: str) -> None:
    holder.attributes.add(key=key).value.string_value = value
