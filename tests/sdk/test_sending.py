"""Sending: bounded, counted, told once, and never in the way of the agent, whether toolevals is up or down."""

from __future__ import annotations

import gzip
import logging
import os
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from tests.servers.process import free_port
from toolevals.sdk import SetUpError, instrument, tool
from toolevals.sdk.sending import BATCH, SpanQueue


class Held(SpanExporter):
    """An exporter that holds each batch until it is let go, and then takes it, refuses it or raises."""

    def __init__(self, answer: SpanExportResult | Exception = SpanExportResult.SUCCESS) -> None:
        self.answer = answer
        self.go = threading.Event()
        self.began = threading.Event()
        self.batches: list[int] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.began.set()
        self.go.wait(60)
        self.batches.append(len(spans))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def shutdown(self) -> None:
        self.go.set()


def provider() -> TracerProvider:
    return TracerProvider(shutdown_on_exit=False)


@tool(name="ping")
def ping() -> str:
    return "pong"


def test_a_full_queue_drops_counts_and_tells_once(caplog):
    held = Held()
    tracing = instrument(provider=provider(), exporter=held, queue=10)
    ping()
    # One is on its way; ten find a place.
    held.began.clear()
    with caplog.at_level(logging.WARNING):
        flushing = threading.Thread(target=tracing.flush)
        flushing.start()
        assert held.began.wait(60)
        for _ in range(25):
            assert ping() == "pong"
    assert tracing.dropped == 15
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["spans are dropped"]
    held.go.set()
    flushing.join()
    assert tracing.flush(60)
    assert (tracing.sent, tracing.dropped) == (11, 15)
    tracing.stop()
    assert caplog.records[-1].getMessage() == "15 spans were dropped in all, 11 were sent"


@pytest.mark.parametrize("answer", [SpanExportResult.FAILURE, ValueError("odd")])
def test_what_is_not_taken_is_counted(answer, caplog):
    held = Held(answer)
    held.go.set()
    tracing = instrument(provider=provider(), exporter=held)
    for _ in range(BATCH + 1):
        ping()
    assert tracing.flush(60)
    assert (tracing.sent, tracing.dropped, sum(held.batches)) == (0, BATCH + 1, BATCH + 1)
    assert len(caplog.records) == 1
    tracing.stop()


def test_stopping_sends_what_waits_and_ends_the_thread():
    held = Held()
    held.go.set()
    tracing = instrument(provider=provider(), exporter=held)
    ping()
    tracing.stop(60)
    assert (tracing.sent, tracing.dropped) == (1, 0)
    assert "toolevals-spans" not in {thread.name for thread in threading.enumerate()}
    # After that nothing is recorded.
    assert ping() == "pong"
    assert sum(held.batches) == 1


def test_stopping_beside_an_exporter_that_hangs_drops_what_waits(caplog):
    held = Held()
    queue = SpanQueue(held, size=10)
    traced = provider()
    traced.add_span_processor(queue)
    for _ in range(2):
        traced.get_tracer("test").start_span("a").end()
    queue.force_flush(1)
    queue.shutdown(1)
    assert queue.dropped + queue.sent == 2


def test_with_toolevals_down_an_agent_works_and_the_log_has_one_line(caplog):
    tracing = instrument(f"http://127.0.0.1:{free_port()}", "te_x", provider=provider())
    with caplog.at_level(logging.DEBUG):
        assert ping() == "pong"
        tracing.stop(0)
    assert tracing.dropped == 1
    warned = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert {record.name for record in warned} == {"toolevals.sdk"}


def test_spans_come_to_the_server_with_the_token():
    kept: list[tuple[str, str | None, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.append((self.path, self.headers["Authorization"], gzip.decompress(body)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        tracing = instrument(f"http://127.0.0.1:{server.server_address[1]}/", "te_x", provider=provider())
        ping()
        assert tracing.flush(60)
        tracing.stop()
    finally:
        server.shutdown()
        server.server_close()
    ((path, authorization, body),) = kept
    assert (path, authorization) == ("/v1/traces", "Bearer te_x")
    request = ExportTraceServiceRequest.FromString(body)
    assert request.resource_spans[0].scope_spans[0].spans[0].name == "execute_tool ping"
    assert (tracing.sent, tracing.dropped) == (1, 0)


@pytest.mark.parametrize(
    ("server", "token", "words"),
    [
        ("", "t", "is not an address"),
        ("shop.example", "t", "is not an address"),
        ("http://[", "t", "is not an address"),
        ("https://a.example", "", "no token"),
    ],
)
def test_a_wrong_set_up_is_refused_where_it_is_made(server, token, words, monkeypatch):
    monkeypatch.delenv("TOOLEVALS_URL", raising=False)
    monkeypatch.delenv("TOOLEVALS_TOKEN", raising=False)
    with pytest.raises(SetUpError, match=words):
        instrument(server, token, provider=provider())


def test_server_and_token_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("TOOLEVALS_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("TOOLEVALS_TOKEN", "te_x")
    instrument(provider=provider()).stop(0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_sends_its_own_spans():
    read, write = os.pipe()

    class Telling(Held):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            if os.getpid() != parent:
                os.write(write, b"%d" % len(spans))
            return SpanExportResult.SUCCESS

    parent = os.getpid()
    tracing = instrument(provider=provider(), exporter=Telling())
    ping()
    if (child := os.fork()) == 0:
        try:
            ping()
            tracing.flush(60)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 10) == b"1"
    os.close(read)
    os.close(write)
    tracing.stop()
