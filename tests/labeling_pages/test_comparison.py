"""Two expectations side by side, and what is chosen from both."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.expectations.comparison import BOTH, LEFT, RIGHT, compare, merged
from tests.labeling_pages.shop import returned
from toolevals.grading.matching.equivalence import equivalent
from toolevals.grading.values import Expectation

matchers = st.sampled_from([{"exact": 1}, {"exact": "a"}, {"key_only": True}, {"range": [1, None]}, {"absent": True}])
calls = st.builds(
    lambda tool, arguments, open_: {"tool": tool, "arguments": arguments, "additional_arguments": open_},
    st.sampled_from(["get", "put"]),
    st.dictionaries(st.sampled_from(["a", "b", "tool", "x/y", "0"]), matchers, max_size=3),
    st.booleans(),
)
steps = st.one_of(calls, st.builds(lambda group: {"any_order": group}, st.lists(calls, min_size=1, max_size=2)))
trajectories = st.fixed_dictionaries(
    {"ordered": st.lists(steps, min_size=1, max_size=3), "additional_calls": st.booleans()},
    optional={"unordered": st.lists(calls, max_size=2), "disallowed": st.lists(calls, max_size=2)},
)
expectations = st.one_of(
    st.just({"kind": "no_call", "why": "refusal"}),
    st.just({"kind": "some_call"}),
    st.builds(lambda found: {"kind": "calls", "alternatives": found}, st.lists(trajectories, min_size=1, max_size=2)),
).map(lambda document: Expectation.from_document(document).to_document())


def read(document: dict[str, Any]) -> Expectation:
    return Expectation.from_document(document)


@given(expectations, expectations)
def test_taking_all_of_a_side_gives_that_side(left: dict[str, Any], right: dict[str, Any]):
    paths = [part.path for part in compare(left, right).differing]
    assert equivalent(read(merged(left, right, dict.fromkeys(paths, LEFT))), read(left))
    assert equivalent(read(merged(left, right, dict.fromkeys(paths, RIGHT))), read(right))


@given(expectations, expectations, st.data())
def test_any_choice_gives_an_expectation(left: dict[str, Any], right: dict[str, Any], draw: st.DataObject):
    chosen = {part.path: draw.draw(st.sampled_from([LEFT, RIGHT, BOTH])) for part in compare(left, right).differing}
    read(merged(left, right, chosen))


@given(expectations, expectations)
def test_taking_both_accepts_what_either_side_says_and_nothing_else(left: dict[str, Any], right: dict[str, Any]):
    parts = compare(left, right).differing
    if left["kind"] == right["kind"] == "calls" and all(part.may_be_both for part in parts):
        both = merged(left, right, {part.path: BOTH for part in parts})
        union = {"kind": "calls", "alternatives": [*left["alternatives"], *right["alternatives"]]}
        assert equivalent(read(both), read(union))
        assert len(both["alternatives"]) <= len(union["alternatives"])


def test_words_that_differ_are_marked():
    long = "the parcel to the house by the lake, before noon"
    found = compare(returned(refund_to={"exact": long}), returned(refund_to={"exact": long.replace("noon", "eight")}))
    (part,) = found.differing
    assert [piece for piece, differs in part.left.pieces if differs] == ["noon"]
    assert "".join(piece for piece, _ in part.right.pieces) == part.right.value


def test_long_values_are_shown_to_the_end():
    long = "word " * 200
    found = compare(returned(refund_to={"exact": long + "a"}), returned(refund_to={"exact": long + "b"}))
    assert found.differing[0].left.value.endswith('a"')


def test_values_that_have_nothing_in_common_are_not_marked():
    (part,) = compare(
        returned(refund_to={"exact": "card"}), returned(refund_to={"exact": "store credit, please"})
    ).differing
    assert part.left.pieces == ()


@given(expectations)
def test_equal_ones_do_not_differ(document: dict[str, Any]):
    assert compare(document, document).differing == ()


def test_only_what_differs_is_to_be_decided():
    found = compare(returned(), returned(refund_to={"exact": "store credit"}, express={"exact": True}))
    assert {part.title: (part.left.value or part.left.nothing, part.right.value) for part in found.differing} == {
        "refund_to": ('"original payment"', '"store credit"'),
        "express": ("not named", "true"),
    }
    assert found.agreed_tools == ["create_return"]
    assert set(found.agreed_names) == {"order_id", "skus"}


def test_another_tool_is_another_call_as_a_whole():
    other = {"kind": "calls", "alternatives": [{"ordered": [{"tool": "get_order"}], "additional_calls": False}]}
    (part,) = compare(returned(), other).differing
    assert part.right.value == "get_order()"
    assert equivalent(read(merged(returned(), other, {part.path: RIGHT})), read(other))


@pytest.mark.parametrize("other", [{"kind": "no_call", "why": "refusal"}, {"kind": "some_call"}])
def test_a_call_or_none_is_one_decision(other: dict[str, Any]):
    (part,) = compare(returned(), other).differing
    assert part.path == ""
    assert merged(returned(), other, {"": RIGHT}) == other
