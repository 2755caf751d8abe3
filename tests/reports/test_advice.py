"""Test the advice on a cell, worked by hand from small texts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.matrix.advice import Advice, ConfusedCase, Confusion, advice_on, opening, shortened, words_of
from toolevals.grading.engine.case_findings import pair_kind
from toolevals.grading.metrics.confusion import NO_MAJORITY
from toolevals.grading.values import ToolAnnotations, ToolSpec
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED


def takes(*required: str, also: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in (*required, *also)}
    return {"type": "object", "properties": properties, "required": list(required)}


STATUS = ToolSpec("get_order_status", "Tells the state of one order. Wants its number.", takes("order_id"), cost=1)
HISTORY = ToolSpec("get_order_history", "Lists orders that were packed or paid.", takes(also=("order_id",)), cost=3)
CASES = (
    ConfusedCase("ex-1", "id-1", "Is A-1 packed?"),
    ConfusedCase("ex-2", "id-2", "Were A-2 and A-3 PACKED and paid?"),
    ConfusedCase("ex-3", "id-3", "Where is my parcel"),
)


def twice(text: str, *called: str) -> tuple[ConfusedCase, ...]:
    """Return two examples that say the same."""
    return tuple(ConfusedCase(f"ex-{number}", f"id-{number}", text, called) for number in (7, 8))


def read(expected: str, actual: str, cases: tuple[ConfusedCase, ...] = CASES, **more: object) -> Advice:
    specs = {spec.name: spec for spec in (STATUS, HISTORY)}
    return advice_on(Confusion(expected, actual, specs.get(expected), specs.get(actual), cases, **more))  # type: ignore[arg-type]


def test_a_costlier_tool_is_over_tooling_and_its_words_are_named_with_their_cases():
    found = read(STATUS.name, HISTORY.name, count=3)
    assert (found.kind.name, found.kind.why) == (
        "over-tooling",
        "a call of get_order_history costs 3, one of get_order_status 1",
    )
    (pulled,) = found.shown
    assert (
        pulled.text
        == "2 cases say “packed” or “paid”: in the description of get_order_history, not of get_order_status"
    )
    assert [case.name for case in pulled.cases] == ["ex-1", "ex-2"]
    tighten, example = found.tries
    assert tighten.text == (
        "Tighten get_order_history: it says “packed” and “paid”."
        " Add “Not where get_order_status fits (tells the state of one order).”"
    )
    assert example.text == "Add an example to get_order_status: “Is A-1 packed?”. Its own text lacks “packed”"


def test_words_that_both_texts_share_count_where_cases_say_them():
    asks = (ConfusedCase("ex-1", "id-1", "Where is my order?"), ConfusedCase("ex-1", "id-2", "Where is my order?"))
    (shared,) = read(STATUS.name, HISTORY.name, asks).shown
    assert shared.text == "2 cases say “order”, as both texts do: no help in telling them apart"
    # Two trials of one example: one example that lacks a word is no habit, but it is shown.
    assert [case.name for case in shared.named] == ["ex-1"]
    assert read(STATUS.name, HISTORY.name, (ConfusedCase("ex-1", "id-1", "Where is it?"),)).shown == ()


def test_a_right_tool_without_a_text_is_named_and_not_quoted():
    bare = ToolSpec("get_order_status")
    found = advice_on(Confusion(bare.name, HISTORY.name, bare, HISTORY, CASES))
    assert found.tries[0].text.endswith("Add “Not where get_order_status fits.”")
    missed = advice_on(Confusion(bare.name, NONE, bare, None, twice("my order")))
    assert missed.tries[0].text == "Say in get_order_status that it must be called, not only may"


@pytest.mark.parametrize("name", ["functions.get_order_status", "GetOrderStatus", "GET-ORDER-STATUS"])
def test_an_offered_name_in_another_spelling_is_told_as_such(name):
    found = read(STATUS.name, UNKNOWN_TOOL, twice("", name), offered=(STATUS.name, "refund"))
    assert [each.text for each in found.tries] == [
        f"{name} is get_order_status spelled otherwise: say in the prompt that names are written as they are offered"
    ]


def test_a_pair_that_is_mistaken_both_ways_and_takes_the_same_is_merged():
    assert "merge" not in {each.act for each in read(STATUS.name, HISTORY.name, count=3).tries}
    merge = next(each for each in read(STATUS.name, HISTORY.name, count=3, reverse=2).tries if each.act == "merge")
    assert merge.text == (
        "Merge the pair: both take “order_id”, and they are mistaken both ways (3 and 2)."
        " One tool with a parameter “mode”: “status” and “history”"
    )


def test_a_needless_call_asks_for_a_few_shot_without_a_tool():
    found = read(NONE, STATUS.name, twice("What does order mean?"))
    assert [each.act for each in found.tries] == ["tighten", "few-shot"]
    assert (
        found.shown[0].text == "2 cases say “order”, as the description of get_order_status does: no call was expected"
    )
    assert found.tries[0].text.endswith("what must be known first: “order_id”")
    assert (
        found.tries[1].text
        == "Add a few-shot without a tool: “What does order mean?”, answered without get_order_status"
    )


def test_a_missed_call_quotes_what_should_have_been_enough():
    found = read(STATUS.name, NONE, twice("the number of my order is 7"))
    assert found.kind.name == "missed call"
    assert found.shown[0].text.startswith(
        "2 cases say “number” or “order”, as the description of get_order_status does"
    )
    assert found.tries[0].text == (
        "Say in get_order_status that it must be called, not only may: “Tells the state of one order”"
    )


def test_hallucinated_names_are_listed_with_the_nearest_tool():
    cases = (
        ConfusedCase("ex-1", "id-1", "", ("order_state", "get_order_status")),
        ConfusedCase("ex-2", "id-2", "", ("order_state",)),
    )
    found = read(STATUS.name, UNKNOWN_TOOL, cases, offered=(STATUS.name, "refund"))
    assert [each.text for each in found.shown] == ["Called order_state, which is not offered, 2 times"]
    assert found.tries[0].text.startswith("order_state is nearest to get_order_status by “order”")


@pytest.mark.parametrize(("actual", "kind"), [(UNPARSED, "malformed output"), (NO_MAJORITY, "no majority")])
def test_the_other_classes_name_their_cases(actual, kind):
    found = read(STATUS.name, actual)
    assert found.kind.name == kind
    assert [case.name for case in found.shown[0].cases] == ["ex-1", "ex-2", "ex-3"]


def test_a_tool_without_a_text_is_said_to_have_none():
    bare = ToolSpec("pay")
    found = advice_on(Confusion(STATUS.name, "pay", STATUS, bare, CASES))
    assert "pay has no description: there was only its name to go by" in [each.text for each in found.shown]


@pytest.mark.parametrize(
    ("more", "less", "words"),
    [
        ({"cost": 2.5}, {"cost": 1.0}, "a call of x costs 2.5, one of y 1"),
        (
            {"annotations": ToolAnnotations(read_only=False)},
            {"annotations": ToolAnnotations(read_only=True)},
            "x writes, y only reads",
        ),
        (
            {"sensitive_output": ("/mail", "/phone")},
            {"sensitive_output": ("/mail",)},
            "x gives out personal data (/phone) that y does not",
        ),
        (
            {"input_schema": takes(also=("a",))},
            {"input_schema": takes("a", "b")},
            "x does not require “a” and “b” as y does",
        ),
    ],
)
def test_what_reaches_further_is_over_tooling_and_the_other_way_round_under_tooling(more, less, words):
    far, near = ToolSpec("x", **more), ToolSpec("y", **less)
    assert (pair_kind(near, far).name, pair_kind(near, far).why) == ("over-tooling", words)
    assert (pair_kind(far, near).name, pair_kind(far, near).why) == ("under-tooling", words)


def test_tools_with_no_argument_in_common_are_not_compared_by_arguments():
    assert pair_kind(ToolSpec("x", input_schema=takes("a")), ToolSpec("y", input_schema=takes())).name == "mixed up"


TEXTS = st.text(max_size=60)
SPECS = st.builds(ToolSpec, st.text(min_size=1, max_size=20), TEXTS)


@given(
    SPECS, SPECS, st.lists(TEXTS, max_size=5), st.sampled_from(["", NONE]), st.sampled_from(["", NONE, UNKNOWN_TOOL])
)
def test_nothing_is_said_without_a_case_behind_it(one, other, texts, expected, actual):
    cases = [ConfusedCase(f"ex-{place}", str(place), text, (text,)) for place, text in enumerate(texts)]
    cell = Confusion(
        expected or one.name, actual or other.name, None if expected else one, None if actual else other, cases, 1, 2
    )
    found = advice_on(cell)
    for said in (*found.shown, *found.tries):
        assert set(said.cases) <= set(cases)
        if "has no description" not in said.text:
            assert said.cases


@pytest.mark.parametrize("actual", [HISTORY.name, NONE, UNKNOWN_TOOL])
def test_one_example_is_no_advice_however_many_trials_it_has(actual):
    trials = (
        ConfusedCase("ex-1", "id-1", "my order", ("other",)),
        ConfusedCase("ex-1", "id-2", "my order", ("other",)),
    )
    found = read(STATUS.name, actual, trials, offered=(STATUS.name,))
    assert found.shown
    assert found.tries == ()


def test_parts_of_identifiers_addresses_and_links_are_no_words():
    text = "Cancel ORD-7781, BOOT-SHO-CHE-42 and user_9f2abc, write to ada@shop.example or https://shop.example/orders"
    assert list(words_of(text).values()) == ["cancel", "write"]


def test_words_names_and_openings():
    # The plural's s is left out of what is compared, not of what is shown.
    assert words_of("getOrder_Status of the orders") == {"order": "order", "statu": "status"}
    assert opening("One order.  Not two. Three") == "One order"
    assert shortened("word " * 40, 12) == "word word …"


def test_a_tool_that_opens_as_any_could_is_tightened_with_its_own_trigger():
    right = ToolSpec("get_order_status", "Use this tool to get the state of one order.")
    called = ToolSpec("get_order_history", "Use this tool to get the past orders of a customer.")
    cases = twice("Where does A-1 stand?")
    found = advice_on(Confusion(right.name, called.name, right, called, cases))
    assert [each.text for each in found.tries if each.act == "tighten"] == [
        "Tighten get_order_history. It opens with “Use this tool to”, which fits every tool."
        " Start with the trigger: when the user asks about “past” or “customer”, call get_order_history"
    ]
    needless = advice_on(Confusion(NONE, called.name, None, called, cases))
    assert ["“Use this tool to”" in each.text for each in needless.tries] == [True, False]
    pulled = twice("Which past parcels came?")
    (tighten, *_) = advice_on(Confusion(right.name, called.name, right, called, pulled)).tries
    assert tighten.text.startswith("Tighten get_order_history: it says “past”. Add “Not where get_order_status fits")
    assert tighten.text.endswith("call get_order_history")
