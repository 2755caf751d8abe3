"""Conversations of files become traces: written as spans, read back the same, and sent to a server."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
from django.test import Client

from tests.grading.benchmark import needs_benchmark
from toolevals.cli.main import main
from toolevals.cli.output import Exit
from toolevals.cli.sending import Agent, conversations_read, export_of, spans_of_conversation
from toolevals.client import Project
from toolevals.client.http import Request, Response
from toolevals.grading.reading.telemetry.otlp import spans_in
from toolevals.traces.models import Trace
from toolevals.traces.reading.services import traces_settle
from toolevals.traces.reading.traces import trace_read
from toolevals.workspace.models import Role, TokenScope
from toolevals.workspace.tokens.services import token_create

AGENT = Agent("shop", "7", "small-1")
CALL = {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"o": "A"}'}}


def record(task: int, *said: dict[str, Any], trial: int = 0) -> dict[str, Any]:
    info = {"task": {"instruction": f"Cancel {task}.", "actions": [{"name": "cancel", "kwargs": {"o": "A"}}]}}
    return {"task_id": task, "trial": trial, "reward": 1.0, "info": info, "traj": list(said)}


def recorded() -> bytes:
    said = (
        {"role": "user", "content": "Cancel A."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "Error: no such order"},
        {"role": "assistant", "content": "There is no A."},
        {"role": "user", "content": "Then B."},
        {"role": "assistant", "content": "Which B?"},
    )
    return json.dumps({"system": ["Be brief."], "records": [record(0, *said), record(0, *said, trial=1)]}).encode()


def read_back(content: bytes) -> list[Any]:
    found = []
    for each in conversations_read(content):
        document = orjson.loads(orjson.dumps(export_of(spans_of_conversation(each, AGENT, 10**18), AGENT)))
        spans = [span for _, span in spans_in(document)]
        found.append((each, trace_read(spans)))  # type: ignore[arg-type]
    return found


def test_a_recorded_conversation_is_read_back_as_it_was():
    for conversation, read in read_back(recorded()):
        assert [message["role"] for message in read.given["messages"]] == ["system", "user"]
        assert read.transcript.calls == conversation.transcript.calls
        assert read.transcript.messages == conversation.transcript.messages[1:]
        assert [tool.name for tool in read.tools] == ["cancel"]
        assert [each.reading.kind for each in read.spans] == ["agent", "model", "tool", "model", "model"]
        assert read.spans[2].reading.error == "Error: no such order"
        assert not read.problems


def test_an_id_that_is_used_twice_leaves_each_answer_at_its_call():
    said = (
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "done"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "Error: no such order"},
        {"role": "assistant", "content": "It is cancelled."},
    )
    content = json.dumps({"system": [], "records": [record(0, {"role": "user", "content": "Cancel A."}, *said)]})
    ((_, read),) = read_back(content.encode())
    answers = [(each.content, each.is_error) for each in read.transcript.messages if each.role == "tool"]
    assert answers == [("done", False), ("Error: no such order", True)]
    assert [each.reading.error for each in read.spans if each.reading.tool] == [None, "Error: no such order"]


def test_two_trials_are_two_traces_and_the_same_each_time():
    made = [spans_of_conversation(each, AGENT, 10**18) for each in conversations_read(recorded())]
    again = [spans_of_conversation(each, AGENT, 10**18) for each in conversations_read(gzip.compress(recorded()))]
    assert made == again
    assert len({span["traceId"] for spans in made for span in spans}) == 2
    assert all(len({span["spanId"] for span in spans}) == len(spans) for spans in made)


def test_a_plain_log_is_sent_as_well():
    lines = [
        {"conversation_id": "c", "role": "user", "content": "Hello?"},
        {"conversation_id": "c", "role": "assistant", "content": "Hello."},
    ]
    ((_, read),) = read_back("\n".join(map(json.dumps, lines)).encode())
    assert [message["content"] for message in read.given["messages"]] == ["Hello?"]
    assert read.transcript.answer == "Hello."


@needs_benchmark
@pytest.mark.parametrize("name", ["tau_gpt-4o_airline", "tau_grok-3_retail_flaky503"])
def test_recorded_runs_of_others_are_read_back_as_they_were(name):
    content = (Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau" / f"{name}.slim.json.gz").read_bytes()
    document = json.loads(gzip.decompress(content))
    document["records"] = document["records"][:12]
    for conversation, read in read_back(json.dumps(document).encode()):
        assert read.transcript.calls == conversation.transcript.calls
        # Spans have no part for words that are empty.
        said = [each.content or None for each in conversation.transcript.messages]
        given = len(read.given["messages"]) - 1
        assert [each.content or None for each in read.transcript.messages] == said[given:][
            : len(read.transcript.messages)
        ]
        assert not read.problems


def test_files_without_conversations_are_refused(tmp_path, capsys):
    file = tmp_path / "other.json"
    for content in (b"{}", b"[", b'{"records": []}'):
        file.write_bytes(content)
        assert main(["send", str(file), "--agent", "shop", "-o", str(tmp_path / "out")]) == Exit.DATA
        assert str(file) in capsys.readouterr().err


def test_batches_are_written_one_a_line(tmp_path, capsys):
    file, output = tmp_path / "runs.json", tmp_path / "spans.jsonl"
    file.write_bytes(recorded())
    assert main(["send", str(file), "--agent", "shop", "--limit", "1", "-o", str(output)]) == Exit.OK
    (line,) = output.read_bytes().splitlines()
    assert len(list(spans_in(orjson.loads(line)))) == 5
    assert "1 conversation" in capsys.readouterr().out


@pytest.mark.django_db
def test_a_token_that_only_sends_brings_a_file_to_the_server(project, owner, settings, tmp_path, monkeypatch, capsys):
    settings.TRACES_QUIET_SECONDS = 0
    token = token_create(
        project=project, actor=owner, user=owner, name="send", role=Role.VIEWER, scope=TokenScope.TRACES
    )[1]
    web = Client()

    def transport(request: Request) -> Response:
        headers = {name: value for name, value in request.headers.items() if name != "Content-Type"}
        sent = web.generic(
            request.method, urlsplit(request.url).path, request.body, request.headers["Content-Type"], headers=headers
        )
        response = Response(request, sent.status_code, sent.headers)
        response.__dict__["content"] = sent.content
        return response

    client = Project(server="http://testserver", project="shop", token=token, transport=transport)
    monkeypatch.setattr("toolevals.cli.sending.project_of", lambda _: client)
    file = tmp_path / "runs.json"
    file.write_bytes(recorded())
    for _ in range(2):
        assert main(["send", str(file), "--agent", "shop", "--model", "small-1"]) == Exit.OK
        assert "2 conversations sent: http://testserver/p/shop/traces/" in capsys.readouterr().out
    traces_settle()
    assert [(each.agent, each.calls, each.spans) for each in Trace.objects.all()] == [("shop", 1, 5)] * 2


def test_what_the_server_refuses_ends_the_command(tmp_path, monkeypatch):
    client = Project(
        server="http://testserver", project="shop", token="te_x", transport=lambda asked: Response(asked, 403)
    )
    monkeypatch.setattr("toolevals.cli.sending.project_of", lambda _: client)
    file = tmp_path / "runs.json"
    file.write_bytes(recorded())
    assert main(["send", str(file), "--agent", "shop"]) == Exit.CONFIGURATION
