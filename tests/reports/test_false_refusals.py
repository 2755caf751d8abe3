"""The rules of a policy over traces, and what people say of the calls that they refuse."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from reports.guard.analysis import Judged, judged_of
from reports.guard.measuring import rates_start
from reports.guard.queries import judged_refusals
from reports.guard.services import modes_change, needs_reason, version_enforce
from reports.models import PolicyRates, PolicyRefusal, RefusalMark
from tests.fixtures.people import known_as_valid, person
from tests.runs.building import REFUND, STATUS, TOOLS, call, example, uploaded_run, version_of
from tests.traces.sending import conversation, export, span
from toolevals.grading.reading.examples import read_example
from toolevals.registry.models import Policy
from toolevals.registry.policies.services import policy_create, version_publish
from toolevals.traces.intake.services import spans_store
from toolevals.traces.intake.sorting import sorted_spans
from toolevals.traces.models import Trace, TraceExample
from toolevals.traces.reading.services import trace_settle
from toolevals.workspace.models import AuditEntry, Role
from toolevals.workspace.projects.services import member_set

pytestmark = pytest.mark.django_db
RULES = {
    "rules": {
        "no-order": {"kind": "blocked", "mode": "audit", "tools": ["get_order", REFUND]},
        "no-refund": {"kind": "blocked", "mode": "audit", "tools": [REFUND]},
    }
}


def traces_store(project: Any, count: int, **more: Any) -> list[Trace]:
    """Store so many traces, each with one call of get_order, oldest first."""
    for number in range(1, count + 1):
        told = conversation(f"{number:032x}", **{"arguments": {"id": str(number)}, **more})
        spans_store(project=project, traces=sorted_spans(export(*told)).traces)
    for trace in Trace.objects.all():
        trace_settle(trace=trace)
    return list(Trace.objects.order_by("pk"))


@pytest.fixture
def policy(project) -> Policy:
    return policy_create(project=project, actor=None, slug="shop", name="Shop", document=RULES).policy


@pytest.fixture
def measure(policy, run_jobs):
    """Return a function that measures the newest version."""

    def measured(**more: Any) -> PolicyRates:
        rates = rates_start(version=policy.versions.first(), actor=None, **more)
        run_jobs()
        rates.refresh_from_db()
        return rates

    return measured


def listed(rates: PolicyRates, rule: str = "no-order", name: str = "policy-refusals") -> str:
    return reverse(f"reports:{name}", args=["shop", rates.pk, rule])


def said(client: Client, person: Any, refusal: PolicyRefusal, mark: str, of: str = "traces") -> int:
    client.force_login(person)
    address = f"{listed(refusal.rates, refusal.rule, 'policy-refusal-mark')}?of={of}"
    return client.post(address, {"refusal": str(refusal.pk), "mark": mark}).status_code


def test_rules_are_measured_over_the_newest_traces(project, policy, measure):
    oldest, *_ = traces_store(project, 3)
    rates = measure(traces=2)
    assert rates.sources["traces"] == {"asked": 2, "read": 2, "unread": 0}
    found = {name: (rule["traces"]["calls"], rule["traces"]["refused"]) for name, rule in rates.rules.items()}
    assert found == {"no-order": (2, 2), "no-refund": (2, 0)}
    refused = PolicyRefusal.objects.filter(rule="no-order")
    assert not refused.filter(trace=oldest).exists()
    assert {(each.tool, each.call, each.is_expected, each.revision) for each in refused} == {
        ("get_order", 1, None, None)
    }


def test_a_trace_that_came_cut_or_tells_nothing_is_left_out(project, policy, measure):
    cut = conversation("1" * 32)
    cut[1] |= {"droppedAttributesCount": 3}
    alone = [span(1, "batch", trace="2" * 32)]
    for told in (cut, alone, conversation()):
        spans_store(project=project, traces=sorted_spans(export(*told)).traces)
    for trace in Trace.objects.all():
        trace_settle(trace=trace)
    rates = measure()
    assert rates.sources["traces"] == {"asked": 1_000, "read": 1, "unread": 2}
    assert rates.rules["no-order"]["traces"]["calls"] == 1


def test_a_rule_not_measured_over_traces_asks_for_a_reason(project, policy, measure, run_jobs, owner):
    rows = [example(f"status-{place}", f"Where is order ORD-1, case {place}?", STATUS) for place in range(25)]
    uploaded_run(project, version_of(project, rows), [call(row["id"], STATUS) for row in rows])
    run_jobs()
    measure(traces=0)
    version = modes_change(version=policy.versions.get(), actor=None, modes={"no-refund": "enforce"})
    assert needs_reason(version) == ("no-refund",)
    measure(traces=10)
    assert needs_reason(version) == ()


def test_reading_what_is_refused_in_traces_makes_its_rate_known(project, policy, measure, client, reviewer):
    traces_store(project, 20)
    measure()
    version = modes_change(version=policy.versions.get(), actor=None, modes={"no-order": "enforce"})
    assert needs_reason(version) == ("no-order",)
    for each in PolicyRefusal.objects.filter(rule="no-order"):
        assert needs_reason(version) == ("no-order",)
        assert said(client, reviewer, each, "refuse") == 302
    assert needs_reason(version) == ()
    version_enforce(version=version, actor=None)


def test_each_person_marks_a_call_once_and_it_holds_when_measured_again(project, policy, measure, client, reviewer):
    traces_store(project, 2)
    first, second = PolicyRefusal.objects.filter(rates=measure(), rule="no-order").order_by("pk")
    for mark in ("refuse", "allow", "allow"):
        said(client, reviewer, first, mark)
    said(client, reviewer, second, "refuse")
    assert RefusalMark.objects.count() == 2
    again = measure()
    assert judged_refusals(again) == {"no-order": {"traces": Judged(2, 1, 0)}}
    said(client, reviewer, PolicyRefusal.objects.get(rates=again, rule="no-order", trace=first.trace), "back")
    assert judged_refusals(again) == {"no-order": {"traces": Judged(1, 0, 0)}}
    entry = AuditEntry.objects.filter(verb="refusal_mark").latest("pk")
    assert (entry.actor, entry.detail["is_false"], entry.detail["subject"]) == (reviewer, None, str(first.trace_id))


def test_a_call_counts_by_what_most_of_its_readers_say():
    marks = [[True], [False, False], [True, True, False], [True, False], []]
    assert judged_of(marks) == Judged(calls=3, false=2, split=1)
    assert Judged().interval is None


def test_the_page_of_a_rule_shows_what_was_read(project, policy, measure, client, reviewer, viewer):
    traces_store(project, 2)
    rates = measure()
    other = person("Another")
    with known_as_valid():
        member_set(project=project, actor=None, user=other, role=Role.REVIEWER)
    first, second = PolicyRefusal.objects.filter(rule="no-order").order_by("pk")
    said(client, reviewer, first, "allow")
    said(client, reviewer, second, "allow")
    said(client, other, second, "refuse")
    client.force_login(reviewer)
    page = " ".join(client.get(f"{listed(rates)}?of=traces").content.decode().split())
    assert "1 of 1 refused call that people read should have been allowed." in page
    assert "people disagree" in page
    assert "1 false, 1 right" in page
    assert reverse("traces:trace", args=["shop", first.trace_id]) in page
    policies = " ".join(client.get(reverse("reports:policy", args=["shop", "shop"])).content.decode().split())
    assert "1 of 1 read as wrong" in policies
    client.force_login(viewer)
    assert 'name="mark"' not in client.get(f"{listed(rates)}?of=traces").content.decode()
    assert said(client, viewer, first, "allow") == 403
    answer = client.get(reverse("reports-api:policy-rates", args=["shop", "shop", 1])).json()
    row = next(each for each in answer["rules"] if each["rule"] == "no-order")
    assert (row["calls_in_traces"], row["refused_in_traces"], row["judged"], row["false_refusals"]) == (2, 2, 1, 1)
    content = b"".join(client.get(f"{listed(rates, name='policy-refusals-csv')}?of=traces")).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [(each["trace_id"], each["marked_false"], each["marked_right"]) for each in rows] == [
        (str(second.trace_id), "1", "1"),
        (str(first.trace_id), "1", "0"),
    ]


def test_a_long_list_of_refusals_takes_no_more_queries(project, policy, measure, client, reviewer):
    def queries(traces: int) -> int:
        traces_store(project, traces)
        rates = measure()
        for each in PolicyRefusal.objects.filter(rates=rates, rule="no-order"):
            said(client, reviewer, each, "refuse")
        address = f"{listed(rates)}?of=traces"
        client.get(address)
        with CaptureQueriesContext(connection) as caught:
            assert client.get(address).content.decode().count("Right to refuse") >= traces
        return len(caught)

    few = queries(2)
    assert queries(12) <= few


def test_calls_of_runs_and_of_gold_are_marked_too(project, policy, measure, client, reviewer, run_jobs):
    uploaded_run(project, version_of(project), [call("refund", REFUND)])
    run_jobs()
    rates = measure()
    for of in ("runs", "gold"):
        refusal = PolicyRefusal.objects.get(rule="no-refund", case__isnull=of == "gold")
        assert said(client, reviewer, refusal, "allow", of) == 302
    found = judged_refusals(rates)["no-refund"]
    assert found == {"runs": Judged(1, 1, 0), "gold": Judged(1, 1, 0)}


def test_a_trace_that_people_still_label_is_not_listed(project, policy, measure, client, reviewer, viewer):
    (trace,) = traces_store(project, 1)
    dataset = dataset_create(project=project, actor=None, slug="support", name="Support")
    row = {"id": "order", "input": {"messages": [{"role": "user", "content": "Where?"}]}, "tools": TOOLS}
    examples_import(dataset=dataset, actor=None, rows=[read_example(row)])
    TraceExample.objects.create(project=project, trace=trace, example=dataset.examples.get(), turn=1)
    rates = measure()
    refusal = PolicyRefusal.objects.get(rule="no-order")
    said(client, reviewer, refusal, "allow")
    assert not RefusalMark.objects.exists()
    addresses = [f"{listed(rates)}?of=traces", f"{listed(rates, name='policy-refusals-csv')}?of=traces"]
    addresses.append(reverse("reports-api:policy-refusals", args=["shop", "shop"]) + "?rule=no-order&of=traces")
    for reader, there in ((reviewer, False), (viewer, True)):
        client.force_login(reader)
        for address in addresses:
            answer = client.get(address)
            content = b"".join(answer) if answer.streaming else answer.content
            assert (str(trace.pk).encode() in content) is there


def test_what_is_no_refusal_or_no_mark_is_not_kept(project, policy, measure, client, reviewer):
    traces_store(project, 1)
    refusal = PolicyRefusal.objects.filter(rates=measure(), rule="no-order").get()
    said(client, reviewer, refusal, "maybe")
    refusal.rule = "no-refund"
    said(client, reviewer, refusal, "allow")
    assert "no longer listed" in client.get(listed(refusal.rates, "no-refund")).content.decode()
    assert not RefusalMark.objects.exists()
    assert client.get(listed(refusal.rates, "no-such")).status_code == 404


def test_marks_hold_for_the_rule_and_not_for_others(project, policy, measure, client, reviewer):
    traces_store(project, 1)
    refusal = PolicyRefusal.objects.filter(rates=measure(), rule="no-order").get()
    said(client, reviewer, refusal, "allow")
    other = {"rules": {**RULES["rules"], "any": {"kind": "blocked", "mode": "audit", "tools": ["get_order"]}}}
    version_publish(policy=policy, actor=None, document=other)
    assert set(judged_refusals(measure())) == {"no-order"}


@pytest.mark.parametrize("traces", ["many", "-1", "20001"])
def test_a_number_of_traces_that_is_none_is_refused(client, adjudicator, policy, traces):
    client.force_login(adjudicator)
    address = reverse("reports:policy-version", args=["shop", "shop", 1])
    answer = client.post(address, {"act": "measure", "traces": traces})
    assert (answer.status_code, "/traces" in answer.content.decode()) == (422, True)
    assert not PolicyRates.objects.exists()


def test_a_refusal_is_marked_by_rest(project, policy, measure, client, reviewer, viewer):
    traces_store(project, 1)
    rates = measure()
    refusal = PolicyRefusal.objects.get(rule="no-order")
    address = reverse("reports-api:refusal-mark", args=["shop", "shop", refusal.pk])
    client.force_login(reviewer)
    for is_false, marks in ((True, (1, 0)), (False, (0, 1)), (None, (0, 0))):
        row = client.put(address, {"is_false": is_false}, content_type="application/json").json()
        assert (row["marked_false"], row["marked_right"]) == marks
    assert judged_refusals(rates) == {}
    assert client.put(address, {}, content_type="application/json").status_code == 422
    client.force_login(viewer)
    assert client.put(address, {"is_false": True}, content_type="application/json").status_code == 403


def test_every_reason_stays_in_the_history(project, policy, measure, client, adjudicator):
    version = modes_change(version=policy.versions.get(), actor=None, modes={"no-order": "enforce"})
    client.force_login(adjudicator)
    address = reverse("reports:policy-version", args=["shop", "shop", version.number])
    for reason in ("It was abused.", "It is abused again."):
        client.post(address, {"act": "enforce", "reason": reason})
        client.post(address, {"act": "lift"})
    page = " ".join(client.get(address).content.decode().split())
    assert "Activated: It was abused." in page
    assert "Activated: It is abused again." in page
    assert page.count("Taken out of force") == 2
