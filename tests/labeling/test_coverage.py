"""Coverage: which tools gold is about, counts, what is lacking, and the examples behind each number."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from labeling.coverage.cache import coverage_of
from labeling.coverage.counting import coverage_count, tools_to_cover
from labeling.coverage.expected import ANY_CALL, NO_CALL, answering_tool, expected_tools
from labeling.coverage.index_gold_tools import gold_read, nearest_tools
from labeling.coverage.quotas import quotas_of, quotas_set
from labeling.coverage.table import Cell, gaps, shares, tool_rows
from labeling.imports.services import examples_import
from labeling.models import CoverageCount, Dataset, Example, GoldTool
from labeling.tasks import coverage_count as coverage_task
from tests.labeling.rows import NO_CALL as GREETING
from tests.labeling.rows import call, row
from toolevals.grading.reading.examples import read_example
from toolevals.grading.values import ToolSpec
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Job, JobState

pytestmark = pytest.mark.django_db


def answered(tool: str, content: str = '{"error": "503"}') -> dict[str, Any]:
    """Return an input in which a tool gave the last result."""
    made = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": json.dumps({"order_id": "A-1"})}}
    return {
        "messages": [
            {"role": "user", "content": "Where is A-1?"},
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": "c1", "content": content},
        ]
    }


@pytest.fixture
def covered(dataset: Dataset) -> Dataset:
    """Three calls, one without a call, a reaction to an error, one set of labels still to come."""
    recovery = {
        "id": "recovery",
        "input": answered("get_order"),
        "expectation": call("cancel_order", "Ångström"),
        "strata": {"bucket": "error_recovery", "error_class": "timeout"},
    }
    rows = [
        row("null", expectation=call(order=None), strata={"bucket": "arguments", "difficulty": "easy"}),
        row("spelled", expectation=call(), strata={"bucket": "selection", "edge_case": "Type coercion"}),
        row("none", expectation=GREETING, strata={"bucket": "selection_irrelevant"}),
        read_example(recovery),
        row("open", strata={"bucket": "selection"}),
    ]
    examples_import(dataset=dataset, actor=None, rows=rows)
    gold_read(dataset)
    return dataset


@pytest.mark.parametrize(
    ("expectation", "expected"),
    [
        ({"kind": "no_call"}, {NO_CALL: set()}),
        ({"kind": "some_call"}, {ANY_CALL: set()}),
        (call(order=[]), {"get_order": {"empty_array"}}),
        (
            {
                "kind": "calls",
                "alternatives": [
                    {
                        "ordered": [
                            {"any_order": [{"tool": "a", "arguments": {"when": {"exact": "2026-03-10T10:00+01:00"}}}]},
                            {"one_of_calls": [{"tool": "b"}, {"tool": "c", "arguments": {"x": {"one_of": [None, 1]}}}]},
                        ],
                        "unordered": [{"tool": "d", "arguments": {"y": {"fields": {"z": {"exact": []}}}}}],
                    },
                    {"ordered": [{"tool": "never"}]},
                ],
            },
            {"a": {"time_zone"}, "b": set(), "c": {"null_optional"}, "d": {"empty_array"}},
        ),
    ],
)  # fmt: skip
def test_expected_tools_are_those_of_the_first_alternative(expectation: Any, expected: dict[str, set[str]]) -> None:
    assert expected_tools(expectation, {}) == expected


def test_the_tool_that_answered_last_is_found_in_the_conversation() -> None:
    assert answering_tool(answered("get_order")["messages"]) == "get_order"
    assert answering_tool([{"role": "user", "content": "Hello"}, {"role": "user", "content": "?"}]) is None
    assert answering_tool("no messages") is None
    assert answering_tool([{"role": "tool"}, 5]) is None


def test_counts_are_of_gold_and_what_waits_is_counted_beside(covered: Dataset) -> None:
    counts = coverage_count(covered)
    assert (counts.size, counts.gold, counts.waiting, counts.unread) == (5, 4, 1, 0)
    assert counts.strata["bucket"] == {
        "arguments": [1, 0],
        "selection": [1, 1],
        "no_call": [1, 0],
        "error_recovery": [1, 0],
    }
    order = counts.tools["get_order"]
    assert (order.expected, order.negative, order.error_recovery) == (2, 1, 1)
    assert order.strata["edge_case"] == {"null_optional": 1, "type_coercion": 1}
    # It gave the error, whichever tool the agent turns to.
    assert order.strata["error_class"] == {"408": 1}
    assert counts.tools["cancel_order"].strata["error_class"] == {}
    assert counts.tools["cancel_order"].strata["edge_case"] == {"unicode_identifier": 1}


def test_the_list_behind_each_cell_is_as_long_as_its_number(covered: Dataset) -> None:
    counts = coverage_count(covered)
    rows = tool_rows(counts, quotas_of(covered), tools_to_cover(covered, counts))
    examples = Example.objects.of_dataset(covered)
    assert {row.tool for row in rows} == {"get_order", "cancel_order"}
    for row_ in rows:
        for count in row_.cells:
            assert count.cell.examples(examples, hidden=frozenset()).count() == count.have, count
    assert sum(count.have for row_ in rows for count in row_.cells) == 3 + 2 + 1 + 3 + 1
    for share in shares(counts, quotas_of(covered)):
        assert share.cell.examples(examples, hidden=frozenset()).count() == share.have


def test_reading_twice_adds_nothing(covered: Dataset) -> None:
    before = GoldTool.objects.count()
    assert gold_read(covered) == 0
    assert GoldTool.objects.count() == before


def test_replaced_gold_counts_no_more(covered: Dataset) -> None:
    examples_import(dataset=covered, actor=None, rows=[row("null", expectation=call("cancel_order"))])
    counts = coverage_of(covered, actor=None).counts
    assert counts is not None
    assert counts.tools["get_order"].expected == 1
    assert counts.tools["cancel_order"].expected == 2


def test_what_lacks_most_comes_first_and_own_numbers_count(covered: Dataset) -> None:
    quotas_set(dataset=covered, actor=None, document={"tools": {"cancel_order": 0, "get_order": 50}, "per_tool": 30})
    counts = coverage_count(covered)
    rows = tool_rows(counts, quotas_of(covered), tools_to_cover(covered, counts))
    found = gaps(counts, rows, shares(counts, quotas_of(covered)))
    assert (found[0].tool, found[0].lacking, found[0].what) == ("get_order", 48, "calls of it")
    assert [gap.lacking for gap in found] == sorted((gap.lacking for gap in found), reverse=True)
    assert "cancel_order" not in {gap.tool for gap in found}
    errors = next(gap for gap in found if gap.stratum == "error_class")
    assert errors.lacking == 8
    assert "408" not in errors.what
    selection = next(gap for gap in found if gap.name == "selection")
    assert (selection.lacking, selection.waiting) == (1, 1)
    # get_order has no parameter that takes a list, a time or money; its identifier may be spelled with any letters.
    edges = next(gap for gap in found if gap.stratum == "edge_case")
    assert "empty array" not in edges.what


def test_quotas_keep_only_what_differs(dataset: Dataset) -> None:
    quotas_set(dataset=dataset, actor=None, document={"per_tool": 30, "bucket": {"selection": 0.3}, "tools": {}})
    assert dataset.quotas == {"bucket": {"selection": 0.3}}


@pytest.mark.parametrize("query", [{}, {"covers": "nothing"}, {"covers": "bucket."}, {"covers": "expected"}])
def test_what_is_no_cell_asks_for_none(query: dict[str, str]) -> None:
    assert Cell.of_address(query) is None


def test_a_cell_survives_its_address() -> None:
    assert Cell.of_address({"covers": "error_class.5xx", "tool": "a&b"}) == Cell("error_class.5xx", "a&b")
    assert Cell.of_address({"tool": "get_order"}) == Cell("expected", "get_order")


def test_large_datasets_are_counted_by_a_job(covered: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labeling.coverage.cache.COUNTED_AT_ONCE", 2)
    first = coverage_of(covered, actor=None)
    assert first.counts is None
    assert first.job is not None
    again = coverage_of(covered, actor=None)
    assert again.job == first.job
    coverage_task(str(first.job.batches.get().pk))
    done = coverage_of(covered, actor=None)
    assert done.job is None
    assert done.counts == coverage_count(covered)
    assert done.counted_at is not None
    CoverageCount.objects.update(counted_at="2020-01-01T00:00Z")
    stale = coverage_of(covered, actor=None)
    assert stale.counts == done.counts
    assert stale.job is not None
    assert Job.objects.filter(kind="coverage").count() == 2


def test_a_count_that_failed_is_not_begun_by_each_look(covered: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labeling.coverage.cache.COUNTED_AT_ONCE", 2)
    first = coverage_of(covered, actor=None).job
    for ago, is_same in ((timedelta(minutes=50), True), (timedelta(minutes=70), False)):
        Job.objects.update(state=JobState.FAILED, finished_at=database_now() - ago)
        assert (coverage_of(covered, actor=None).job == first) == is_same
    assert Job.objects.filter(kind="coverage").count() == 2


def offered(**descriptions: str) -> dict[str, ToolSpec]:
    return {name: ToolSpec(name, description) for name, description in descriptions.items()}


@pytest.mark.parametrize(
    ("said", "nearest"),
    [
        ("Hello, how are you today?", ()),
        ("What does a refund cost me usually?", ("issue_refund",)),
        ("Is my parcel tracked while it is in customs?", ("track",)),
        # A word that every tool has tells nothing more of one of them.
        ("Something about an order", ("cancel_order", "get_order")),
        ("", ()),
    ],
)
def test_the_nearest_tool_shares_the_rarest_words(said: str, nearest: tuple[str, ...]) -> None:
    tools = offered(
        get_order="Look up an order of the customer.",
        cancel_order="Cancel an order before it is sent.",
        issue_refund="Pay money back for an order.",
        track="Say in which place a parcel is, customs included.",
    )
    assert nearest_tools([{"role": "user", "content": said}], tools) == nearest


def test_a_greeting_is_no_negative_and_a_named_tool_comes_before_an_estimate(dataset: Dataset) -> None:
    def example(name: str, said: str, **more: Any) -> Any:
        return replace(row(name, expectation=GREETING | more), input={"messages": [{"role": "user", "content": said}]})

    rows = [
        example("greeting", "Hello!"),
        example("estimate", "Can I cancel at all?"),
        example("named", "Can I cancel at all?", near=["get_order", "not_offered"]),
    ]
    examples_import(dataset=dataset, actor=None, rows=rows)
    gold_read(dataset)
    counts = coverage_count(dataset)
    assert {name: (tool.negative, tool.estimated) for name, tool in counts.tools.items() if tool.negative} == {
        "cancel_order": (1, 1),
        "get_order": (1, 0),
    }
    found = Cell("negative", "cancel_order").examples(Example.objects.of_dataset(dataset), hidden=frozenset())
    assert [one.external_id for one in found] == ["estimate"]
