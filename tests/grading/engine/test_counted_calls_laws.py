"""Laws of calls that are made again, on conversations that are drawn."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading import strategies
from tests.grading.layers.recovery.scripts import call, script, user
from tests.grading.retried import ANSWERS, OK, ON_CALLS, REFUND, TRACK, at_one_time, expecting, graded
from toolevals.grading.engine.counted_calls import counted_calls
from toolevals.grading.layers.recovery import TRANSIENT
from toolevals.grading.values import CallExpectation, Expectation, Message, Transcript
from toolevals.grading.values.matchers import Exact

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
