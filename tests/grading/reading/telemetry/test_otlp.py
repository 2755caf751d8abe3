"""OTLP in JSON: values, ids and times as the protocol writes them, and clear refusals of everything else."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.reading.telemetry.otlp import MAX_VALUE_DEPTH, TelemetrySpan, attributes_of, spans_in
from toolevals.grading.values import ToolCall
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.problems import InvalidDocument

TRACE, ROOT, CHILD = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174", "eee19b7ec3c1b173"


def attribute(name: str, value: Any) -> dict[str, Any]:
    kinds = {str: "stringValue", bool: "boolValue", int: "intValue", float: "doubleValue"}
    return {"key": name, "value": {kinds[type(value)]: str(value) if type(value) is int else value}}


def span(identifier: str = ROOT, parent: str = "", **fields: Any) -> dict[str, Any]:
    given = {"traceId": TRACE.upper(), "spanId": identifier, "parentSpanId": parent, "name": "turn"}
    times = {"startTimeUnixNano": "1544712660000000000", "endTimeUnixNano": 1544712661000000000}
    return given | times | fields


def export(*spans: dict[str, Any], **resource: Any) -> dict[str, Any]:
    scope = {"scope": {"name": "shop", "version": "2"}, "schemaUrl": "https://example.org/1.30", "spans": list(spans)}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def read(document: dict[str, Any]) -> list[Any]:
    return [found for _, found in spans_in(document)]


def test_a_span_is_read_with_its_resource_scope_events_and_status():
    event = {"name": "exception", "timeUnixNano": "5", "attributes": [attribute("exception.message", "gone")]}
    status = {"code": 2, "message": "it broke"}
    (found,) = read(
        export(
            span(attributes=[attribute("retries", 3), attribute("ok", False)], events=[event], status=status),
            attributes=[attribute("service.name", "shop")],
        )
    )
    assert isinstance(found, TelemetrySpan)
    assert (found.trace_id, found.span_id, found.parent_id) == (TRACE, ROOT, "")
    assert (found.start, found.end) == (1544712660000000000, 1544712661000000000)
    assert (dict(found.attributes), found.resource) == ({"retries": 3, "ok": False}, {"service.name": "shop"})
    assert (found.status, found.status_message, found.events[0].attributes) == (
        "error",
        "it broke",
        {"exception.message": "gone"},
    )
    assert (found.scope, found.scope_version, found.schema_url) == ("shop", "2", "https://example.org/1.30")


def test_every_kind_of_value_is_read():
    nested = {"kvlistValue": {"values": [{"key": "a", "value": {"arrayValue": {"values": [{"intValue": "7"}, {}]}}}]}}
    values = {
        "nested": nested,
        "bytes": {"bytesValue": "aGk="},
        "nan": {"doubleValue": "NaN"},
        "large": {"intValue": "9223372036854775807"},
        "empty": {"arrayValue": {}},
        "none": {},
    }
    found = attributes_of([{"key": name, "value": value} for name, value in values.items()], "")
    assert found == {
        "nested": {"a": [7, None]},
        "bytes": "aGk=",
        "nan": "NaN",
        "large": 2**63 - 1,
        "empty": [],
        "none": None,
    }


DEEP: Any = {"stringValue": "x"}
for _ in range(MAX_VALUE_DEPTH + 1):
    DEEP = {"arrayValue": {"values": [DEEP]}}


@pytest.mark.parametrize(
    ("changed", "pointer", "message"),
    [
        ({"traceId": "AAAAAAAAAAAAAAAAAAAAAA=="}, "/traceId", "hexadecimal"),
        ({"spanId": "0" * 16}, "/spanId", "not all of them 0"),
        ({"parentSpanId": "xyz"}, "/parentSpanId", "hexadecimal"),
        ({"startTimeUnixNano": "-5"}, "/startTimeUnixNano", "nanoseconds"),
        ({"endTimeUnixNano": "1e9"}, "/endTimeUnixNano", "whole number"),
        ({"attributes": {"a": 1}}, "/attributes", "list of keys and values"),
        ({"attributes": [{"value": {"intValue": 1}}]}, "/attributes/0/key", "missing"),
        ({"attributes": [{"key": "a", "value": "b"}]}, "/attributes/0/value", "value of OTLP"),
        ({"attributes": [{"key": "a", "value": {"dateValue": 1}}]}, "/attributes/0/value", "dateValue"),
        ({"attributes": [{"key": "a", "value": {"intValue": "x"}}]}, "/attributes/0/value/intValue", "whole number"),
        ({"attributes": [{"key": "a", "value": {"boolValue": 1}}]}, "/attributes/0/value/boolValue", "true nor false"),
        ({"attributes": [{"key": "a", "value": DEEP}]}, "/attributes/0/value", "deeper"),
        ({"events": [{"attributes": 5}]}, "/events/0/attributes", "list of keys and values"),
        ({"events": "all"}, "/events", "is not a list"),
    ],
)
def test_a_span_that_is_none_is_refused_where_it_is_wrong(changed, pointer, message):
    (wrong,) = read(export(span() | changed))
    assert isinstance(wrong, InvalidDocument)
    assert wrong.problems[0].pointer.startswith(pointer)
    assert message in wrong.problems[0].message


def test_one_wrong_span_leaves_the_others():
    (place, found), (other, wrong) = spans_in(export(span(), span("bad")))
    assert (place, other) == ("/resourceSpans/0/scopeSpans/0/spans/0", "/resourceSpans/0/scopeSpans/0/spans/1")
    assert isinstance(found, TelemetrySpan)
    assert isinstance(wrong, InvalidDocument)


def outcome(*spans: dict[str, Any]) -> list[Any]:
    return [found for _, found in evaluation_file(exact(export(*spans)).encode()).entries()]


def test_spans_without_any_call_are_refused_with_what_is_known():
    (wrong,) = outcome(span(attributes=[attribute("http.route", "/")]))
    assert "holds 1 spans, none of a model's or a tool's call by AI SDK" in str(wrong)


def tool_span(**more: Any) -> dict[str, Any]:
    named = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"id": "A-1"}',
        "gen_ai.tool.call.result": '{"state": "sent"}',
        **more,
    }
    return span(CHILD, ROOT, attributes=[attribute(name, value) for name, value in named.items()])


def test_a_trace_without_model_calls_is_the_calls_that_its_tools_ran():
    root = span(
        attributes=[
            attribute("gen_ai.operation.name", "invoke_agent"),
            attribute("gen_ai.input.messages", '[{"role":"user","parts":[{"type":"text","content":"Where is A-1?"}]}]'),
        ]
    )
    (found,) = outcome(root, tool_span(invented="x"))
    assert isinstance(found, Entry)
    assert found.trial is not None
    assert list(found.trial.transcript.calls) == [ToolCall("get_order", {"id": "A-1"}, "c1")]
    assert "/attributes/invented" in {loss.pointer for loss in found.losses}


def test_a_failed_tool_marks_its_result():
    asked = '[{"role":"user","parts":[{"type":"text","content":"Where is A-1?"}]}'
    call = '{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"get_order","arguments":{"id":"A-1"}}]}'
    said = '{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"timeout"}]}'
    answer = '[{"role":"assistant","parts":[{"type":"text","content":"It timed out."}]}]'
    model = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": f"{asked},{call},{said}]"}
    first = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": f"{asked}]",
        "gen_ai.output.messages": f"[{call}]",
    }
    spans = [
        span("a" * 16, ROOT, attributes=[attribute(*each) for each in first.items()], startTimeUnixNano="1"),
        tool_span() | {"status": {"code": 2}, "startTimeUnixNano": "2"},
        span(
            "b" * 16,
            ROOT,
            attributes=[attribute(*each) for each in (model | {"gen_ai.output.messages": answer}).items()],
            startTimeUnixNano="3",
        ),
    ]
    (found,) = outcome(span(), *spans)
    assert isinstance(found, Entry)
    assert found.trial is not None
    assert [result.is_error for result in found.trial.transcript.results] == [True]
    assert found.trial.transcript.answer == "It timed out."
