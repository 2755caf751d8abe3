"""Hostile words in log records are words: on every page that shows them, in every file, and by REST."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.traces.promoting import promoted
from tests.traces.sending import TOOL, export, send, span
from tests.traces.test_logs import logs, nested, record, send_logs
from toolevals.traces.models import Trace
from toolevals.traces.promotion.services import promotion_drop
from toolevals.traces.reading.services import traces_settle

SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://evil.example","x")'
BIDI = "\u202egnp.exe\u2066"
# Each begins with what a spreadsheet would run.
ASKED = f"{FORMULA} {SCRIPT} {BIDI} \0 '; DROP TABLE traces_trace; -- {{{{ 7 }}}}"
TOOL_NAME = f"{FORMULA}{SCRIPT}{BIDI}"
TRACES = "/p/shop/traces/"


def call(arguments: str) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": TOOL_NAME, "arguments": arguments}}


@pytest.fixture
def hostile(client, token, settings) -> Trace:
    """A trace of two spans. All of what was said, called and answered came in log records."""
    settings.TRACES_QUIET_SECONDS = 0
    deep = "[" * 400 + "]" * 400
    said = [
        record("gen_ai.system.message", {"content": SCRIPT}, of=2, at=1),
        record("gen_ai.user.message", {"content": ASKED}, of=2, at=2),
        record("gen_ai.choice", {"index": 0, "message": {"tool_calls": [call(json.dumps({"id": ASKED}))]}}, of=2, at=3),
        record("gen_ai.system.message", {"content": SCRIPT}, of=4, at=4),
        record("gen_ai.user.message", {"content": ASKED}, of=4, at=4),
        record("gen_ai.assistant.message", {"tool_calls": [call(json.dumps({"id": ASKED}))]}, of=4, at=5),
        record("gen_ai.tool.message", {"id": "c1", "content": ASKED}, of=4, at=6),
        record("gen_ai.choice", {"index": 0, "message": {"content": ASKED}}, of=4, at=7),
        record(TOOL_NAME, {"content": ASKED, SCRIPT: BIDI}, of=2, at=8, severityText=SCRIPT),
        record("shop.deep", {"content": deep}, of=2, at=9),
        record("shop.deeper", {}, body=nested(20), of=2, at=10),
        record(SCRIPT, {"content": ASKED}, of=77, at=11),
    ]
    model = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.tool.definitions": [TOOL]}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop", "gen_ai.conversation.id": "s-1"}
    assert send_logs(client, token, logs(*(_plain(each) for each in said))) == {}
    spans = [
        span(1, "agent", ms=9000, attributes=agent),
        *(span(n, "chat", parent=1, attributes=model) for n in (2, 4)),
    ]
    send(client, token, export(*spans))
    traces_settle()
    return Trace.objects.get()


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose body holds lists and objects as values of OTLP, as instrumentations write them."""
    if "kvlistValue" in document.get("body", {}):
        for pair in document["body"]["kvlistValue"]["values"]:
            if pair["key"] in ("message", "tool_calls"):
                pair["value"] = _any(json.loads(pair["value"]["stringValue"]))
    return document


def _any(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _any(each)} for key, each in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_any(each) for each in value]}}
    return {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}


def test_the_records_are_what_was_said_and_called(hostile, client, viewer):
    client.force_login(viewer)
    found = client.get(f"/api/v1/projects/shop/traces/{hostile.pk}/").json()
    said = found["conversation"]["messages"]
    assert [each["role"] for each in said] == ["system", "user", "assistant", "tool", "assistant"]
    assert FORMULA in said[1]["content"]
    assert not [each for each in said if "\\u0000" in json.dumps(each)]
    page = client.get(f"{TRACES}{hostile.pk}/").content.decode()
    assert "holds NUL characters, shown as" in page
    assert hostile.tools == [TOOL_NAME]


def test_no_page_runs_what_a_record_says(hostile, client, owner, adjudicator, dataset, run_jobs):
    client.force_login(owner)
    pages = dict(_pages(client, hostile))
    client.force_login(adjudicator)
    for shows_first in (True, False):
        sample = promoted(run_jobs, dataset, adjudicator, shows_first=shows_first, takes_cut=True)
        pages |= _read(client, f"{TRACES}examples/{sample.pk}/")
        if shows_first:
            promotion_drop(promotion=sample, actor=adjudicator)
    example = dataset.examples.get()
    pages |= _read(client, f"{TRACES}examples/", "/p/shop/datasets/core/")
    pages |= _read(client, f"/p/shop/datasets/core/examples/{example.pk}/")
    shown = [path for path, page in pages.items() if "alert(1)" in page]
    for path, page in pages.items():
        assert "<script>alert" not in page, path
        assert "\0" not in page, path
    assert {f"{TRACES}{hostile.pk}/", f"{TRACES}{hostile.pk}/spans/{2:016x}/", f"{TRACES}tools/"} <= set(shown)
    assert any("/examples/" in path for path in shown)


def _pages(client: Any, trace: Trace) -> Iterator[tuple[str, str]]:
    spans = [f"{TRACES}{trace.pk}/spans/{number:016x}/" for number in (1, 2, 4)]
    more = ("?q=hyperlink", "?tool=x&error=any", "tools/", "tools/?by=day", "rules/", "promote/", "today/", "judges/")
    yield from _read(client, TRACES, f"{TRACES}{trace.pk}/", *spans, *(f"{TRACES}{each}" for each in more)).items()


def _read(client: Any, *paths: str) -> dict[str, str]:
    found = {}
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 200, path
        found[path] = answer.content.decode()
    return found


@pytest.mark.parametrize("path", ["../traces.csv", "verdicts.csv", "tools.csv", "tools.csv?by=version", "rules.csv"])
def test_no_cell_of_a_file_is_a_formula(hostile, client, viewer, path):
    client.force_login(viewer)
    answer = client.get(TRACES + path if path[0] != "." else "/p/shop/traces.csv")
    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert len(rows) > 1
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if re.match(r"[=+\-@\t\r\n]", cell) and not re.fullmatch(r"-?[\d.e-]+", cell)]
    assert not [cell for cell in cells if "\0" in cell]
    if "traces.csv" in path or "tools.csv" in path:
        assert [cell for cell in cells if cell.startswith("'=HYPERLINK")]


def test_events_are_json_whatever_a_record_says(hostile, client, viewer):
    client.force_login(viewer)
    lines = b"".join(client.get(f"{TRACES}verdicts.jsonl").streaming_content).splitlines()
    assert [json.loads(line)["resourceLogs"] for line in lines]


@pytest.mark.parametrize("depth", [61, 500, 5_000])
def test_a_record_that_nests_without_end_is_rejected_and_the_others_stored(client, project, token, depth):
    body: Any = '{"stringValue": "x"}'
    document = json.dumps(logs(record("deep", {}, body="HERE"), record("plain", {"content": "x"}, at=2)))
    text = document.replace('"HERE"', '{"arrayValue": {"values": [' * depth + body + "]}}" * depth)
    answer = client.post("/v1/logs", text, content_type="application/json", headers={"Authorization": token})
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert answer.json()["partialSuccess"]["rejectedLogRecords"] == "1"
        assert Trace.objects.count() == 1
    else:
        assert answer.json()["message"]
        assert not Trace.objects.exists()
