"""One conversation, sent as OTLP by the instrumentations of others, is one transcript for each of its two turns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.test_made_by_libraries import CONVERSATION
from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.files.evaluation_files.spans import transcript_messages
from toolevals.grading.reading.telemetry.conventions import reading_of
from toolevals.grading.reading.telemetry.otlp import TelemetrySpan, spans_in
from toolevals.grading.values import Message

FOLDER = Path(__file__).parent / "made"
# The convention of each file, what its spans do not hold, and the attributes that are not read.
FILES: dict[str, tuple[str, frozenset[str], set[str]]] = {
    "ai_sdk": ("ai_sdk", frozenset(), set()),
    # Its client's spans of HTTP have attributes of their own.
    "azure_ai_inference": ("otel_genai", frozenset({"error", "tools"}), {"component", "az.client_request_id"}),
    "google_adk": ("google_adk", frozenset({"agent's name", "error in an object"}), set()),
    "google_adk_1": ("google_adk", frozenset({"agent's name"}), set()),
    "langgraph": ("openinference", frozenset({"error"}), set()),
    "langsmith_otel": ("langsmith", frozenset({"error"}), set()),
    "openai_agents": ("openinference", frozenset({"error", "system", "one message"}), set()),
    "openinference_openai": ("openinference", frozenset({"error"}), set()),
    "openllmetry_openai": ("otel_genai", frozenset({"error"}), {"gen_ai.is_streaming"}),
    "pydantic_ai": (
        "otel_genai",
        frozenset(),
        {
            "pydantic_ai.new_message_index",
            "pydantic_ai.tool.retry.attempt",
            "pydantic_ai.tool.retry.cause",
            "pydantic_ai.tool.retry.max_retries",
        },
    ),
    # The convention's first form, events of messages, as one attribute. "running tools" is a span of no convention.
    "pydantic_ai_events": ("otel_genai", frozenset({"Python's words", "advice"}), {"tools", "logfire.msg"}),
    "traceai_openai": ("openinference", frozenset({"error"}), set()),
}
# What a library writes otherwise: each text, and what it writes in its place.
OTHERWISE: dict[str, dict[str, str]] = {
    "agent's name": {the.SYSTEM: f'{the.SYSTEM}\n\nYou are an agent. Your internal name is "support".'},
    "error in an object": {the.FAILURE: json.dumps({"error": the.FAILURE}, separators=(",", ":"))},
    "Python's words": {json.dumps(each, separators=(",", ":")): str(each) for each in the.ORDERS.values()},
    "advice": {the.FAILURE: f"{the.FAILURE}\n\nFix the errors and try again."},
}
# The places of the turns in the conversation: what was given, and what the agent did.
TURNS = ((2, 6), (7, 10))


def exports(name: str) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["exports"]
    return made


def entries(name: str) -> list[Entry]:
    lines = "\n".join(json.dumps(export) for export in exports(name))
    return [found for _, found in evaluation_file(lines.encode()).entries() if isinstance(found, Entry)]


def spans(name: str) -> list[TelemetrySpan]:
    every = [span for export in exports(name) for _, span in spans_in(export)]
    return [span for span in every if isinstance(span, TelemetrySpan)]


def kept(messages: tuple[Message, ...], lacking: frozenset[str]) -> list[Message]:
    """Return messages as a library writes them that leaves something out."""
    found: list[Message] = []
    for message in messages:
        if message.role == "system" and "system" in lacking:
            continue
        each = replace(message, is_error=message.is_error and "error" not in lacking, content=message.content or None)
        before = found[-1] if found else None
        if "one message" in lacking and before and before.role == each.role == "assistant" and not each.content:
            found[-1] = replace(before, calls=before.calls + each.calls)
        else:
            found.append(each)
    return found


def expected(messages: tuple[Message, ...], lacking: frozenset[str]) -> list[Message]:
    """Return the conversation's messages as a library writes them, which leaves things out and has words of its own."""
    words = {text: other for name in lacking for text, other in OTHERWISE.get(name, {}).items()}
    return [replace(each, content=words.get(each.content or "", each.content)) for each in kept(messages, lacking)]


def test_every_file_is_tested():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_turn_is_a_trial_with_its_input_tools_calls_results_and_answer(name):
    _, lacking, unread = FILES[name]
    found = entries(name)
    assert len(found) == len(TURNS)
    for entry, (start, end) in zip(found, TURNS, strict=True):
        assert entry.example is not None
        assert entry.trial is not None
        # That a call of an earlier turn failed, most say in that turn's trace alone.
        given = kept(transcript_messages(entry.example.input["messages"]), lacking | {"error"})
        assert given == expected(CONVERSATION[:start], lacking | {"error"})
        assert kept(entry.trial.transcript.messages, lacking) == expected(CONVERSATION[start:end], lacking)
        assert entry.trial.transcript.answer == CONVERSATION[end - 1].content
        assert entry.trial.transcript.usage == {"input_tokens": 80, "output_tokens": 18}
        offered = entry.example.tools or []
        assert isinstance(offered, list)
        assert [tool.name for tool in offered] == ([] if "tools" in lacking else ["get_order", "get_stock"])
    lost = {loss.pointer.rpartition("/")[2] for entry in found for loss in entry.losses}
    assert lost == unread


@pytest.mark.parametrize("name", FILES)
def test_spans_say_what_they_are_and_what_they_took(name):
    convention, _, unread = FILES[name]
    readings = [reading_of(span) for span in spans(name)]
    models = [reading for reading in readings if reading.kind == "model"]
    assert {reading.convention for reading in models} == {convention}
    # LiteLLM, by which the ADK asks, names the protocol before the model.
    assert [(reading.model.removeprefix("openai/"), dict(reading.usage)) for reading in models] == [
        ("model-x", {"input_tokens": 40, "output_tokens": 9})
    ] * 4
    tools = sorted((reading.tool, json.dumps(reading.given)) for reading in readings if reading.kind == "tool")
    # OpenInference's instrumentation of LangChain writes the one text among a tool's arguments without its name.
    orders = ['"A-1"', '"A-2"'] if name == "langgraph" else ['{"id": "A-1"}', '{"id": "A-2"}']
    assert tools in ([], [*(("get_order", order) for order in orders), ("get_stock", '{"sku": 7}')])
    assert {name for reading in readings for name in reading.unread} == unread


@pytest.mark.parametrize("name", FILES)
def test_spans_that_come_in_any_order_and_twice_are_the_same_trials(name):
    several = [export for export in reversed(exports(name)) for _ in range(2)]
    content = "\n".join(json.dumps(export) for export in several).encode()
    again = [found for _, found in evaluation_file(content).entries() if isinstance(found, Entry)]
    assert sorted(str(entry.trial) for entry in again) == sorted(str(entry.trial) for entry in entries(name))
