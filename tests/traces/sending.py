"""Exports of traces as agents send them: small conversations by OpenTelemetry's conventions, in both encodings."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from django.test import Client
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from toolevals.traces.intake.models import keys_split
from toolevals.traces.models import SpanChunk, Trace
from toolevals.workspace.models import Project, Role, TokenScope, User
from toolevals.workspace.tokens.services import token_create

URL = "/v1/traces"
JSON, PROTOBUF = "application/json", "application/x-protobuf"
START = 1_795_000_000_000_000_000
TRACE = "0af7651916cd43dd8448eb211c80319c"
TOOL = {
    "type": "function",
    "name": "get_order",
    "description": "Reads an order.",
    "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
}


def value_of(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def span(number: int, name: str, *, trace: str = TRACE, parent: int = 0, ms: int = 10, **more: Any) -> dict[str, Any]:
    """Return a span of OTLP's JSON; `attributes` are plain values by their names."""
    start = START + number * 1_000_000_000
    attributes: Mapping[str, Any] = more.pop("attributes", {})
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + ms * 1_000_000),
        "attributes": [{"key": key, "value": value_of(value)} for key, value in attributes.items()],
        **more,
    }


def conversation(
    trace: str = TRACE,
    *,
    arguments: Any = None,
    result: str = "shipped",
    asked: str = "Where is my order 7?",
    answer: str = "",
    **root: Any,
) -> list[dict[str, Any]]:
    """Return the spans of one conversation: the agent, the model's call of a tool, the tool, and the answer."""
    call = {
        "type": "tool_call",
        "id": "c1",
        "name": "get_order",
        "arguments": {"id": "7"} if arguments is None else arguments,
    }
    told = [{"role": "user", "parts": [{"type": "text", "content": asked}]}]
    said = [{"role": "assistant", "parts": [call], "finish_reason": "tool_call"}]
    answered = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": result}]}]
    end = [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": answer or f"It is {result}."}],
            "finish_reason": "stop",
        }
    ]
    model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "small-1", "gen_ai.tool.definitions": [TOOL]}
    usage = {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20}
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "shop",
        "gen_ai.conversation.id": "s-1",
        **root,
    }
    return [
        span(1, "invoke_agent shop", trace=trace, ms=4000, attributes=agent),
        span(2, "chat small-1", trace=trace, parent=1, attributes={
            **model, **usage, "gen_ai.input.messages": told, "gen_ai.output.messages": said,
        }),
        span(3, "execute_tool get_order", trace=trace, parent=1, ms=250, attributes={
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order", "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": call["arguments"], "gen_ai.tool.call.result": result, "shop.shard": "eu-7",
        }),
        span(4, "chat small-1", trace=trace, parent=1, attributes={
            **model, **usage, "gen_ai.input.messages": told + said + answered, "gen_ai.output.messages": end,
        }),
    ]  # fmt: skip


def export(*spans: Mapping[str, Any], version: str = "1.4.0") -> dict[str, Any]:
    """Return spans as an export of one process."""
    resource = {"service.name": "shop-agent", "service.version": version}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [{"key": key, "value": value_of(each)} for key, each in resource.items()]},
                "scopeSpans": [{"scope": {"name": "shop"}, "spans": list(spans)}],
            }
        ]
    }


def packed(document: Mapping[str, Any]) -> bytes:
    """Return an export in protobuf."""
    turned = json.loads(json.dumps(document))
    for resource_spans in turned["resourceSpans"]:
        for scope_spans in resource_spans["scopeSpans"]:
            for each in scope_spans["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    each[key] = base64.b64encode(bytes.fromhex(each[key])).decode()
    return bytes(json_format.ParseDict(turned, ExportTraceServiceRequest()).SerializeToString())


def sender(project: Project, user: User, *, scope: TokenScope = TokenScope.TRACES, role: Role = Role.VIEWER) -> str:
    """Create a token that sends traces, and return its header."""
    return f"Bearer {token_create(project=project, actor=user, user=user, name='agent', role=role, scope=scope)[1]}"


def send(client: Client, token: str, document: Any, *, content_type: str = JSON, **headers: str) -> Any:
    """Send an export; bytes go as they are."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return client.post(URL, body, content_type=content_type, headers={"Authorization": token, **headers})


def stored_keys(trace: Trace | None = None) -> list[tuple[Any, str]]:
    """Return the keys that are stored of all traces, or of one, each with its trace. None may be stored twice."""
    chunks = SpanChunk.objects.all() if trace is None else trace.chunks.all()
    found = [(each.trace_id, key) for each in chunks for key in keys_split(each.keys)]
    assert len(found) == len(set(found))
    return found
