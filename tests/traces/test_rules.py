"""Online rules: what they say of spans, stored and shown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.traces.sending import conversation, export, send, span
from toolevals.traces.models import SpanVerdict, Trace
from toolevals.traces.reading import rules
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.models import Role


@pytest.fixture
def judged(client, token, settings) -> Any:
    """Return a function that sends spans, sums them up and returns the verdicts as (rule, span's number, status)."""
    settings.TRACES_QUIET_SECONDS = 0

    def judge(*spans: dict[str, Any]) -> list[tuple[str, int, str]]:
        send(client, token, export(*spans))
        traces_settle()
        rows = SpanVerdict.objects.order_by("number").values_list("rule", "span_id", "status")
        return [(rule, int(span_id or "0", 16), status) for rule, span_id, status in rows]

    return judge


def test_a_good_conversation_passes(judged):
    assert judged(*conversation()) == [
        ("schema", 3, "passed"),
        ("shape", 3, "passed"),
        ("offered", 3, "passed"),
        ("result_use", 1, SpanVerdict.objects.get(rule="result_use").status),
        ("loops", 1, "passed"),
        ("privacy_and_safety", 1, "passed"),
    ]


def test_arguments_and_recovery_are_judged(judged, client, project, viewer):
    found = judged(*conversation(arguments={"nr": 7}, result='{"error": "order not found", "code": 404}'))
    assert ("schema", 3, "failed") in found
    assert {rule for rule, _, _ in found} >= {"recovery", "loops"}
    client.force_login(viewer)
    trace = Trace.objects.get()
    page = client.get(f"/p/shop/traces/{trace.pk}/").content.decode()
    assert "Arguments fit the schema: failed" in page
    assert "get_order: &quot;id&quot; is a required property" in page
    assert [each.pk for each in TraceFilter.of({"broke": "schema"}).page(project, Role.VIEWER, "").rows] == [trace.pk]
    assert TraceFilter.of({"broke": "offered"}).page(project, Role.VIEWER, "").rows == []


def test_the_same_call_again_and_again_is_a_loop(judged):
    tools = [
        span(number, "execute_tool get_order", parent=1, attributes={
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order",
            "gen_ai.tool.call.arguments": {"id": "7"}, "gen_ai.tool.call.result": "packed",
        })
        for number in (2, 3, 4)
    ]  # fmt: skip
    root = span(1, "invoke_agent shop", attributes={"gen_ai.operation.name": "invoke_agent"})
    assert ("loops", 1, "passed") in judged(root, *tools[:2])
    assert ("loops", 1, "failed") in judged(tools[2])
    assert "get_order was called 3 times in succession" in SpanVerdict.objects.get(rule="loops").reason


def test_a_rule_that_breaks_is_errored_and_the_others_go_on(judged, monkeypatch):
    def broken(*_: object) -> Any:
        raise RecursionError

    first = rules.RULES[0]
    monkeypatch.setattr(rules, "RULES", (rules.Rule("schema", 1, first.title, "tool", broken), *rules.RULES[1:]))
    found = judged(*conversation())
    assert found[:2] == [("schema", 1, "errored"), ("shape", 3, "passed")]


def tool_span(number: int, **attributes: Any) -> dict[str, Any]:
    named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order"}
    return span(number, "execute_tool get_order", parent=1, attributes=named | attributes)


@pytest.mark.parametrize(
    "attributes", [{}, {"gen_ai.tool.call.arguments": "7"}, {"gen_ai.tool.call.arguments": '{"id'}]
)
def test_arguments_that_nothing_says_accuse_nobody(judged, attributes):
    """A sender may keep contents back, name the only argument alone, or cut a long text off."""
    root = span(1, "invoke_agent shop", attributes={"gen_ai.operation.name": "invoke_agent"})
    found = judged(root, *(tool_span(number, **attributes) for number in (2, 3, 4)))
    assert [each for each in found if each[2] == "failed"] == []
    assert ("shape", 2, "unscored") in found


def test_arguments_that_are_no_object_are_found(judged):
    root = span(1, "invoke_agent shop", attributes={"gen_ai.operation.name": "invoke_agent"})
    assert ("shape", 2, "failed") in judged(root, tool_span(2, **{"gen_ai.tool.call.arguments": ["7"]}))
