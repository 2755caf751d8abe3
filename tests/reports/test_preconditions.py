"""Preconditions that gold and traces suggest: what is read, the conversations behind each, and what adds one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from reports.preconditions.queries import suggestions
from tests.runs.building import HISTORY, REFUND, STATUS, TOOLS, version_of
from tests.traces.sending import export, send, sender, span
from toolevals.registry.models import Policy
from toolevals.registry.policies.services import policy_activate, policy_create, version_publish
from toolevals.traces.models import SpanVerdict, Trace
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.models import AuditEntry, Role

pytestmark = pytest.mark.django_db
PAGE = "/p/shop/policies/desk/preconditions/"
API = "/api/v1/projects/shop/policies/desk/preconditions/"
STOP = {"kind": "blocked", "mode": "audit", "tools": ["drop_all"]}


@pytest.fixture
def policy(project) -> Policy:
    document = {"rules": {"stop": STOP}}
    return policy_create(project=project, actor=None, slug="desk", name="Desk", document=document).policy


@pytest.fixture
def worked(client, project, owner, settings) -> Any:
    """Return a function that sends so many traces, each with calls of these tools; `404` after one is its error."""
    settings.TRACES_QUIET_SECONDS = 0
    token = sender(project, owner)
    sent = iter(range(1, 1000))

    def work(count: int, *tools: str) -> None:
        for _ in range(count):
            trace = f"{next(sent):032x}"
            spans = [span(1, "invoke_agent shop", trace=trace, attributes={"gen_ai.operation.name": "invoke_agent"})]
            for number, each in enumerate(tools, 2):
                tool, _, error = each.partition(" ")
                attributes = {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": tool,
                    "gen_ai.tool.call.arguments": {"order_id": "ORD-1"},
                    "gen_ai.tool.call.result": '{"error": "order not found", "code": 404}' if error else "done",
                }
                spans.append(span(number, tool, trace=trace, parent=1, attributes=attributes))
            send(client, token, export(*spans))
        traces_settle()

    return work


def gold(name: str, *tools: str, group: tuple[str, ...] = (), before: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return an example whose gold has calls in order, one group in any order, and calls that were made before."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Please help, {name}."}]
    for number, tool in enumerate(before):
        function = {"name": tool, "arguments": '{"order_id": "ORD-1"}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "done"},
            {"role": "user", "content": "Go on."},
        ]
    ordered: list[dict[str, Any]] = [{"tool": tool} for tool in tools]
    ordered += [{"any_order": [{"tool": tool} for tool in group]}] if group else []
    expectation = {"kind": "calls", "alternatives": [{"ordered": ordered}]}
    return {"id": name, "input": {"messages": messages}, "tools": TOOLS, "expectation": expectation}


def pairs(policy: Policy, role: Role = Role.OWNER) -> dict[tuple[str, str], tuple[Any, Any]]:
    return {
        (each.pair.after, each.pair.tool): (tuple(each.pair.gold), tuple(each.pair.traces))
        for each in suggestions(policy, role)
    }


def test_gold_suggests_what_comes_before_in_its_order_and_in_what_was_said(policy, project):
    rows = [gold(f"told-{place}", STATUS, REFUND) for place in range(4)]
    rows += [gold(f"said-{place}", REFUND, before=(STATUS,)) for place in range(3)]
    rows += [gold("alone", REFUND), gold("group", group=(HISTORY, REFUND))]
    version_of(project, rows)
    # In a group no one knows what came first: it says nothing of the refund.
    assert pairs(policy) == {(STATUS, REFUND): ((8, 7), (0, 0))}


def test_traces_suggest_what_went_well_alone(policy, worked):
    worked(6, STATUS, REFUND)
    worked(1, REFUND)
    # 6 of 7 may be fewer than half.
    assert pairs(policy) == {}
    worked(6, STATUS, REFUND)
    assert pairs(policy) == {(STATUS, REFUND): ((0, 0), (13, 12))}
    # A call that failed was not made, neither before nor after.
    worked(1, f"{STATUS} 404", REFUND)
    worked(1, f"{REFUND} 404", STATUS, REFUND)
    assert pairs(policy) == {(STATUS, REFUND): ((0, 0), (15, 13))}
    # A trace that a rule failed, or that met an error, is no example.
    SpanVerdict.objects.filter(trace=Trace.objects.latest("pk")).delete()
    trace = Trace.objects.latest("pk")
    SpanVerdict.objects.create(
        trace=trace, project_id=trace.project_id, number=90, rule="loops", version=1, status="failed"
    )
    assert pairs(policy)[STATUS, REFUND] == ((0, 0), (14, 12))
    Trace.objects.filter(pk=Trace.objects.earliest("pk").pk).update(error="It broke.")
    assert pairs(policy)[STATUS, REFUND] == ((0, 0), (13, 11))


def test_names_that_a_policy_would_read_as_patterns_suggest_nothing(policy, worked):
    worked(6, "get_*", "delete_everything")
    worked(6, STATUS, "*")
    assert pairs(policy) == {}


def test_a_suggestion_comes_in_as_a_new_version_in_audit_that_is_not_in_force(policy, worked, client, owner):
    worked(6, STATUS, REFUND)
    policy_activate(version=policy.versions.get(), actor=owner)
    client.force_login(owner)
    page = client.get(PAGE).content.decode()
    assert "6 of" in page
    assert "Add in audit" in page
    answer = client.post(PAGE, {"tool": REFUND, "after": STATUS})
    assert answer.url == reverse("reports:policy-version", args=["shop", "desk", 2])
    newest = policy.versions.first()
    learnt = {"kind": "order", "mode": "audit", "preconditions": [{"tool": REFUND, "after": [STATUS]}]}
    assert newest.document["rules"] == {"stop": STOP, "learnt": learnt}
    policy.refresh_from_db()
    assert policy.active.number == 1
    entry = AuditEntry.objects.filter(verb="version_publish").latest("pk")
    assert entry.detail["number"] == 2
    assert f"it held in 6 of 6 conversations of traces: {REFUND} only after {STATUS}." in entry.detail["note"]
    # It is there now, and is not added twice.
    assert "in learnt" in client.get(PAGE).content.decode()
    again = client.post(PAGE, {"tool": REFUND, "after": STATUS})
    assert again.status_code == 422
    assert "has this precondition already" in again.content.decode()
    assert client.post(PAGE, {"tool": "send_money", "after": STATUS}).status_code == 422
    assert policy.versions.count() == 2


def test_a_rule_that_is_enforced_takes_no_suggestion(policy, worked, client, owner):
    order = {"kind": "order", "mode": "enforce", "preconditions": [{"tool": "x", "after": ["y"]}]}
    version_publish(policy=policy, actor=None, document={"rules": {"learnt": order}})
    worked(6, STATUS, REFUND)
    worked(6, HISTORY, "cancel_order")
    client.force_login(owner)

    def post(tool: str, after: str) -> Any:
        return client.post(API, json.dumps({"tool": tool, "after": after}), content_type="application/json")

    assert post(REFUND, STATUS).status_code == 201
    rules = post("cancel_order", HISTORY).json()["document"]["rules"]
    assert rules["learnt"] == order
    assert rules["learnt-2"]["mode"] == "audit"
    assert [each["tool"] for each in rules["learnt-2"]["preconditions"]] == [REFUND, "cancel_order"]
    assert post(REFUND, STATUS).status_code == 422


def test_the_counts_open_their_conversations_as_page_file_and_by_rest(policy, project, worked, client, owner):
    version_of(project, [gold(f"told-{place}", STATUS, REFUND) for place in range(5)])
    worked(6, STATUS, REFUND)
    worked(1, REFUND)
    client.force_login(owner)
    found = client.get(API).json()
    assert [(each["tool"], each["gold_before"], each["traces_before"], each["rule"]) for each in found] == [
        (REFUND, 5, 6, "")
    ]
    lines = b"".join(client.get("/p/shop/policies/desk/preconditions.csv")).decode().splitlines()
    assert lines[1].startswith(f"{REFUND},{STATUS},5,5,")
    query = f"?tool={REFUND}&after={STATUS}"
    for of, count, held in (("traces", 7, 6), ("gold", 5, 5)):
        rows = client.get(f"{API}conversations/{query}&of={of}").json()
        assert (len(rows), sum(each["is_before"] for each in rows)) == (count, held)
        file = b"".join(client.get(f"/p/shop/policies/desk/preconditions/conversations.csv{query}&of={of}")).decode()
        assert file.count(f"\n{of},") == count
        page = client.get(f"{PAGE}conversations/{query}&of={of}").content.decode()
        assert f"came before every call in {held} of {count}" in page
        assert all(each["id"] in page for each in rows)


def test_a_long_list_has_pages(policy, worked, client, owner):
    worked(60, STATUS, REFUND)
    client.force_login(owner)
    address = f"{PAGE}conversations/?tool={REFUND}&after={STATUS}"
    with CaptureQueriesContext(connection) as many:
        first = client.get(address)
    assert len(first.context["rows"]) == 50
    with CaptureQueriesContext(connection) as few:
        second = client.get(f"{address}&before={first.context['older']}")
    assert len(many) <= len(few)
    assert (len(second.context["rows"]), second.context["older"]) == (10, "")


def test_the_page_of_a_policy_has_the_section_and_viewers_add_nothing(policy, worked, client, viewer):
    worked(6, STATUS, REFUND)
    client.force_login(viewer)
    assert f'hx-get="{PAGE}"' in client.get("/p/shop/policies/desk/").content.decode()
    assert "Add in audit" not in client.get(PAGE).content.decode()
    assert client.post(PAGE, {"tool": REFUND, "after": STATUS}).status_code == 403
