"""Holds that spans that came as protobuf are sorted and kept as if they were read, though only their ids are."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from tests.fixtures.draws import draws
from tests.traces.sending import PROTOBUF, conversation, export, packed, send
from toolevals.grading.reading.telemetry.otlp import attributes_of, spans_in
from toolevals.grading.reading.telemetry.otlp_protobuf import traces_in_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.intake.encodings import LOGS, document_of, message_of
from toolevals.traces.intake.scrubbing import rules_of
from toolevals.traces.intake.services import trace_settings_update
from toolevals.traces.intake.sorting import sorted_messages, sorted_spans, stored_document, stored_message
from toolevals.traces.models import Trace
from toolevals.traces.reading.chunks import document_in, spans_of

TIMES = st.integers(0, 2**64 - 1)
IDS = st.sampled_from([b"", bytes(8), bytes(16), b"\x01" * 8, b"\x02" * 16, b"\xab" * 16, b"\xff" * 8, b"\x03" * 7])
# An AnyValue as the name of its kind and what it holds.
PLAIN = st.one_of(
    st.tuples(st.just("string_value"), st.text(max_size=8)),
    st.tuples(st.just("int_value"), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just("double_value"), st.floats()),
    st.tuples(st.just("bool_value"), st.booleans()),
    st.tuples(st.just("bytes_value"), st.binary(max_size=8)),
    st.just(("", None)),
)
HOLDERS = st.sampled_from(["array_value", "kvlist_value"])
VALUES = st.recursive(PLAIN, lambda inner: st.tuples(HOLDERS, st.lists(inner, max_size=3)), max_leaves=8)
SPANS = st.lists(st.tuples(IDS, IDS, IDS, TIMES, TIMES, st.lists(VALUES, max_size=3)), max_size=6)


def put(holder: AnyValue, value: tuple[str, Any]) -> None:
    kind, held = value
    if kind == "array_value":
        holder.array_value.SetInParent()
        for each in held:
            put(holder.array_value.values.add(), each)
    elif kind == "kvlist_value":
        holder.kvlist_value.SetInParent()
        for number, each in enumerate(held):
            put(holder.kvlist_value.values.add(key=f"k{number}").value, each)
    elif kind:
        setattr(holder, kind, held)


def body_of(spans: list[Any]) -> bytes:
    """Return an export in which the spans take turns in two resources, the second with two scopes."""
    message = ExportTraceServiceRequest()
    first, second = message.resource_spans.add(), message.resource_spans.add(schema_url="of the resource")
    second.resource.attributes.add(key="service.name").value.string_value = "shop"
    scopes = [first.scope_spans.add(), second.scope_spans.add(schema_url="of the scope"), second.scope_spans.add()]
    scopes[1].scope.name, scopes[1].scope.version = "agent", "2"
    for at, (trace_id, span_id, parent_id, start, end, values) in enumerate(spans):
        span = scopes[at % 3].spans.add(trace_id=trace_id, span_id=span_id, parent_span_id=parent_id, name="s")
        span.start_time_unix_nano, span.end_time_unix_nano = start, end
        span.status.code, span.status.message = at % 3, "as it went"
        event = span.events.add(name="e", time_unix_nano=end)
        for number, each in enumerate(values):
            put(span.attributes.add(key=f"a{number}").value, each)
            put(event.attributes.add(key=f"b{number}").value, each)
    return bytes(message.SerializeToString())


def read(stored: bytes) -> list[Any]:
    found = [span for _, span in spans_in(document_in(stored))]
    assert not [each for each in found if isinstance(each, InvalidDocument)]
    return found


@draws(100)
@given(SPANS, st.sampled_from([0.0, 0.5, 1.0]))
def test_messages_are_sorted_and_kept_as_their_json_is(spans, rate):
    body = body_of(spans)
    kept = sorted_messages(message_of(body), rate=rate)
    careful = sorted_spans(document_of(body, PROTOBUF), rate=rate)
    assert (kept.rejected, kept.reasons, kept.left_out) == (careful.rejected, careful.reasons, careful.left_out)
    assert list(kept.traces) == list(careful.traces)
    for trace, keyed in kept.traces.items():
        pieces, others = list(keyed.values()), list(careful.traces[trace].values())
        assert [(each.key, each.is_root) for each in pieces] == [(each.key, each.is_root) for each in others]
        assert read(stored_message(pieces)) == read(stored_document(others))


@draws(100)
@given(SPANS)
def test_values_become_what_the_library_of_protobuf_makes_of_them(spans):
    message = ExportTraceServiceRequest.FromString(body_of(spans))
    theirs = json_format.MessageToDict(message)
    assert attributes_in(traces_in_json(message)) == attributes_in(theirs)


def attributes_in(document: Any) -> list[Any]:
    """Return the attributes of spans and events: the library takes ids for base64, and writes all else as OTLP does."""
    items = [
        item
        for resource_spans in document["resourceSpans"]
        for scope_spans in resource_spans["scopeSpans"]
        for span in scope_spans.get("spans", ())
        for item in (span, *span["events"])
    ]
    return [attributes_of(item.get("attributes"), "") for item in items]


def nested(levels: int) -> bytes:
    value: Any = ("int_value", 1)
    for _ in range(levels):
        value = ("array_value", [value])
    return body_of([(b"\x01" * 16, b"\x01" * 8, b"", 0, 0, [value])])


def test_a_message_nests_less_deeply_than_a_span_may():
    deepest = max(levels for levels in range(1, 80) if _is_read(nested(levels)))
    assert 20 < deepest < 60
    (pieces,) = sorted_messages(message_of(nested(deepest))).traces.values()
    assert len(read(stored_message(list(pieces.values())))) == 1


def _is_read(body: bytes) -> bool:
    try:
        message_of(body)
    except InvalidDocument:
        return False
    return True


def test_a_value_of_another_signal_is_named(client, token):
    message = ExportTraceServiceRequest.FromString(packed(export(*conversation())))
    span = message.resource_spans[0].scope_spans[0].spans[1]
    span.attributes.add(key="k").value.array_value.values.add().string_value_strindex = 3
    assert send(client, token, message.SerializeToString(), content_type=PROTOBUF).status_code == 200
    (found,) = (each.attributes["k"] for each in spans_of(Trace.objects.get()) if "k" in each.attributes)
    assert found == ["[a value of the kind string_value_strindex, which traces do not have]"]


def test_a_value_of_another_signal_is_refused_where_spans_must_be_read(client, token, project, owner):
    rules = rules_of([{"kind": "email"}])
    trace_settings_update(project=project, actor=owner, retention_days=30, sample_rate=1.0, rules=rules)
    message = ExportTraceServiceRequest.FromString(packed(export(*conversation())))
    message.resource_spans[0].scope_spans[0].spans[1].attributes.add(key="k").value.string_value_strindex = 3
    answer = send(client, token, message.SerializeToString(), content_type=PROTOBUF)
    assert answer.status_code == 400
    assert b"string_value_strindex, which traces and logs do not have" in answer.content
    assert not Trace.objects.exists()
    logs = ExportLogsServiceRequest()
    logs.resource_logs.add().scope_logs.add().log_records.add().body.string_value_strindex = 3
    with pytest.raises(InvalidDocument, match="string_value_strindex"):
        document_of(logs.SerializeToString(), PROTOBUF, LOGS)
