"""Expected facts in the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.layers.answer import grade_answer
from toolevals.grading.values import Message, Transcript

_TALK = Transcript(
    (Message("user", "How much?"), Message("assistant", "It is $1,200.50 in ALL."), Message("assistant", "Goodbye!"))
)


@pytest.mark.parametrize("expected", [None, {}, {"contains": []}])
def test_without_an_expectation_nothing_is_scored(expected: dict[str, object] | None) -> None:
    assert grade_answer(expected, _TALK).status == "unscored"


def test_facts_are_found_in_any_reply_without_case_or_thousands() -> None:
    verdict = grade_answer({"contains": ["1200.50", "in all"]}, _TALK)
    assert (verdict.status, verdict.value) == ("passed", 1.0)
    assert grade_answer({"contains": ["$1,200"]}, _TALK).status == "passed"


def test_a_user_who_says_it_is_not_enough() -> None:
    assert grade_answer({"contains": ["how much"]}, _TALK).status == "failed"


def test_missing_facts_are_named() -> None:
    verdict = grade_answer({"contains": ["1200.50", "ORD-1", "ORD-2"]}, _TALK)
    assert verdict.value == pytest.approx(1 / 3)
    assert verdict.reason == "No reply contains “ORD-1”, “ORD-2”."


def test_exact_and_pattern_look_at_the_final_answer() -> None:
    assert grade_answer({"exact": "Goodbye! "}, _TALK).status == "passed"
    assert grade_answer({"exact": "goodbye!"}, _TALK).status == "failed"
    assert grade_answer({"pattern": "^Good"}, _TALK).status == "passed"
    assert grade_answer({"pattern": "1,200"}, _TALK).status == "failed"
    other = Transcript(_TALK.messages, answer="1,200")
    assert grade_answer({"pattern": "1,200", "exact": "1,200", "contains": ["1200"]}, other).status == "passed"


def test_a_silent_agent_fails() -> None:
    verdict = grade_answer({"contains": ["x"], "exact": "y", "pattern": "z"}, Transcript())
    assert (verdict.status, verdict.value) == ("failed", 0.0)


def test_a_bad_pattern_is_a_reason_and_no_exception() -> None:
    assert "cannot be used" in grade_answer({"pattern": "("}, _TALK).reason


@given(st.dictionaries(st.sampled_from(["contains", "exact", "pattern"]), st.none() | st.text() | st.lists(st.text())))
def test_nothing_is_raised(expected: dict[str, object]) -> None:
    verdict = grade_answer(expected, _TALK)
    assert verdict.value is None or 0 <= verdict.value <= 1
