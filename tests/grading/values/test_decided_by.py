"""Say what decides a case: the outcome of calls, end state, answer, recovery and use of results, alone and together."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from tests.grading.graded import NAMED, PLAIN, RIGHT, TOOLS, called, statuses, talk
from toolevals.grading.engine.grading import compile_case, grade, grade_calls
from toolevals.grading.layers.execution import Effect
from toolevals.grading.values import Expectation, Message, ToolCall, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import (
    EXPECTED,
    LONGEST,
    PARTS,
    CaseGrade,
    combined,
    decided_words,
    read_decided_by,
)

STATUSES = ("passed", "failed", "unscored", "errored")
SENT, OPEN = {"orders": {"A-1": "sent"}}, {"orders": {"A-1": "open"}}
WANTED = replace(PLAIN, answer={"contains": ["$45"]})
OTHER = ToolCall("history", {"order": "A-1"})


def did(call: ToolCall = RIGHT, answer: str = "It was $45.") -> Transcript:
    return Transcript(called(call).messages, answer=answer)


def outcome(
    decided_by: str, transcript: Transcript, effect: Effect | None = None, expectation: Expectation = WANTED
) -> CaseGrade:
    result = grade(compile_case(expectation, TOOLS, decided_by=decided_by), transcript, effect=effect)
    assert result.decided_by == decided_by
    assert CaseGrade.from_document(result.to_document()) == result
    return result


def left(state: Any) -> Effect:
    return Effect(initial=OPEN, expected=(SENT,), final=state)


def test_a_right_end_state_passes_though_other_calls_led_to_it():
    case = {part: outcome(part, did(OTHER), left(SENT)) for part in (EXPECTED, "calls", "end_state", "calls+end_state")}
    assert {part: each.outcome.status for part, each in case.items()} == {
        EXPECTED: "failed", "calls": "failed", "end_state": "passed", "calls+end_state": "failed",
    }  # fmt: skip
    right = case["end_state"]
    assert (right.mode, right.tag, right.outcome.reason) == ("", "", "The final state is the expected one.")
    # What the calls were is still said, in their own verdicts and in the matrix.
    assert (right.statuses["selection"], right.expected, right.actual) == ("failed", "track", "history")


def test_a_wrong_end_state_fails_whatever_the_calls_were():
    case = outcome("end_state+answer", did(OTHER, "no idea"), left(OPEN))
    assert (case.outcome.status, case.mode, case.tag) == ("failed", "wrong_state", "WRONG_ANSWER")
    assert "/orders/A-1" in case.outcome.reason
    assert outcome("end_state+answer", did(OTHER, "no idea"), left(SENT)).mode == "missing_fact"


def test_without_a_simulator_an_end_state_is_unscored_and_never_passed():
    for part in ("end_state", "end_state+answer"):
        case = outcome(part, did())
        assert (case.outcome.status, case.mode) == ("unscored", "")
        assert case.outcome.reason == "No final state is expected."
    assert grade_calls(compile_case(PLAIN, TOOLS, decided_by="end_state"), [RIGHT]).outcome.status == "unscored"
    assert grade_calls(compile_case(PLAIN, TOOLS, decided_by="calls"), [RIGHT]).outcome.status == "passed"


def test_a_simulator_that_broke_leaves_the_case_errored_unless_another_part_failed():
    broken = Effect(expected=(SENT,), crashed="out of memory")
    assert outcome("end_state+answer", did(), broken).tag == "HARNESS_ERROR"
    assert outcome("end_state+answer", did(), broken).outcome.status == "errored"
    assert outcome("end_state+answer", did(answer="no"), broken).outcome.status == "failed"
    assert outcome("answer", did(), broken).outcome.status == "passed"


def test_a_question_that_does_not_arise_leaves_the_decision_to_the_others():
    assert outcome("end_state+answer", did(), left(SENT), PLAIN).outcome.status == "passed"
    assert outcome("calls+recovery+result_use", did(), expectation=PLAIN).outcome.status == "passed"
    alone = outcome("answer", did(), expectation=PLAIN)
    assert (alone.outcome.status, alone.outcome.reason) == ("unscored", "No fact is expected in the answer.")


def test_rules_that_read_prose_decide_only_where_they_are_named():
    misused = talk(Message("tool", '{"order": "A-1", "total": 45.10}', call_id="1"), answer="The total is $54.10.")
    assert outcome(EXPECTED, misused, expectation=PLAIN).outcome.status == "passed"
    case = outcome("calls+result_use", misused, expectation=PLAIN)
    assert (case.statuses["result_use"], case.outcome.status, case.mode) == ("failed", "failed", "result_misused")


def test_a_schema_error_of_calls_that_do_not_decide_is_still_told():
    case = outcome("answer", did(ToolCall("track", {"order": 1})))
    assert (case.outcome.status, case.mode) == ("passed", "")
    assert case.details["arguments"] == {"bucket": "schema"}
    assert "order" in case.verdicts["arguments"].reason


def test_what_could_not_be_graded_keeps_what_decides():
    for transcript in (None, Transcript(error="away")):
        assert grade(compile_case(PLAIN, TOOLS, decided_by="end_state"), transcript).decided_by == "end_state"


@pytest.mark.parametrize("parts", [*product((*STATUSES, None), repeat=2), (), ("passed",) * 3])
def test_failed_before_errored_before_unscored_before_passed(parts):
    arising = [each for each in parts if each]
    worst = next((each for each in ("failed", "errored", "unscored", "passed") if each in arising), "unscored")
    assert combined(parts) == combined(reversed(parts)) == worst


@strategies.whole_cases
@given(strategies.expectations, strategies.transcripts, st.lists(st.sampled_from(list(PARTS)), min_size=1))
def test_an_outcome_follows_from_the_verdicts_of_what_decides(expectation, transcript, parts):
    decided_by = read_decided_by("+".join(parts))
    status = statuses(grade(compile_case(expectation, NAMED, decided_by=decided_by), transcript))
    plain = statuses(grade(compile_case(expectation, NAMED, decided_by="calls"), transcript))
    assert {**status, "outcome": ""} == {**plain, "outcome": ""}
    named = [plain["outcome"] if part == "calls" else plain[PARTS[part]] for part in decided_by.split("+")]
    if "failed" in named:
        assert status["outcome"] == "failed"
    elif "errored" in named:
        assert status["outcome"] == "errored"
    if status["outcome"] == "passed":
        assert set(named) <= {"passed", "unscored"}
        assert "passed" in named


def test_what_decides_is_read_in_one_form():
    assert read_decided_by("answer + end_state+answer") == "end_state+answer"
    assert (read_decided_by(""), read_decided_by("expected")) == ("", "expected")
    assert read_decided_by("+".join(reversed(list(PARTS)))) == "+".join(PARTS)
    assert len("+".join(PARTS)) <= LONGEST
    assert decided_words("calls+end_state+answer") == "calls, end state and answer"
    assert decided_words("expected") == "what the gold expects"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tools", "'tools' decides nothing: take expected, or some of calls, end_state, answer"),
        ("calls+expected", "expected cannot be combined"),
        ("calls+", "'' decides nothing"),
        (None, "is not text"),
        ("+".join("x" * 9), "decides nothing"),
    ],
)
def test_what_cannot_decide_is_refused_by_name(text, said):
    with pytest.raises(InvalidDocument) as error:
        read_decided_by(text, "/decided_by")
    assert error.value.problems[0].pointer == "/decided_by"
    assert said in error.value.problems[0].message
