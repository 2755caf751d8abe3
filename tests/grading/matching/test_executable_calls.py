"""Test which expectations say exactly what is called."""

from typing import Any

import pytest

from toolevals.grading.matching.compiled_calls import InexactError, exact_calls
from toolevals.grading.values import Expectation


def calls(*ordered: dict[str, Any], **more: Any) -> Expectation:
    return Expectation.from_document({"kind": "calls", "alternatives": [{"ordered": list(ordered), **more}]})


def refund(matcher: Any) -> dict[str, Any]:
    return {"tool": "refund", "arguments": {"amount": matcher}}


def test_calls_are_made_as_they_are_written_the_ordered_ones_first():
    expectation = calls(
        {"tool": "find", "arguments": {"name": {"exact": "Una"}}},
        {"any_order": [{"tool": "b"}, {"one_of_calls": [{"tool": "c"}]}]},
        unordered=[{"tool": "d"}],
        disallowed=[{"tool": "e"}],
    )
    (made,) = exact_calls(expectation)
    assert [call.name for call in made] == ["find", "b", "c", "d"]
    assert made[0].arguments == {"name": "Una"}


@pytest.mark.parametrize(
    ("matcher", "value"),
    [
        ({"exact": {"a": [1]}}, {"a": [1]}),
        ({"one_of": ["EUR"]}, "EUR"),
        ({"fields": {"size": {"exact": 3}, "colour": {"absent": True}}}, {"size": 3}),
        ({"items": [{"exact": 1}, {"one_of": [2]}]}, [1, 2]),
    ],
)
def test_a_matcher_that_admits_one_value_is_that_value(matcher, value):
    ((call,),) = exact_calls(calls(refund(matcher)))
    assert call.arguments == {"amount": value}


def test_an_argument_that_must_be_absent_is_left_out():
    ((call,),) = exact_calls(calls(refund({"absent": True})))
    assert call.arguments == {}


@pytest.mark.parametrize(
    ("expectation", "words"),
    [
        (Expectation("some_call"), "any call will do"),
        (calls({"one_of_calls": [{"tool": "a"}, {"tool": "b"}]}), "one of several calls will do as call 1"),
        (calls(refund({"range": [1, 2]})), "refund.amount may have several values"),
        (calls(refund({"one_of": [1, 2]})), "refund.amount may have several values"),
        (calls(refund({"pattern": "1"})), "refund.amount may have several values"),
        (calls(refund({"key_only": True})), "refund.amount may have several values"),
        (calls(refund({"natural_language": "little"})), "refund.amount may have several values"),
        (calls(refund({"exact": 1, "optional": True})), "refund.amount may be left out"),
        (calls(refund({"fields": {"v": {"contains": "1"}}})), "refund.amount.v may have several values"),
        (calls(refund({"fields": {}, "additional_fields": True})), "refund.amount may have several values"),
        (calls(refund({"items": [{"exact": 1}, {"key_only": True}]})), "refund.amount/1 may have several values"),
    ],
)
def test_what_is_left_open_is_named(expectation, words):
    with pytest.raises(InexactError) as caught:
        exact_calls(expectation)
    assert str(caught.value) == words


def test_no_call_is_one_way_without_calls_and_each_alternative_is_a_way():
    assert exact_calls(Expectation("no_call")) == ((),)
    either = Expectation.from_document(
        {"kind": "calls", "alternatives": [{"ordered": [{"tool": "a"}]}, {"unordered": [{"tool": "b"}]}]}
    )
    assert [[call.name for call in made] for made in exact_calls(either)] == [["a"], ["b"]]
