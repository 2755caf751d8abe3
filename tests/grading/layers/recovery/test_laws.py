"""Test what holds for every transcript."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.effort import best_seconds
from tests.grading.layers.recovery.scripts import call, says, script, user
from tests.grading.strategies import transcripts
from toolevals.grading.layers.recovery import REACTIONS, grade_recovery
from toolevals.grading.values import Message

# It takes long: `./dev check` leaves it out.
pytestmark = pytest.mark.thorough

_results = st.sampled_from(
    ["ok", "Error: 503 Service Unavailable", "Error: invalid date", "[]", '{"partial": true}', ""]
)
_texts = st.sampled_from(
    ["I was unable to.", "It has been booked.", "Which date?", "Bye.", "I will transfer you to an agent."]
)
_parts: st.SearchStrategy[Message | list[Message]] = st.one_of(
    st.builds(
        lambda tool, result, value: call(tool, result, a=value),
        st.sampled_from(["book_it", "get_it", "transfer_to_human", "x"]),
        _results | st.none(),
        st.integers(0, 1),
    ),
    st.builds(says, _texts),
    st.just(user()),
)
scripts = st.lists(_parts, max_size=14).map(lambda parts: script(*parts))


@given(transcripts | scripts)
def test_any_transcript_is_graded(transcript):
    recovery = grade_recovery(transcript)
    scores = [graded.score for graded in recovery.episodes]
    failed = any(score is not None and score < 1 for score in scores)
    assert (recovery.verdict.status == "failed") == failed
    assert (recovery.verdict.status == "unscored") == (not failed and (not scores or None in scores))
    for graded in recovery.episodes:
        assert json.loads(json.dumps(graded.to_document())) == graded.to_document()
        episode = graded.episode
        assert episode.reaction in REACTIONS
        assert episode.reaction in episode.reactions
        assert graded.score in (0, 0.5, 1, None)
        assert bool(graded.reason) == (graded.score != 1)
        assert episode.identical_retries <= episode.repeats <= episode.retries
        assert episode.futile_repeats <= episode.repeats
        assert episode.failures >= 1
        assert episode.errors <= episode.failures
    if failed:
        scored = [score for score in scores if score is not None]
        assert recovery.verdict.value == sum(scored) / len(scored)


@given(scripts, st.integers(0, 4), st.integers(1, 7))
def test_a_wider_cap_never_lowers_the_score(transcript, cap, guard):
    narrow = grade_recovery(transcript, retry_cap=cap, loop_guard=guard)
    wide = grade_recovery(transcript, retry_cap=cap + 1, loop_guard=guard + 1)
    assert (wide.verdict.value or 0) >= (narrow.verdict.value or 0)


@given(scripts)
def test_fewer_right_reactions_never_raise_the_score(transcript):
    every = grade_recovery(transcript, reactions=list(REACTIONS)).verdict.value or 0
    few = grade_recovery(transcript, reactions=["escalation"]).verdict.value or 0
    assert few <= every


def _cost(parts: list[Message | list[Message]], *, enough: float = 0.0) -> float:
    transcript = script(*parts)
    return best_seconds(lambda: grade_recovery(transcript), enough=enough)


@pytest.mark.parametrize(
    "part",
    [
        lambda n: call("get_it", "Error: 503 Service Unavailable", a=n),
        lambda n: call("get_it", "Error: invalid", a=n),
        lambda n: [user(), *call(f"t{n}", "Error: invalid"), says("Well.")],
        lambda n: [*call(f"t{n}", "Error: invalid"), says("It has been booked. " * 20)],
    ],
)
def test_time_is_linear_in_the_length(part):
    few = _cost([part(n) for n in range(200)])
    most = few * 8 * 4
    assert _cost([part(n) for n in range(1600)], enough=most) < most


def test_arguments_that_nobody_can_write_are_no_obstacle():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (10**6000, deep, float("nan"), "\ud800", {1: 2}):
        transcript = script(user(), *[call("get_it", "Error: invalid", a=value)] * 2, says("I was unable to."))
        (graded,) = grade_recovery(transcript).episodes
        assert graded.episode.failures == 2
