"""Test what `POST /v1/traces` takes, refuses and answers."""

from __future__ import annotations

import gzip
import json
from typing import Any
from uuid import uuid4

import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tests.traces.sending import (
    JSON,
    PROTOBUF,
    TRACE,
    URL,
    conversation,
    export,
    packed,
    send,
    sender,
    span,
    stored_keys,
)
from toolevals.traces.intake.encodings import Rates, Refused
from toolevals.traces.intake.services import trace_settings_update
from toolevals.traces.models import SpanChunk, Trace
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.services import trace_settle
from toolevals.workspace.models import Role, TokenScope
from toolevals.workspace.projects.services import project_create


def counts() -> tuple[int, int, int]:
    return Trace.objects.count(), len(stored_keys()), SpanChunk.objects.count()


def test_both_encodings_store_the_same(client, project, token):
    document = export(*conversation())
    json_answer = send(client, token, document)
    assert (json_answer.status_code, json_answer["Content-Type"], json_answer.json()) == (200, JSON, {})
    from_json = spans_of(Trace.objects.get())
    Trace.objects.all().delete()
    answer = send(client, token, packed(document), content_type=PROTOBUF)
    assert (answer.status_code, answer["Content-Type"], answer.content) == (200, PROTOBUF, b"")
    assert spans_of(Trace.objects.get()) == from_json
    assert [each.name for each in from_json][:2] == ["invoke_agent shop", "chat small-1"]
    assert from_json[0].resource == {"service.name": "shop-agent", "service.version": "1.4.0"}


@pytest.mark.parametrize("content_type", [JSON, PROTOBUF])
def test_a_packed_body_is_unpacked(client, token, content_type):
    document = export(*conversation())
    body = packed(document) if content_type == PROTOBUF else json.dumps(document).encode()
    halves = gzip.compress(body[:100]) + gzip.compress(body[100:])
    for packing in (gzip.compress(body), halves):
        answer = send(client, token, packing, content_type=content_type, **{"Content-Encoding": "gzip"})
        assert answer.status_code == 200
    assert counts() == (1, 4, 1)


def test_the_same_batch_again_changes_nothing(client, token):
    document = export(*conversation())
    send(client, token, document)
    before = Trace.objects.values().get()
    for _ in range(4):
        assert send(client, token, document).status_code == 200
    assert counts() == (1, 4, 1)
    assert Trace.objects.values().get() == before


def test_a_batch_may_have_more_traces_than_a_statement_takes(client, token):
    known = export(*conversation(f"{7:032x}"))
    send(client, token, known)
    batch = export(*(span(1, "alone", trace=f"{number:032x}") for number in range(1, 1_501)))
    for _ in range(2):
        assert send(client, token, batch).json() == {}
        # One of the spans of the trace that was there has the same id.
        assert counts() == (1_500, 1_503, 1_500)


def test_a_span_that_comes_twice_in_one_batch_is_stored_once(client, token):
    spans = conversation()
    send(client, token, export(*spans, *spans))
    assert counts() == (1, 4, 1)


def test_late_spans_in_any_order_join_their_trace(client, token):
    spans = conversation()
    for each in reversed(spans):
        send(client, token, export(each))
    trace = Trace.objects.get()
    assert (trace.spans, trace.arrivals, trace.has_root) == (4, 4, True)
    assert [each.span_id for each in spans_of(trace)] == [each["spanId"] for each in spans]


def test_ids_in_capitals_are_the_same_ids(client, token):
    spans = conversation()
    send(client, token, export(*spans))
    send(client, token, export(*({**each, "traceId": each["traceId"].upper()} for each in spans)))
    assert counts() == (1, 4, 1)


