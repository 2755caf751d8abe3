"""A failed call that is made again counts once: alike, or with the arguments that its failure speaks of corrected."""

from __future__ import annotations

from typing import Any

import pytest

from tests.grading.layers.recovery.scripts import call, says, script, user
from tests.grading.retried import ANSWERS, DOWN, OK, REFUND, TRACK, at_one_time, expecting, graded, track
from toolevals.grading.engine.counted_calls import counted_calls
from toolevals.grading.layers.recovery import ERROR_CLASSES, trouble_in
from toolevals.grading.values import CallExpectation, Expectation, MalformedCall, Message, ToolCall, Transcript
from toolevals.grading.values.matchers import Exact


def test_answers_are_of_the_classes_that_they_stand_for():
    assert ANSWERS.keys() == ERROR_CLASSES.keys()
    for name, answer in ANSWERS.items():
        trouble = trouble_in(answer)
        assert trouble is not None
        assert trouble.error_class == name


@pytest.mark.parametrize("error_class", ERROR_CLASSES)
def test_only_after_a_failure_a_repeated_call_is_the_same_call(error_class):
    result = graded(expecting(TRACK), script(user(), track(ANSWERS[error_class]), track(OK), says("It was sent.")))
    if error_class not in ("empty", "partial"):
        assert (result.outcome.status, result.mode) == ("passed", "")
    else:
        assert (result.verdicts["selection"].status, result.mode) == ("failed", "extra_call")


def test_a_flag_alone_says_that_a_call_failed():
    flagged = call("track", "it broke", is_error=True, order="A-1")
    assert graded(expecting(TRACK), script(flagged, track(OK))).mode == ""


FRIDAY = "next Friday"


def search(result: str, date: str, to: str = "OSL") -> list[Message]:
    return call("search_flights", result, departure_date=date, to=to)


PLAIN = Expectation.single("search_flights", {"departure_date": "2026-01-02", "to": "OSL"})
FULL = expecting(
    CallExpectation("search_flights", {"departure_date": Exact("2026-01-02"), "to": Exact("OSL")}), additional=True
)
BAD_DATE = '{"status": 400, "error": "Bad Request: departure_date must be an ISO date"}'


@pytest.mark.parametrize("expectation", [PLAIN, FULL])
def test_the_loop_over_next_friday_has_the_right_tool_and_the_wrong_argument(expectation):
    loop = script(user(), *[search(BAD_DATE, FRIDAY) for _ in range(5)], says("I am sorry, I could not search."))
    found = graded(expectation, loop)
    assert (found.statuses["selection"], found.statuses["arguments"], found.mode) == ("passed", "failed", "wrong_value")
    assert found.statuses["recovery"] == "failed"
    assert len(found.pairs) == 1


@pytest.mark.parametrize("expectation", [PLAIN, FULL])
@pytest.mark.parametrize(
    "failure",
    [
        BAD_DATE,
        "HTTP 400 bad request",
        '{"error": {"code": 422, "message": "unprocessable"}}',
        "Error: departure date is not in the calendar",
        "ValueError: 'next Friday' is not a date",
    ],
)
def test_a_retry_with_corrected_arguments_is_one_attempt(expectation, failure):
    retried = script(user(), search(failure, FRIDAY), search(OK, "2026-01-02"), says("There is one at nine."))
    found = graded(expectation, retried)
    assert [found.statuses[name] for name in ("selection", "arguments", "equivalence")] == ["passed"] * 3
    assert len(found.pairs) == 1
    twice = script(user(), search(failure, FRIDAY), search(failure, "Friday"), search(OK, "2026-01-02"))
    assert graded(expectation, twice).statuses["selection"] == "passed"


@pytest.mark.parametrize("failure", [OK, "[]", "HTTP 403", "Error: to many seats", DOWN])
def test_a_failure_that_does_not_speak_of_what_differs_excuses_no_further_call(failure):
    retried = script(user(), search(failure, FRIDAY), search(OK, "2026-01-02"))
    assert graded(PLAIN, retried).mode == "extra_call"


def test_calls_that_are_both_expected_are_two_though_the_first_was_refused():
    both = expecting(TRACK, CallExpectation("track", {"order": Exact("A-2")}))
    made = script(user(), track("Error 404: order A-1 not found"), track(OK, "A-2"), says("A-2 was sent."))
    assert graded(both, made).statuses["equivalence"] == "passed"
    assert graded(expecting(CallExpectation("track", {"order": Exact("A-2")})), made).statuses["selection"] == "passed"
    # A call beside both is still one too many.
    more = script(user(), track("Error 404: order A-1 not found"), track(OK, "A-2"), track(OK, "A-3"))
    assert graded(both, more).outcome.status == "failed"


def test_a_right_call_that_was_refused_serves_where_others_are_allowed():
    made = script(user(), track("HTTP 400"), track(OK, "A-2"))
    assert graded(expecting(TRACK, additional=True), made).statuses["arguments"] == "passed"
    assert graded(expecting(TRACK), made).mode == "wrong_value"


def test_many_tries_are_one_call_whether_or_not_the_last_went_through():
    for last in (DOWN, OK, ANSWERS["404"], None):
        counted = counted_calls(script(user(), track(DOWN), track(ANSWERS["429"]), track(DOWN), track(last)))
        assert counted.places == (3,)


