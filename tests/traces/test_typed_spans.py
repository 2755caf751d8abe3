"""Holds that spans that came as protobuf are sorted as if all of them were checked, though only their ids are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from tests.fixtures.draws import draws
from tests.traces.sending import PROTOBUF, conversation, export, packed, send
from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.intake.encodings import LOGS, document_of
from toolevals.traces.intake.sorting import sorted_spans
from toolevals.traces.models import Trace

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
VALUES = st.recursive(PLAIN, lambda inner: st.tuples(st.just("array_value"), st.lists(inner, max_size=3)), max_leaves=8)
SPANS = st.lists(st.tuples(IDS, IDS, IDS, TIMES, TIMES, st.lists(VALUES, max_size=3)), max_size=6)


def put(holder: AnyValue, value: tuple[str, Any]) -> None:
    kind, held = value
    if kind == "array_value":
        holder.array_value.SetInParent()
        for each in held:
            put(holder.array_value.values.add(), each)
    elif kind:
        setattr(holder, kind, held)


def body_of(spans: list[Any]) -> bytes:
    message = ExportTraceServiceRequest()
    scope_spans = message.resource_spans.add().scope_spans.add()
    for trace_id, span_id, parent_id, start, end, values in spans:
        span = scope_spans.spans.add(trace_id=trace_id, span_id=span_id, parent_span_id=parent_id, name="s")
        span.start_time_unix_nano, span.end_time_unix_nano = start, end
        event = span.events.add(name="e", time_unix_nano=end)
        for number, each in enumerate(values):
            put(span.attributes.add(key=f"a{number}").value, each)
            put(event.attributes.add(key=f"b{number}").value, each)
    return bytes(message.SerializeToString())


@draws(100)
@given(SPANS, st.sampled_from([0.0, 0.5, 1.0]))
def test_it_is_as_if_all_were_checked(spans, rate):
    document = document_of(body_of(spans), PROTOBUF)
    typed, careful = (sorted_spans(document, was_protobuf=known, rate=rate) for known in (True, False))

    def told(found: Any) -> Any:
        pieces = {
            trace: [(each.key, each.is_root, each.document) for each in keyed.values()]
            for trace, keyed in found.traces.items()
        }
        return pieces, found.rejected, found.reasons, found.left_out

    assert told(typed) == told(careful)


def nested(levels: int) -> bytes:
    value: Any = ("int_value", 1)
    for _ in range(levels):
        value = ("array_value", [value])
    return body_of([(b"\x01" * 16, b"\x01" * 8, b"", 0, 0, [value])])


def test_a_message_nests_less_deeply_than_a_span_may():
    deepest = max(levels for levels in range(1, 80) if _is_read(nested(levels)))
    assert 20 < deepest < 60
    (pieces,) = sorted_spans(document_of(nested(deepest), PROTOBUF)).traces.values()
    assert len(pieces) == 1


def _is_read(body: bytes) -> bool:
    try:
        document_of(body, PROTOBUF)
    except InvalidDocument:
        return False
    return True


def test_a_value_of_another_signal_is_refused(client, token):
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