def test_spans_that_cannot_be_read_are_rejected_and_the_others_stored(client, token):
    bad = [{**span(7, "bad"), "traceId": "00" * 16}, {**span(8, "bad"), "startTimeUnixNano": "soon"}]
    good = conversation()
    answer = send(client, token, export(*bad, *good))
    partial = answer.json()["partialSuccess"]
    assert (answer.status_code, partial["rejectedSpans"]) == (200, "2")
    assert (
        "/resourceSpans/0/scopeSpans/0/spans/0/traceId is not an id of 32 hexadecimal digits" in partial["errorMessage"]
    )
    assert "spans/1/startTimeUnixNano is not a whole number" in partial["errorMessage"]
    assert counts() == (1, 4, 1)


def test_partial_success_in_protobuf(client, token):
    document = export({**span(7, "bad"), "traceId": "00" * 16}, *conversation())
    response = ExportTraceServiceResponse.FromString(
        send(client, token, packed(document), content_type=PROTOBUF).content
    )
    assert response.partial_success.rejected_spans == 1
    assert "is not an id" in response.partial_success.error_message


def test_a_trace_that_is_full_takes_no_more(client, token, settings):
    settings.TRACE_MAX_SPANS = 4
    send(client, token, export(*conversation()))
    partial = send(client, token, export(span(9, "one more"))).json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert "which is the most" in partial["errorMessage"]
    assert counts() == (1, 4, 1)


def refused(answer, status: int, code: int, words: str) -> None:
    if answer["Content-Type"] == JSON:
        said = answer.json()
        found = said["code"], said["message"]
    else:
        assert answer["Content-Type"] == PROTOBUF
        message = Status.FromString(answer.content)
        found = message.code, message.message
    assert (answer.status_code, found[0]) == (status, code)
    assert words in found[1]


@pytest.mark.parametrize("content_type", [JSON, PROTOBUF])
def test_errors_are_a_status_in_the_encoding_of_the_request(client, project, owner, token, content_type, settings):
    def sent(body: bytes = b"{", header: str = token, **headers: str) -> Any:
        return send(client, header, body, content_type=content_type, **headers)

    refused(sent(b"\xff\xff\xff"), 400, 3, "cannot be read")
    refused(sent(header="Bearer te_nobody"), 401, 16, "unknown, expired or revoked")
    refused(client.post(URL, b"", content_type=content_type), 401, 16, "send a token")
    refused(sent(b"\x1f\x8b", **{"Content-Encoding": "gzip"}), 400, 3, "ends before the end of its gzip")
    refused(sent(b"nothing", **{"Content-Encoding": "gzip"}), 400, 3, "cannot be unpacked")
    refused(sent(b"{", **{"Content-Encoding": "br"}), 415, 3, "packed with gzip")
    settings.TRACES_MAX_BYTES = 10
    refused(sent(b"x" * 11), 413, 3, "larger than 10 bytes")
    client.force_login(owner)
    refused(client.post(URL, b"", content_type=content_type), 401, 16, "Send a token")
    refused(client.get(URL, content_type=content_type, headers={"Authorization": token}), 405, 3, "Method Not Allowed")
    assert counts() == (0, 0, 0)


def test_other_types_of_content_are_refused(client, token):
    refused(send(client, token, b"x", content_type="text/plain"), 415, 3, "application/x-protobuf or application/json")


def test_a_body_that_grows_beyond_the_limit_is_refused_while_it_is_unpacked(client, token, settings):
    settings.TRACES_MAX_UNPACKED_BYTES = 1_000_000
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 60_000
    refused(send(client, token, bomb, **{"Content-Encoding": "gzip"}), 413, 3, "unpacked body is larger than 1,000,000")


def test_keys_in_snake_case_are_no_empty_batch(client, token):
    refused(send(client, token, {"resource_spans": []}), 400, 3, "camel case")


def test_what_a_sender_nests_without_end_is_refused_or_rejected(client, token):
    deep: object = "x"
    for _ in range(200):
        deep = {"arrayValue": {"values": [deep]}}
    nested: object = "x"
    for _ in range(900):
        nested = [nested]
    spans = [span(1, "a", attributes={}), span(2, "b"), span(3, "c")]
    spans[0]["attributes"] = [{"key": "deep", "value": deep}]
    spans[1]["links"] = nested
    partial = send(client, token, export(*spans)).json()["partialSuccess"]
    assert partial["rejectedSpans"] == "2"
    assert "nested deeper than 60 levels" in partial["errorMessage"]
    assert "cannot be kept as JSON" in partial["errorMessage"]
    assert counts() == (1, 1, 1)
    assert send(client, token, b'{"a":' + b"[" * 5000).status_code == 400


