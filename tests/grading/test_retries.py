"""A failed call that is made again counts once: alike, or with the arguments that its failure speaks of corrected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading import strategies
from tests.grading.recovery.scripts import call, says, script, user
from toolevals.grading.engine import compile_case, grade
from toolevals.grading.matchers import Exact
from toolevals.grading.recovery import ERROR_CLASSES, TRANSIENT, trouble_in
from toolevals.grading.retries import counted_calls
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    MalformedCall,
    Message,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.verdicts import CaseGrade

DOWN, OK = "Error: 503 Service Unavailable", '{"state": "sent"}'
# One answer of each class of error.
ANSWERS = {
    "400": "HTTP 400 bad request",
    "401": "HTTP 401",
    "403": "HTTP 403",
    "404": "HTTP 404",
    "408": "HTTP 408",
    "429": '{"status_code": 429, "error": "later"}',
    "5xx": DOWN,
    "timeout": "timed out",
    "empty": "[]",
    "partial": '{"rows": [1], "truncated": true}',
    "unknown": "Error: hm",
}
TOOLS = (
    ToolSpec("track", "", {"properties": {"order": {"type": "string"}}}),
    ToolSpec("refund", "", {}),
    ToolSpec("search_flights"),
)
TRACK, REFUND = CallExpectation("track", {"order": Exact("A-1")}), CallExpectation("refund")
ON_CALLS = ("selection", "arguments", "schema", "shape", "equivalence")


def track(result: str | None, order: object = "A-1") -> list[Message]:
    return call("track", result, order=order)


def at_one_time(*made: tuple[str, str]) -> list[Message]:
    """Calls of one message, by tool and answer."""
    calls = tuple(ToolCall(tool, {"order": "A-1"}, f"c{number}") for number, (tool, _) in enumerate(made))
    answers = [Message("tool", answer, call_id=f"c{number}") for number, (_, answer) in enumerate(made)]
    return [Message("assistant", None, calls), *answers]


def expecting(*calls: CallExpectation, additional: bool = False) -> Expectation:
    return Expectation("calls", alternatives=(Trajectory(calls, additional_calls=additional),))


def graded(expectation: Expectation, transcript: Transcript) -> CaseGrade:
    return grade(compile_case(expectation, TOOLS), transcript)


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
        "ValueError: 'next Friday' is no date",
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


_answers = st.sampled_from([OK, *ANSWERS.values()])
_conversations = st.lists(
    st.builds(
        lambda tool, order, answer: call(tool, answer, order=order),
        st.sampled_from(["track", "refund"]),
        st.sampled_from(["A-1", "A-2", 7]),
        _answers,
    )
    | st.builds(lambda made: at_one_time(*made), st.lists(st.tuples(st.sampled_from(["track", "refund"]), _answers)))
    | st.just([user()]),
    max_size=5,
)
_expectations = st.builds(
    lambda calls, additional: expecting(*calls, additional=additional),
    st.lists(st.sampled_from([TRACK, REFUND, CallExpectation("track", {"order": Exact("A-2")})]), max_size=4),
    st.booleans(),
) | st.sampled_from([Expectation("no_call"), Expectation("some_call")])


def with_a_failed_try(transcript: Transcript, place: int, failure: str) -> Transcript:
    """Return the transcript as if the call at a message had failed in passing first, and was made again at once."""
    message = transcript.messages[place]
    lost = [Message("tool", failure, call_id=each.id) for each in message.calls]
    parts = [*transcript.messages[:place], message, *lost, *transcript.messages[place:]]
    return replace(transcript, messages=tuple(parts))


@settings(max_examples=300)
@given(_conversations, _expectations, st.data())
def test_a_failed_try_before_it_never_changes_the_verdicts_on_calls(parts, expectation, data):
    transcript = script(user(), *parts)
    places = [place for place, message in enumerate(transcript.messages) if message.calls]
    plain = graded(expectation, transcript)
    for failure in data.draw(st.lists(st.sampled_from([ANSWERS[name] for name in sorted(TRANSIENT)]), max_size=2)):
        if places:
            transcript = with_a_failed_try(transcript, data.draw(st.sampled_from(places)), failure)
    retried = graded(expectation, transcript)
    for name in ON_CALLS:
        assert retried.verdicts[name] == plain.verdicts[name]
    assert (retried.pairs, retried.differences) == (plain.pairs, plain.differences)
    assert (retried.expected, retried.actual) == (plain.expected, plain.actual)


@given(_conversations, st.sampled_from([OK, ANSWERS["empty"], ANSWERS["partial"]]))
def test_a_repetition_after_an_answer_always_counts(parts, answer):
    def settled(message: Message) -> Message:
        return replace(message, content=answer) if message.role == "tool" else message

    transcript = script(*parts)
    transcript = replace(transcript, messages=tuple(map(settled, transcript.messages)))
    counted = counted_calls(transcript)
    assert counted.calls == transcript.calls
    assert counted.places == tuple(range(len(transcript.calls)))


@given(strategies.transcripts)
def test_what_counts_is_a_part_of_what_was_called(transcript):
    counted = counted_calls(transcript)
    assert len(set(counted.places)) == len(counted.places)
    assert counted.calls == tuple(transcript.calls[place] for place in counted.places)