def test_a_repetition_after_a_success_counts():
    script_ = script(user(), track(DOWN), track(OK), track(OK), says("Sent."))
    assert counted_calls(script_).places == (1, 2)
    assert graded(expecting(TRACK), script_).mode == "extra_call"
    assert graded(expecting(TRACK, TRACK), script_).outcome.status == "passed"


def test_a_call_that_is_expected_twice_is_not_made_twice_by_trying_again():
    result = graded(expecting(TRACK, TRACK), script(user(), track(DOWN), track(OK), says("Sent.")))
    assert (result.verdicts["selection"].status, result.mode) == ("failed", "missed_call")


@pytest.mark.parametrize("other", ["A-2", "a-1", 1, None])
def test_with_other_arguments_it_is_a_further_call(other):
    assert graded(expecting(TRACK), script(user(), track(DOWN, other), track(OK))).mode == "extra_call"


def test_arguments_are_alike_in_any_order_of_keys_and_to_the_letter():
    def made(**arguments: Any) -> list[Message]:
        return call("refund", DOWN, **arguments)

    assert counted_calls(script(made(a=1, b=2), made(b=2, a=1))).places == (1,)
    assert counted_calls(script(made(a=1), made(a=1.0))).places == (0, 1)
    assert counted_calls(script(made(a="x"), made(a="x "))).places == (0, 1)


def test_another_tool_with_the_same_arguments_is_another_call():
    assert counted_calls(script(call("track", DOWN), call("refund", OK))).places == (0, 1)


def test_a_new_try_makes_up_for_one_failed_try():
    two = at_one_time(("track", DOWN), ("track", DOWN))
    assert len(counted_calls(script(two, track(OK))).calls) == 2
    assert len(counted_calls(script(two, track(OK), track(OK))).calls) == 2
    assert len(counted_calls(script(two, at_one_time(("track", OK), ("track", OK)))).calls) == 2


def test_calls_of_one_message_repeat_nothing():
    assert counted_calls(script(at_one_time(("track", DOWN), ("track", OK)))).places == (0, 1)


def test_a_call_made_before_the_answer_came_repeats_nothing():
    first, second = ToolCall("track", {}, "c1"), ToolCall("track", {}, "c2")
    late = Transcript(
        (
            Message("assistant", calls=(first,)),
            Message("assistant", calls=(second,)),
            Message("tool", DOWN, call_id="c1"),
            Message("tool", OK, call_id="c2"),
        )
    )
    assert counted_calls(late).places == (0, 1)


def test_what_was_called_beside_a_failed_call_did_not_overtake_it():
    beside = script(user(), at_one_time(("track", DOWN), ("refund", OK)), track(OK), says("Done."))
    assert counted_calls(beside).places == (2, 1)
    assert graded(expecting(TRACK, REFUND), beside).outcome.status == "passed"


def test_what_was_called_before_a_later_try_came_before_it():
    overtaken = script(user(), track(DOWN), call("refund", OK), track(OK), says("Done."))
    assert counted_calls(overtaken).places == (1, 2)
    assert graded(expecting(TRACK, REFUND), overtaken).mode == "wrong_order"
    assert graded(expecting(REFUND, TRACK), overtaken).outcome.status == "passed"


def test_what_nobody_can_read_never_reached_the_tool():
    garbled = Message("assistant", calls=(MalformedCall("not JSON", text="{", name="track"),))
    answered = [garbled, Message("tool", DOWN)]
    assert counted_calls(script(answered, answered)).places == (0, 1)


@pytest.mark.parametrize("additional", [True, False])
def test_a_call_that_nobody_can_read_is_one_attempt_with_its_correction(additional):
    garbled = Message("assistant", calls=(MalformedCall("not JSON", text="{", name="track"),))
    refused = [garbled, Message("tool", "Error: the arguments are not valid JSON")]
    mended = script(user(), refused, track(OK), says("It was sent."))
    assert counted_calls(mended).places == (1,)
    assert graded(expecting(TRACK, additional=additional), mended).outcome.status == "passed"
    assert counted_calls(script(user(), refused, refused, track(OK))).places == (2,)
    # Without an error, or of another tool, it stays.
    assert counted_calls(script(user(), [garbled, Message("tool", OK)], track(OK))).places == (0, 1)
    assert counted_calls(script(user(), refused, call("refund", OK))).places == (0, 1)


def test_a_needless_call_stays_needless_and_is_shown_once():
    result = graded(Expectation("no_call"), script(user(), track(DOWN), track(OK)))
    assert result.mode == "needless_call"
    assert len(result.pairs) == 1


def test_a_schema_problem_names_the_calls_place_in_the_transcript():
    result = graded(expecting(TRACK), script(user(), call("refund", OK), track(DOWN, 7), track(DOWN, 7)))
    assert [problem.call for problem in result.schema_problems] == [2]
    assert result.verdicts["schema"].value == 0.5
    assert result.verdicts["schema"].reason.startswith("track/order")


def test_recovery_counts_every_try():
    endless = script(user(), *[track(DOWN)] * 8, says("It is down."))
    result = graded(expecting(TRACK), endless)
    assert result.verdicts["selection"].status == "passed"
    assert (result.verdicts["recovery"].status, result.outcome.status) == ("failed", "passed")