def test_a_sending_token_reads_nothing_and_writes_nothing_else(client, project, token):
    for path in ("", "me/", "projects/", "projects/shop/", "projects/shop/jobs/"):
        for method in ("GET", "POST"):
            answer = client.generic(method, f"/api/v1/{path}", headers={"Authorization": token})
            assert answer.status_code == 403
            assert answer.json()["detail"] == "This token sends traces and does nothing else."


@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.REVIEWER, 403), (Role.ADJUDICATOR, 200)])
def test_tokens_of_those_who_import_send_traces_too(client, project, owner, role, status):
    header = sender(project, owner, scope=TokenScope.PROJECT, role=role)
    assert send(client, header, export(*conversation())).status_code == status


def test_traces_go_to_the_project_of_the_token(client, project, owner, token):
    other = project_create(actor=owner, slug="other", name="Other")
    send(client, token, export(*conversation()))
    send(client, sender(other, owner), export(*conversation()))
    assert [each.project_id for each in Trace.objects.order_by("id")] == [project.pk, other.pk]


def test_a_sampling_rate_keeps_whole_traces(client, project, owner, token):
    trace_settings_update(project=project, actor=owner, retention_days=30, sample_rate=0.5, rules=())
    low, high = "0" * 15 + "1" + "7" + "0" * 15, "0" * 15 + "1" + "8" + "0" * 15
    for _ in range(2):
        answer = send(client, token, export(*conversation(low), *conversation(high)))
        assert answer.json() == {}
    assert [each.trace_id.hex for each in Trace.objects.all()] == [low]
    assert len(stored_keys()) == 4


def test_a_project_that_sends_too_much_is_told_when_to_come_again(client, token, settings, monkeypatch):
    monkeypatch.setattr("toolevals.traces.intake.views.RATES", Rates())
    settings.TRACES_SPANS_PER_SECOND = 1
    for number in range(3):
        assert send(client, token, export(*conversation(f"{number + 1:032x}"))).status_code == 200
    answer = send(client, token, export(*conversation()))
    refused(answer, 429, 8, "more than 1 spans a second")
    assert int(answer["Retry-After"]) >= 1
    assert not Trace.objects.filter(trace_id=TRACE).exists()


def test_a_process_that_is_full_says_so(client, token, settings):
    settings.TRACES_AT_ONCE = 0
    answer = send(client, token, export(*conversation()))
    refused(answer, 503, 14, "The server is busy")
    assert answer["Retry-After"] == "1"


def test_a_bucket_fills_again():
    rates, project = Rates(), uuid4()
    rates.require(project, 0.0)
    rates.note(project, 10**9, 0.0)
    with pytest.raises(Refused, match="spans a second") as refusal:
        rates.require(project, 1.0)
    rates.require(project, 2.0 + (refusal.value.retry_after or 0))


def test_nothing_is_kept_of_a_batch_that_fails(client, token, monkeypatch):
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("toolevals.traces.intake.services._note", broken)
    client.raise_request_exception = False
    refused(send(client, token, export(*conversation())), 507, 8, "disk is full")
    assert counts() == (0, 0, 0)


def test_a_text_with_a_nul_is_stored_and_summed_up(client, token):
    send(client, token, export(span(1, "a\0b", attributes={"gen_ai.conversation.id": "\0"})))
    trace = Trace.objects.get()
    assert trace_settle(trace=trace)
    trace.refresh_from_db()
    assert (trace.name, trace.session) == ("a\N{REPLACEMENT CHARACTER}b", "\N{REPLACEMENT CHARACTER}")
