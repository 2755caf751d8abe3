"""Traces that came cut: what began as JSON and ends in the middle is named, and is neither words nor "no call"."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.traces.promoting import promoted
from tests.traces.sending import PROTOBUF, TOOL, conversation, export, packed, send, span
from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.otlp import read
from toolevals.grading.reading.telemetry.otlp import TelemetrySpan, spans_in
from toolevals.traces.models import Trace, TraceExample
from toolevals.traces.promotion.services import promotion_make
from toolevals.traces.reading.calls import used_tools
from toolevals.traces.reading.rules import verdicts_of
from toolevals.traces.reading.services import traces_settle
from toolevals.traces.reading.traces import TraceReading, trace_read
from toolevals.workspace.models import AuditEntry

ASKED = [{"role": "user", "content": "Where is my order 7?"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": "7"}'}}
SAID = [{"role": "assistant", "content": None, "tool_calls": [CALL]}]
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "otel": {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": ASKED,
        "gen_ai.output.messages": SAID, "gen_ai.tool.definitions": [TOOL],
    },
    "openinference": {
        "openinference.span.kind": "LLM", "input.value": {"messages": ASKED}, "input.mime_type": "application/json",
        "output.value": {"messages": SAID}, "output.mime_type": "application/json",
    },
    "openllmetry": {
        "llm.request.type": "chat", "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": [{"type": "text", "text": "Where?"}],
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.tool_calls.0.name": "get_order",
        "gen_ai.completion.0.tool_calls.0.arguments": {"id": "7"},
    },
    "ai_sdk": {
        "ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": ASKED,
        "ai.response.toolCalls": [{"toolCallId": "c1", "toolName": "get_order", "args": {"id": "7"}}],
    },
    "adk": {
        "gen_ai.operation.name": "call_llm",
        "gcp.vertex.agent.llm_request": {"contents": [{"role": "user", "parts": [{"text": "Where?"}]}]},
        "gcp.vertex.agent.llm_response": {"content": {"role": "model", "parts": [
            {"functionCall": {"name": "get_order", "args": {"id": "7"}}}]}},
    },
    "langsmith": {
        "langsmith.span.kind": "llm", "gen_ai.prompt": {"messages": ASKED}, "gen_ai.completion": {"messages": SAID},
    },
}  # fmt: skip
_JSON = [
    (name, key) for name, found in ATTRIBUTES.items() for key, value in found.items() if isinstance(value, list | dict)
]


@pytest.fixture(autouse=True)
def at_once(settings) -> None:
    settings.TRACES_QUIET_SECONDS = 0


def reading(attributes: dict[str, Any], **more: Any) -> TraceReading:
    kept = span(1, "model", attributes=attributes, **more)
    return trace_read([each for _, each in spans_in(export(kept)) if isinstance(each, TelemetrySpan)])


def texts(name: str) -> dict[str, Any]:
    return {
        key: json.dumps(value) if isinstance(value, list | dict) else value for key, value in ATTRIBUTES[name].items()
    }


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_a_whole_span_has_no_damage(name: str) -> None:
    found = reading(texts(name))
    assert not found.damage
    assert [call.name for call in found.transcript.calls] == ["get_order"]


@pytest.mark.parametrize(("name", "key"), _JSON)
def test_every_cut_of_json_is_named_and_no_words(name: str, key: str) -> None:
    whole = texts(name)
    for length in range(2, len(whole[key]), 3):
        cut = whole[key][:length]
        found = reading({**whole, key: cut})
        assert [problem.pointer for _, problem in found.damage] == [f"/attributes/{key}"], cut
        given: Any = found.given
        said = [*given.get("messages", ()), *(each.to_document() for each in found.transcript.messages)]
        assert cut not in [each.get("content") for each in said]
        made = any(word in key for word in ("output", "completion", "response"))
        assert (found.transcript.error is not None) == made, cut
        assert made or len(found.transcript.calls) == 1


def test_a_file_says_that_a_prediction_is_not_whole_and_grades_no_call_of_it() -> None:
    attributes = texts("otel")
    attributes["gen_ai.output.messages"] = attributes["gen_ai.output.messages"][:40]
    ((_, entry),) = read(export(span(1, "m", attributes=attributes)))
    assert isinstance(entry, Entry)
    assert entry.trial is not None
    assert (entry.trial.transcript.error or "").startswith("What the agent did was not recorded whole")
    assert "/attributes/gen_ai.output.messages" in [loss.pointer for loss in entry.losses]


@pytest.mark.parametrize("words", [
    "[URGENT] please help", "{name} is my name", "[1] the source", '{"a": 1} is what I sent', "[see below", '"Hello',
])  # fmt: skip
def test_words_that_only_look_like_json_stay_words(words: str) -> None:
    found = reading({"openinference.span.kind": "LLM", "input.value": words, "output.value": "Yes."})
    assert found.given["messages"] == [{"role": "user", "content": words}]
    assert not found.damage


def test_json_that_is_whole_and_refused_is_named_and_no_words() -> None:
    twice = '[{"role": "user", "role": "user", "content": "a"}]'
    found = reading({**texts("otel"), "gen_ai.input.messages": twice})
    assert "messages" in found.given
    assert not found.given["messages"]
    assert "cannot be read" in found.damage[0][1].message


def test_nul_inside_is_shown_and_named() -> None:
    found = reading({**texts("otel"), "gen_ai.input.messages": json.dumps([{"role": "user", "content": "a\0b"}])})
    assert found.given["messages"] == [{"role": "user", "content": "a\ufffdb"}]
    assert [(each.pointer, each.message[:9]) for _, each in found.damage] == [
        ("/attributes/gen_ai.input.messages", "holds NUL")
    ]
    assert found.transcript.error is None


def test_what_the_sender_dropped_is_counted_in_both_encodings(client, token) -> None:
    dropped = {"droppedAttributesCount": 3, "droppedLinksCount": 1}
    kept = [span(1, "m", trace=f"{at:032x}", attributes=texts("otel"), **dropped) for at in (1, 2)]
    send(client, token, export(kept[0]))
    send(client, token, packed(export(kept[1])), content_type=PROTOBUF)
    traces_settle()
    assert list(Trace.objects.values_list("is_cut", flat=True)) == [True, True]
    found = reading(texts("otel"), **dropped)
    assert [each.message for _, each in found.damage] == [
        "3 of its attributes were dropped by the sender", "1 of its links was dropped by the sender",
    ]  # fmt: skip
    assert found.transcript.error is not None


def test_a_tool_is_not_said_to_be_unoffered_where_tools_came_cut() -> None:
    tools = [json.dumps({"type": "function", "name": "other", "inputSchema": {}}), json.dumps(TOOL)[:60]]
    kept = span(1, "m", attributes=texts("ai_sdk"))
    kept["attributes"].append(
        {"key": "ai.prompt.tools", "value": {"arrayValue": {"values": [{"stringValue": each} for each in tools]}}}
    )
    found = trace_read([each for _, each in spans_in(export(kept)) if isinstance(each, TelemetrySpan)])
    verdicts = {each.rule: each.status for each in verdicts_of(found, used_tools(found))}
    assert verdicts["offered"] == "unscored"


@pytest.fixture
def cut(client, token) -> Trace:
    spans = conversation()
    for each in spans[3]["attributes"]:
        if each["key"] == "gen_ai.output.messages":
            each["value"]["stringValue"] = each["value"]["stringValue"][:50]
    send(client, token, export(*spans))
    traces_settle()
    return Trace.objects.get()


def test_page_list_and_rest_name_it(cut, client, viewer) -> None:
    client.force_login(viewer)
    page = client.get(f"/p/shop/traces/{cut.pk}/").content.decode()
    assert "/attributes/gen_ai.output.messages" in page
    assert "does not say that it made none" in " ".join(page.split())
    assert ">cut</span>" in client.get("/p/shop/traces/").content.decode()
    found = client.get(f"/api/v1/projects/shop/traces/{cut.pk}/").json()
    assert found["is_partial"] is True
    assert found["damage"][0] | {"message": ""} == {
        "span_id": f"{4:016x}", "pointer": "/attributes/gen_ai.output.messages", "message": "",
    }  # fmt: skip


def test_a_cut_turn_is_promoted_only_by_who_says_so(cut, client, dataset, adjudicator, run_jobs) -> None:
    unseen = promoted(run_jobs, dataset, adjudicator)
    assert unseen.made == 0
    assert "came cut: /attributes/gen_ai.output.messages" in unseen.left_out[0]["reason"]
    seen = promoted(run_jobs, dataset, adjudicator, shows_first=True)
    client.force_login(adjudicator)
    page = client.get(f"/p/shop/traces/examples/{seen.pk}/").content.decode()
    assert 'name="takes_cut" required' in page
    address = f"/api/v1/projects/shop/traces/promotions/{seen.pk}/make/"
    refused = client.post(address, {}, content_type="application/json")
    assert refused.status_code == 409
    assert "takes_cut" in json.dumps(refused.json())
    assert client.post(address, {"takes_cut": True}, content_type="application/json").status_code == 202
    run_jobs()
    assert TraceExample.objects.filter(promotion=seen).count() == 1
    assert AuditEntry.objects.filter(verb="promotion_make").latest("pk").detail["cut_turns"] == 1


def test_a_whole_sample_needs_no_word(client, token, dataset, adjudicator, run_jobs) -> None:
    send(client, token, export(*conversation()))
    traces_settle()
    seen = promoted(run_jobs, dataset, adjudicator, shows_first=True)
    promotion_make(promotion=seen, actor=adjudicator)
    run_jobs()
    assert TraceExample.objects.filter(promotion=seen).count() == 1
