"""Test what the SDK records is read back by the core as the conversation that it was, with no attribute left unread."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.test_made_by_libraries import CONVERSATION
from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.files.evaluation_files.spans import transcript_messages
from toolevals.grading.reading.telemetry.conventions import reading_of
from toolevals.grading.reading.telemetry.otlp import TelemetrySpan, spans_in
from toolevals.grading.reading.telemetry.reading import SpanReading
from toolevals.sdk import agent_span, chat_span, tool, tool_call, tool_specs

TURNS = ((2, 6), (7, 10))


def exported(exporter: InMemorySpanExporter) -> dict[str, Any]:
    """Return the spans as OTLP in JSON, ids in hexadecimal digits."""
    document = MessageToDict(encode_spans(exporter.get_finished_spans()))
    for each in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in each:
                each[name] = base64.b64decode(each[name]).hex()
    found: dict[str, Any] = document
    return found


def openai(role: str, content: str | None, calls: Any = ()) -> dict[str, Any]:
    made = [
        {"id": key, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for key, name, given in calls
    ]
    return {"role": role, "content": content} | ({"tool_calls": made} if made else {})


def anthropic(role: str, content: str | None, calls: Any = ()) -> dict[str, Any]:
    parts = [{"type": "text", "text": content}] if content else []
    return {
        "role": role,
        "content": [
            *parts,
            *({"type": "tool_use", "id": key, "name": name, "input": given} for key, name, given in calls),
        ],
    }


def openai_result(key: str, said: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": said}


def anthropic_result(key: str, said: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": key, "content": said}]}


def agent(message: Any, result: Any) -> None:
    @tool
    def get_order(id: str) -> dict[str, str]:  # noqa: A002 (the argument's name)
        """Return an order."""
        return the.ORDERS[id]

    @tool
    def get_stock(sku: int) -> int:
        """Return how many there are."""
        raise the.NoSuchSkuError(the.FAILURE)

    run: dict[str, Callable[..., Any]] = {"get_order": get_order, "get_stock": get_stock}
    messages = [{"role": "system", "content": the.SYSTEM}]
    for turn, question in enumerate((the.FIRST, the.SECOND)):
        messages.append({"role": "user", "content": question})
        with agent_span("support", version="3", session="s1", user="u1"):
            with chat_span("model-x", messages, tools=tool_specs("openai"), provider="local") as chat:
                asked = message("assistant", the.LOOKING if turn == 0 else None, the.CALLS[turn])
                chat.answered(asked, model="model-x-1", response_id="r1", input_tokens=40, output_tokens=9)
            messages.append(asked)
            for key, name, given in the.CALLS[turn]:
                try:
                    with tool_call(key):
                        said = json.dumps(run[name](**given), separators=(",", ":"))
                except ValueError as error:
                    said = str(error)
                messages.append(result(key, said))
            with chat_span("model-x", messages, tools=tool_specs("openai")) as chat:
                chat.answered(the.ANSWERS[turn], input_tokens=40, output_tokens=9)
            messages.append(message("assistant", the.ANSWERS[turn]))


@pytest.mark.parametrize("form", [(openai, openai_result), (anthropic, anthropic_result)], ids=["openai", "anthropic"])
def test_a_turn_is_read_back_as_it_was(exporter, form):
    agent(*form)
    found = [each for _, each in evaluation_file(json.dumps(exported(exporter)).encode()).entries()]
    assert len(found) == len(TURNS)
    for entry, (start, end) in zip(found, TURNS, strict=True):
        assert isinstance(entry, Entry)
        assert entry.example is not None
        assert entry.trial is not None
        assert entry.losses == ()
        given = [(each.role, each.content, each.calls) for each in transcript_messages(entry.example.input["messages"])]
        assert given == [(each.role, each.content, each.calls) for each in CONVERSATION[:start]]
        assert list(entry.trial.transcript.messages) == list(CONVERSATION[start:end])
        assert entry.trial.transcript.usage == {"input_tokens": 80, "output_tokens": 18}
        assert isinstance(entry.example.tools, list)
        assert [spec.name for spec in entry.example.tools] == ["get_order", "get_stock"]


def test_every_attribute_is_read(exporter):
    agent(openai, openai_result)
    spans = [span for _, span in spans_in(exported(exporter)) if isinstance(span, TelemetrySpan)]
    readings: list[SpanReading] = [reading_of(span) for span in spans]
    assert {name for reading in readings for name in reading.unread} == set()
    assert {reading.convention for reading in readings} == {"otel_genai"}
    kinds = [reading.kind for reading in readings]
    assert kinds == ["model", "tool", "tool", "model", "agent", "model", "tool", "model", "agent"]
    tools = [reading for reading in readings if reading.kind == "tool"]
    assert [(each.tool, each.call_id, each.given, each.made) for each in tools] == [
        ("get_order", "c1", {"id": "A-1"}, {"state": "sent"}),
        ("get_stock", "c2", {"sku": 7}, None),
        ("get_order", "c3", {"id": "A-2"}, {"state": "lost"}),
    ]
    assert [each.error for each in tools] == [None, the.FAILURE, None]
    agents = [reading for reading in readings if reading.kind == "agent"]
    assert [(each.agent, each.agent_version, each.session, each.user) for each in agents] == [
        ("support", "3", "s1", "u1")
    ] * 2
    roots = {span.trace_id for span in spans if not span.parent_id}
    assert {span.trace_id for span in spans} == roots
