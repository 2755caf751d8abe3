"""Excess calls: which cells, what they cost and what they give away, worked by hand."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from reports.run.overreach import NEEDLESS, OVER_TOOLING, WRONG_TOOL, CallPrice, overreach_of
from tests.reports.building import cases_of
from tests.reports.reading import csv_rows, text
from tests.runs.building import HISTORY, REFUND, STATUS, example, uploaded_run, version_of
from toolevals.grading.values import CallExpectation, Expectation, ToolSpec, Trajectory
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL
from toolevals.runs.aggregates.tool_spending import Amount, Timing, ToolSpent
from toolevals.runs.models import Grading, ToolSpending

SPECS = {
    "status": (ToolSpec("status", "", {}, cost=1.0, sensitive_output=("/name",)),),
    "customer": (ToolSpec("customer", "", {}, cost=3.5, sensitive_output=("/name", "/address", "/card")),),
    "weather": (ToolSpec("weather", "", {}),),
}
COUNTS = {
    ("status", "status"): 9,
    ("status", "customer"): 4,
    ("customer", "status"): 2,
    ("weather", "customer"): 1,
    (NONE, "status"): 3,
    (NONE, "weather"): 1,
    ("status", UNKNOWN_TOOL): 5,
    ("status", NONE): 6,
}


def test_cells_are_those_that_reach_further_or_were_not_due():
    found = overreach_of(COUNTS, SPECS)
    assert [(row.expected, row.actual, row.count, row.kind, row.exposed, row.extra) for row in found.rows] == [
        ("status", "customer", 4, OVER_TOOLING, ("/address", "/card"), Decimal("2.5")),
        (NONE, "status", 3, NEEDLESS, ("/name",), Decimal("1.0")),
        (NONE, "weather", 1, NEEDLESS, (), None),
        ("weather", "customer", 1, OVER_TOOLING, ("/address", "/card", "/name"), None),
    ]
    assert (found.calls, found.exposing, found.extra) == (9, 8, Decimal("13.0"))


def test_calls_that_the_gold_lets_be_are_left_out():
    found = overreach_of(COUNTS, SPECS, {(NONE, "status"): 2, (NONE, "weather"): 1})
    assert [(row.expected, row.actual, row.count) for row in found.rows] == [
        ("status", "customer", 4),
        (NONE, "status", 1),
        ("weather", "customer", 1),
    ]
    assert (found.calls, found.let_be) == (6, 3)


def test_a_gold_lets_be_what_it_neither_expects_nor_rules_out():
    call = CallExpectation("status")
    open_ended = Expectation("calls", alternatives=(Trajectory((call,), disallowed=(CallExpectation("customer"),)),))
    assert (open_ended.lets_be("weather"), open_ended.lets_be("customer")) == (True, False)
    closed = Expectation("calls", alternatives=(Trajectory((call,), additional_calls=False),))
    assert not closed.lets_be("weather")
    assert not Expectation("no_call", why="greeting").lets_be("weather")


def test_without_specs_nothing_is_said():
    found = overreach_of(COUNTS, {})
    assert (found.rows, found.calls, found.extra) == ((), 0, None)


@given(st.dictionaries(st.tuples(st.sampled_from([*SPECS, NONE]), st.sampled_from([*SPECS, NONE])), st.integers(1, 9)))
def test_of_two_tools_at_most_one_reaches_further(counts):
    rows = {(row.expected, row.actual) for row in overreach_of(counts, SPECS).rows if row.is_excess}
    assert not any((actual, expected) in rows for expected, actual in rows)
    assert all(row.count == counts[row.expected, row.actual] for row in overreach_of(counts, SPECS).rows)


@pytest.mark.database
def test_page_file_and_interface_say_the_same(build, get, browser_of):
    grading = build.grading(cases_of({("a", "a"): 3, (NONE, "a"): 2, (NONE, "b"): 1}))
    written = csv_rows(get("overreach-csv", grading))
    address = reverse("reports-api:overreach", args=[grading.run.project.slug, grading.run.number])
    said = browser_of.get(address).json()
    assert [(row["expected"], row["actual"], int(row["calls"])) for row in written] == [(NONE, "a", 2), (NONE, "b", 1)]
    assert [(row["expected"], row["actual"], row["calls"]) for row in said["rows"]] == [(NONE, "a", 2), (NONE, "b", 1)]
    assert said["calls"] == 3
    assert "Excess calls" in text(get("spending", grading))


@pytest.mark.database
def test_look_ups_beside_the_expected_calls_are_not_over_tooling(project, get, run_jobs):
    """Two golds expect the same call; the one that lets others come, but no customer, is called beside."""
    closed = example("closed", "Where is ORD-1?", STATUS)
    beside = {"alternatives": [{"ordered": [{"tool": STATUS}], "disallowed": [{"tool": REFUND}]}], "kind": "calls"}
    free = {name: closed[name] for name in ("input", "tools")} | {"id": "free", "expectation": beside}
    made = [{"name": name, "arguments": {"order_id": "ORD-1"}} for name in (STATUS, HISTORY, HISTORY, REFUND)]
    version = version_of(project, [closed, free])
    run = uploaded_run(project, version, [{"id": name, "tool_calls": made} for name in ("closed", "free")])
    run_jobs()
    grading = Grading.objects.select_related("run__project").get(run=run)
    said = get("api:overreach", grading).json()
    assert {(row["expected"], row["actual"]): row["calls"] for row in said["rows"]} == {
        (NONE, HISTORY): 2,
        (NONE, REFUND): 2,
    }
    assert (said["calls"], said["let_be"]) == (4, 2)
    assert "2 more calls not counted" in re.sub("<[^>]+>", "", text(get("spending", grading)))


def test_the_price_is_said_in_tokens_and_money_and_takes_in_tools_of_equal_cost():
    specs = SPECS | {"twin": (ToolSpec("twin", "", {}, cost=1.0, sensitive_output=("/name",)),)}
    counts = {("status", "customer"): 4, ("status", "twin"): 2, (NONE, "status"): 3, ("status", "weather"): 1}
    prices = {"status": CallPrice(100.0, 0.5), "customer": CallPrice(250.0, 0.75), "twin": CallPrice(130.0, None)}
    found = overreach_of(counts, specs, {}, prices)
    assert [
        (row.expected, row.actual, row.kind, row.extra, row.extra_tokens, row.extra_money) for row in found.rows
    ] == [
        ("status", "customer", OVER_TOOLING, Decimal("2.5"), 150.0, 0.25),
        (NONE, "status", NEEDLESS, Decimal("1.0"), 100.0, 0.5),
        ("status", "twin", WRONG_TOOL, Decimal("0.0"), 30.0, None),
    ]
    assert (found.calls, found.wrong_calls) == (7, 2)
    assert found.tokens == 4 * 150 + 3 * 100 + 2 * 30
    assert found.money == 4 * 0.25 + 3 * 0.5
    assert found.extra == 13


@pytest.mark.database
def test_every_unit_is_named_and_each_cell_opens_its_cases(build, get):
    grading = build.grading(cases_of({("a", "a"): 3, ("a", "b"): 2, (NONE, "b"): 1}))
    for tool, calls, tokens, cost in (("a", 3, 300.0, 3.0), ("b", 3, 600.0, 4.5)):
        parts = {"tokens_in": Amount(calls, tokens), "tokens_out": Amount(calls, 0.0), "cost": Amount(calls, cost)}
        spent = ToolSpent(tool, calls, calls, Timing(), Timing(), **parts)
        ToolSpending.objects.create(grading=grading, tool=tool, calls=calls, steps=calls, measured=spent.to_document())
    rows = {(row["expected"], row["actual"]): row for row in csv_rows(get("overreach-csv", grading))}
    wrong = rows["a", "b"]
    assert (float(wrong["extra_tokens"]), float(wrong["extra_tokens_in_all"])) == (100.0, 200.0)
    assert (float(wrong["extra_money"]), float(wrong["extra_money_in_all"])) == (0.5, 1.0)
    assert float(rows[NONE, "b"]["extra_tokens"]) == 200.0
    said = get("api:overreach", grading).json()
    assert (said["extra_tokens"], said["extra_money"]) == (400.0, 2.5)
    page = text(get("spending", grading))
    plain = " ".join(re.sub("<[^>]+>", "", page).split())
    assert "+400 tokens, +2.5 money (by the run’s prices)." in plain
    assert "a call: +100 tokens, +0.5 money" in plain
    assert "view=aligned&amp;expected=a&amp;actual=b" in page
