"""Spans of functions that are traced as tools: arguments, results and kinds by their own names, and no schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.traces.sending import TOOL, export, send, span
from toolevals.grading.reading.telemetry.conventions import reading_of
from toolevals.grading.reading.telemetry.otlp import TelemetrySpan
from toolevals.registry.services import registry_create, registry_publish
from toolevals.traces.models import SpanVerdict, ToolUse
from toolevals.traces.reading.services import traces_settle

CALL = {"gen_ai.tool.name": "get_order", "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": {"id": 7}}
FAILED = {"gen_ai.tool.call.result": {"status": 400, "error": "Bad Request: id must be text"}}


def read(**attributes: Any) -> Any:
    kept = {key: json.dumps(value) if isinstance(value, dict) else value for key, value in attributes.items()}
    return reading_of(TelemetrySpan("1" * 32, "1" * 16, "", "get_order", 0, 1, kept))


@pytest.mark.parametrize("key", ["fi.span.kind", "gen_ai.span.kind"])
def test_a_tool_has_its_arguments_result_and_id(key: str) -> None:
    found = read(**{key: "TOOL", **CALL, **FAILED})
    assert (found.kind, found.tool, found.call_id) == ("tool", "get_order", "c1")
    assert found.given == {"id": 7}
    assert found.made == FAILED["gen_ai.tool.call.result"]
    assert not found.unread


def test_a_decorator_alone_gives_input_and_output() -> None:
    found = read(**{"gen_ai.span.kind": "TOOL", "input.value": {"id": "7"}, "output.value": "shipped"})
    assert (found.tool, found.given, found.made) == ("get_order", {"id": "7"}, "shipped")


@pytest.mark.parametrize(("said", "kind"), [
    ("TOOL", "tool"), ("CHAIN", "agent"), ("LLM", "model"), ("AGENT", "agent"), ("CONVERSATION", "agent"),
    ("WORKFLOW", "agent"), ("A2A_CLIENT", "agent"), ("A2A_SERVER", "agent"), ("RETRIEVER", "other"),
    ("EMBEDDING", "other"), ("RERANKER", "other"), ("UNKNOWN", "other"), ("GUARDRAIL", "other"),
    ("EVALUATOR", "other"), ("VECTOR_DB", "other"), ("SOMETHING_NEW", "other"),
])  # fmt: skip
def test_every_kind_is_read_and_kept_as_it_was_said(said: str, kind: str) -> None:
    found = read(**{"fi.span.kind": said})
    assert (found.kind, found.step) == (kind, said)


def test_a_model_with_messages_in_json_is_read() -> None:
    found = read(**{"gen_ai.span.kind": "LLM", "gen_ai.input.messages": '[{"role": "user", "content": "Where?"}]'})
    assert found.given == [{"role": "user", "content": "Where?"}]


def test_a_span_with_an_error_message_failed() -> None:
    assert read(**{"gen_ai.span.kind": "TOOL", "error.message": "no such order"}).error == "no such order"


@pytest.fixture
def sent(client, token, settings) -> Any:
    settings.TRACES_QUIET_SECONDS = 0

    def send_tool(**more: Any) -> ToolUse:
        send(client, token, export(span(1, "get_order", attributes={"gen_ai.span.kind": "TOOL", **CALL, **more})))
        traces_settle()
        return ToolUse.objects.get()

    return send_tool


def test_a_tool_below_an_agent_that_tells_what_was_asked_is_used_once(client, token, settings) -> None:
    """No model's call was recorded: the conversation's call is the one that the span ran."""
    settings.TRACES_QUIET_SECONDS = 0
    asked = '[{"role": "user", "parts": [{"type": "text", "content": "Where is order 7?"}]}]'
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": asked}
    tool = {"gen_ai.operation.name": "execute_tool", **CALL, **FAILED}
    send(client, token, export(span(1, "agent", attributes=agent), span(2, "get_order", parent=1, attributes=tool)))
    traces_settle()
    assert ToolUse.objects.get().error_class


def publish(project, owner, slug: str, tool: dict[str, Any]) -> None:
    registry = registry_create(project=project, actor=owner, slug=slug, name=slug)
    registry_publish(registry=registry, actor=owner, document=[tool])


def test_a_400_is_an_error(sent) -> None:
    assert sent(**FAILED).error_class


def test_arguments_are_checked_by_the_registry_where_no_tool_was_offered(sent, project, owner) -> None:
    publish(project, owner, "shop", TOOL)
    use = sent()
    assert use.arguments_fit is False
    assert SpanVerdict.objects.get(rule="schema").status == "failed"


def test_the_schema_of_the_span_itself_comes_first(sent, project, owner) -> None:
    publish(project, owner, "shop", TOOL)
    own = {"type": "object", "properties": {"id": {"type": "integer"}}}
    assert sent(**{"tool.parameters": own}).arguments_fit is True


def test_nothing_is_said_where_two_registries_differ_or_none_knows_it(sent, project, owner) -> None:
    publish(project, owner, "shop", TOOL)
    publish(project, owner, "other", {**TOOL, "description": "Another."})
    assert sent().arguments_fit is None
