"""Choices of calls, approximate numbers and dates: in words, side by side, in the form."""

import json
from typing import Any

import pytest
from django.http import QueryDict

from labeling.expectations.comparison import compare, merged
from labeling.expectations.wording import expectation_words, matcher_words, summary
from labeling.label_form.form_from_expectation import fill_form
from labeling.label_form.reading import read_label
from reports.cases.analysis import MATCHER_WORDS, matcher_text
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.matchers import MATCHERS


def label(*steps: Any) -> dict[str, Any]:
    return {"kind": "calls", "alternatives": [{"ordered": list(steps)}]}


REFUND, CANCEL = {"tool": "refund"}, {"tool": "cancel"}
CHOICE = {"one_of_calls": [REFUND, CANCEL]}


def test_a_choice_is_said_in_words():
    assert summary(label(CHOICE, REFUND)) == "refund or cancel, then refund"
    assert summary(label({"any_order": [CHOICE, REFUND]})) == "refund or cancel and refund"
    (calls,) = expectation_words(label(REFUND, CHOICE)).alternatives
    assert [(call.before, call.tool) for call in calls] == [("", "refund"), ("then", "refund"), ("or", "cancel")]


def test_a_choice_beside_a_call_is_taken_whole():
    left, right = label(CHOICE), label(REFUND)
    (part,) = compare(left, right).differing
    assert part.path == "/alternatives/0/ordered/0"
    assert (part.left.value, part.right.value) == ("refund(); or cancel()", "refund()")
    assert merged(left, right, {part.path: "right"}) == right


def test_options_are_compared_one_by_one():
    with_reason = {"tool": "cancel", "arguments": {"reason": {"exact": "late"}}}
    left, right = label(CHOICE), label({"one_of_calls": [REFUND, with_reason]})
    (part,) = compare(left, right).differing
    assert part.path == "/alternatives/0/ordered/0/one_of_calls/1/arguments/reason"
    assert merged(left, right, {part.path: "right"}) == right


@pytest.mark.parametrize(
    ("matcher", "words", "text"),
    [
        ({"approximately": {"value": 9.5, "absolute": 0.1}}, ("about", "9.5, within 0.1"), "9.5 within 0.1"),
        (
            {"approximately": {"value": 9, "absolute": 1, "relative": 0.2}, "optional": True},
            ("about, or left out", "9, within 1 or 0.2 of it"),
            "9 within 1 or 0.2 of it, or absent",
        ),
        ({"date_equal": "2025-04-03"}, ("same date", '"2025-04-03"'), 'the date "2025-04-03"'),
        (
            {"date_equal": {"date": "03/04/2025", "formats": ["DD/MM/YYYY"]}},
            ("same date", '"03/04/2025", read as DD/MM/YYYY'),
            'the date "03/04/2025", read as DD/MM/YYYY',
        ),
    ],
)
def test_matchers_are_said_in_words_and_by_the_form(matcher, words, text):
    assert matcher_words(matcher) == words
    assert matcher_text(matcher) == text
    properties = {"x": {"type": "number"}, "y": {"type": "string"}}
    tool = ToolSpec("refund", "", {"type": "object", "properties": properties})
    for name in properties:
        filled = fill_form(label({"tool": "refund", "arguments": {name: matcher}}), [tool])
        assert filled is not None
        assert filled[f"c1.m/{name}"] == next(iter(matcher))


def test_a_result_of_another_call_is_said_in_words():
    matcher = {"result_of": {"call": 1, "pointer": "/id"}}
    assert " ".join(matcher_words(matcher)) == matcher_text(matcher) == "result of call 1 at /id"
    whole = {"result_of": {"call": 2, "pointer": ""}, "optional": True}
    assert (matcher_words(whole), matcher_text(whole)) == (
        ("result of call, or left out", "2"),
        "result of call 2, or absent",
    )
    found = {"result_of": {"call": 1, "pointer": "/id", "value": "C-7"}}
    assert matcher_text(found) == 'result of call 1 at /id: "C-7"'


def test_every_matcher_has_its_words():
    assert set(MATCHER_WORDS) == {matcher.kind for matcher in MATCHERS}


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"one_of_calls": []}, "one_of_calls"),
        ({"one_of_calls": [REFUND, {"tool": "sell"}]}, "sell is not among the offered tools"),
        ({"tool": "refund", "arguments": {"on": {"date_equal": "03/04/2025"}}}, "03/04/2025 cannot be read as a date"),
    ],
)
def test_bad_json_labels_are_refused_with_a_reason(step, words):
    data = QueryDict(mutable=True)
    data.update({"mode": "json", "json": json.dumps(label(step))})
    tools = [ToolSpec(name, "", {"type": "object"}) for name in ("refund", "cancel")]
    assert any(words in problem.message for problem in read_label(data, tools).problems)
