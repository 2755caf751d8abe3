"""The shop behind the sample's tools: what the labels expect can be done in it, and it is run as trusted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.agents.players import call
from toolevals.agents.code import CodeSimulator
from toolevals.agents.worlds import World
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import ToolCall
from toolevals.runs.simulators.contents import is_trusted
from toolevals.sample import content

EXAMPLE: dict[str, Any] = {"messages": []}
WRITES = {"cancel_order", "create_return", "issue_refund", "update_address", "escalate_to_human"}


@pytest.fixture(scope="module")
def shop() -> Iterator[CodeSimulator]:
    with CodeSimulator(content.simulator(), trusted=True) as simulator:
        yield simulator


@pytest.fixture
def world(shop: CodeSimulator) -> Iterator[World]:
    with shop.world(EXAMPLE) as world:
        yield world


def exact_calls(node: Any) -> Iterator[ToolCall]:
    """Yield the expected calls, those arguments aside of which a label says no single value."""
    if isinstance(node, dict) and "tool" in node:
        said = {name: matcher["exact"] for name, matcher in node["arguments"].items() if "exact" in matcher}
        needed = [name for name, matcher in node["arguments"].items() if not matcher.get("optional")]
        if set(needed) <= set(said):
            yield call(node["tool"], **said)
    elif isinstance(node, dict | list):
        for below in node.values() if isinstance(node, dict) else node:
            yield from exact_calls(below)


def test_it_is_trusted_and_a_changed_copy_is_not():
    files = content.simulator()
    assert is_trusted(files)
    assert not is_trusted({**files, "simulator.py": files["simulator.py"] + "\n"})


def test_it_answers_every_tool_of_the_registry(shop):
    assert sorted(shop.tools()) == sorted(spec.name for spec in read_tools(content.tools("after")).tools)


def test_what_a_reviewer_expects_changes_the_shop_and_is_not_refused(shop):
    tried = 0
    for judgement in content.labels("lena").values():
        for expected in exact_calls(judgement.expectation):
            if expected.name not in WRITES:
                continue
            with shop.world(EXAMPLE) as world:
                before = world.state()
                answer = world.call(expected)
                assert not answer.is_error, (judgement.external_id, expected, answer)
                assert world.state() != before
                tried += 1
    assert tried >= 15


def test_reading_changes_nothing(world):
    before = world.state()
    for made in (
        call("get_order_status", order_id="A-20418"),
        call("get_order_history", customer_id="C-1042", **{"from": "2026-01-01"}),
        call("get_shipping_eta", order_id="A-20418"),
        call("get_customer", email="zoe.lefevre@example.com"),
        call("search_kb", query="linen", topic="care"),
        call("search_products", query="linen", colours=["white"]),
        call("check_stock", sku="MUG-STN-GRN", store="berlin"),
    ):
        answer = world.call(made)
        assert not answer.is_error, answer
    assert world.state() == before


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (call("get_order_status", order_id="A-00000"), "404: no order A-00000"),
        (call("cancel_order", order_id="A-20418", reason="other"), "cannot be changed any more"),
        (
            call("issue_refund", order_id="A-20418", amount=10, currency="USD", reason="late"),
            "the order's currency is EUR",
        ),
        (
            call("issue_refund", order_id="A-20418", amount=150, currency="EUR", reason="late"),
            "need the approval of a person",
        ),
    ],
)
def test_what_the_shop_refuses_is_an_error_and_changes_nothing(world, made, said):
    before = world.state()
    answer = world.call(made)
    assert answer.is_error
    assert said in answer.content
    assert world.state() == before
