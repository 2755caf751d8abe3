"""The sample's files are valid, and cover what they promise."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import pytest

from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.matching.equivalence import equivalent
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.sample import content

# Shares that a private set should have, by bucket and by difficulty.
BUCKETS = {"selection": 0.40, "arguments": 0.10, "result_use": 0.20, "error_recovery": 0.15, "no_call": 0.15}
DIFFICULTIES = {"easy": 0.4, "medium": 0.4, "hard": 0.2}
CONFUSABLE = {"get_order_status", "get_order_history", "get_shipping_eta", "issue_refund", "create_return"}


def tools(wording: Literal["before", "after"]) -> list[ToolSpec]:
    return read_tools(content.tools(wording)).tools


@pytest.fixture(scope="module")
def examples() -> list[ExampleRow]:
    return content.examples()


def shares(examples: list[ExampleRow], stratum: str) -> dict[str, float]:
    counts = Counter(example.strata[stratum] for example in examples)
    return {value: count / len(examples) for value, count in counts.items()}


def test_the_two_versions_differ_in_descriptions_alone() -> None:
    before, after = tools("before"), tools("after")
    assert len(before) == 12
    assert [tool.name for tool in before] == [tool.name for tool in after]
    assert [tool.input_schema for tool in before] == [tool.input_schema for tool in after]
    assert all(old.description != new.description for old, new in zip(before, after, strict=True))
    assert {tool.description[:32] for tool in before} == {"Use this tool to get information"}
    assert {tool.description.split()[0] for tool in after} <= {"When", "After"}


def test_the_tools_are_read_without_loss() -> None:
    read = read_tools(content.tools("after"))
    assert read.losses == []
    assert all(tool.cost is not None and tool.annotations.read_only is not None for tool in read.tools)
    assert any(tool.sensitive_output for tool in read.tools)


def test_every_stratum_is_covered_in_about_its_share(examples: list[ExampleRow]) -> None:
    assert 150 <= len(examples) <= 180
    assert shares(examples, "bucket") == pytest.approx(BUCKETS, abs=0.04)
    assert shares(examples, "difficulty") == pytest.approx(DIFFICULTIES, abs=0.04)
    said = {name: {example.strata.get(name, "") for example in examples} - {""} for name in examples[0].strata}
    assert said["bucket"] == set(BUCKETS)


@pytest.mark.parametrize(
    ("stratum", "values"),
    [
        ("no_call_kind", {"greeting", "clarification", "in-model fact", "refusal"}),
        ("error_class", {"400", "401", "403", "404", "408", "429", "5xx", "timeout", "empty", "partial"}),
        ("effect", {"reads", "writes"}),
        (
            "edge_case",
            {"null optional", "empty array", "unicode", "time zone", "currency", "type coercion", "relative date"},
        ),
    ],
)
def test_every_kind_occurs(examples: list[ExampleRow], stratum: str, values: set[str]) -> None:
    assert values <= {example.strata.get(stratum) for example in examples}


def test_no_two_examples_ask_the_same(examples: list[ExampleRow]) -> None:
    conversations = [str(example.input["messages"][1:]) for example in examples]
    assert len(set(conversations)) == len(conversations)
    assert len({example.external_id for example in examples}) == len(examples)


def test_an_error_class_stands_beside_a_failed_call(examples: list[ExampleRow]) -> None:
    for example in examples:
        if example.strata["bucket"] == "error_recovery":
            assert example.strata["error_class"]
            assert example.input["messages"][-1]["role"] == "tool"


def test_every_call_in_a_conversation_is_answered(examples: list[ExampleRow]) -> None:
    names = {tool.name for tool in tools("after")}
    for example in examples:
        messages = example.input["messages"]
        asked = [call for message in messages for call in message.get("tool_calls", ())]
        assert {call["function"]["name"] for call in asked} <= names
        answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert [call["id"] for call in asked] == answered


def test_every_label_and_decision_fits_the_tools() -> None:
    offered = tools("after")
    judgements = [*content.labels("lena").values(), *content.labels("omar").values(), *content.decisions().values()]
    for judgement in judgements:
        expectation = Expectation.from_document(judgement.expectation)
        assert expectation_problems(expectation, offered) == [], judgement.external_id
        assert judgement.seconds > 0


def test_the_reviewers_disagree_where_it_was_meant() -> None:
    lena, omar, decisions = content.labels("lena"), content.labels("omar"), content.decisions()
    both = lena.keys() & omar.keys()
    differing = {
        key
        for key in both
        if not equivalent(
            Expectation.from_document(lena[key].expectation), Expectation.from_document(omar[key].expectation)
        )
    }
    assert len(both) == 153
    assert (len(differing), len(decisions)) == (21, 13)
    assert decisions.keys() < differing
    assert all(lena[key].rationale and omar[key].rationale for key in differing)
    assert all(decision.rationale for decision in decisions.values())


def test_some_examples_are_left_to_label(examples: list[ExampleRow]) -> None:
    lena, omar = content.labels("lena"), content.labels("omar")
    order = [example.external_id for example in examples]
    # Slots are given out in this order, so that the loader meets just these examples.
    assert list(lena) == order[:165]
    assert list(omar) == order[:153]
    assert len(order) - len(lena) == 14


def test_every_tool_is_expected_somewhere_and_the_confusable_ones_often() -> None:
    expected = Counter(
        call.tool
        for judgement in content.labels("lena").values()
        for alternative in Expectation.from_document(judgement.expectation).alternatives
        for call in alternative.calls
    )
    assert expected.keys() == {tool.name for tool in tools("after")}
    assert all(expected[tool] >= 8 for tool in CONFUSABLE)
