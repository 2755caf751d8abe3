"""How suspicious gold is: strengths and scores worked by hand, and what always holds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.analyses.suspicion import (
    AGREEMENT,
    LEFT_OUT,
    MOST_PLACES,
    NOBODY,
    REASONS,
    REFUSED,
    SAME_STATE,
    WEIGHTS,
    Point,
    Reason,
    Trial,
    Voice,
    reasons_of,
    score,
    strength,
)

BIRTHDAY = Point(AGREEMENT, "dob of book", '"1985-04-04"', '"1981-05-26"')
counts = st.integers(0, 50)


def voice(name: str, *trials: Trial) -> Voice:
    return Voice(name, list(trials))


def says(*points: Point, run: int = 1) -> Trial:
    return Trial(f"case-{run}", run, points=frozenset(points))


def passes(run: int = 1) -> Trial:
    return Trial(f"case-{run}", run, with_gold=True)


def found(*voices: Voice) -> dict[str, tuple[int, int, int]]:
    return {each.kind: (each.against, each.sided, each.voices) for each in reasons_of(voices)}


def test_three_of_four_that_agree_against_a_gold_that_nobody_reaches():
    voices = [voice("a", says(BIRTHDAY)), voice("b", says(BIRTHDAY)), voice("c", says(BIRTHDAY)), voice("d", says())]
    agreement, nobody = reasons_of(voices)
    assert agreement.sentence == '3 of 4 subjects say "1981-05-26" for dob of book, where the gold has "1985-04-04".'
    assert agreement.strength == pytest.approx(3 / 5)
    assert [each.subject for each in agreement.witnesses] == ["a", "b", "c"]
    assert [nobody.kind, nobody.against, nobody.voices] == [NOBODY, 4, 4]
    # 1 - (1 - .9 x .6)(1 - .15 x .8)
    assert score([agreement, nobody]) == pytest.approx(1 - 0.46 * 0.88)


def test_those_who_reach_the_gold_outweigh_those_who_agree_against_it():
    agreeing = [voice("a", says(BIRTHDAY)), voice("b", says(BIRTHDAY))]
    assert found(*agreeing, voice("c", passes())) == {AGREEMENT: (2, 1, 3)}
    assert found(*agreeing, voice("c", passes()), voice("d", passes())) == {}


def test_one_voice_is_no_agreement_however_often_it_says_it():
    assert found(voice("a", says(BIRTHDAY, run=1), says(BIRTHDAY, run=2), says(BIRTHDAY, run=3))) == {}


def test_a_voice_says_what_most_of_its_trials_say():
    wavering = voice("b", says(BIRTHDAY), says(), passes())
    assert AGREEMENT not in found(voice("a", says(BIRTHDAY)), wavering)
    sure = voice("b", says(BIRTHDAY), says(BIRTHDAY), passes())
    assert found(voice("a", says(BIRTHDAY)), sure)[AGREEMENT] == (2, 0, 2)


def test_different_wrong_answers_do_not_agree():
    other = BIRTHDAY._replace(said='"2001-01-01"')
    assert found(voice("a", says(BIRTHDAY)), voice("b", says(other))) == {NOBODY: (2, 0, 2)}


def test_a_call_left_out_is_weaker_than_another_answer():
    left = Point(LEFT_OUT, "send_certificate", "0", "")
    reasons = reasons_of([voice("a", says(left)), voice("b", says(left))])
    assert reasons[0].sentence == "2 of 2 subjects make no call to send_certificate, which the gold expects."
    assert score(reasons) == pytest.approx(1 - (1 - 0.3 * 2 / 3) * (1 - 0.15 * 2 / 3))


def test_the_same_end_state_sides_with_the_gold_and_says_that_its_calls_are_too_narrow():
    narrow = [voice(name, Trial("c", 1, same_state=True)) for name in "ab"]
    assert found(*narrow) == {SAME_STATE: (2, 0, 2)}
    assert found(*narrow, voice("c", passes()), voice("d", passes())) == {}


def test_one_refusal_of_the_golds_own_call_is_evidence_and_names_it():
    (reason,) = reasons_of([voice("a", Trial("c", 7, refused=("“Error: no such card” is the answer to pay()",)))])
    assert [reason.kind, reason.against, reason.voices] == [REFUSED, 1, 1]
    assert "no such card" in reason.sentence
    assert reason.witnesses[0].run == 7


def test_only_the_strongest_places_are_told():
    points = [BIRTHDAY._replace(place=f"{place} of book") for place in range(MOST_PLACES + 3)]
    reasons = reasons_of([voice("a", says(*points)), voice("b", says(*points))])
    assert [each.kind for each in reasons].count(AGREEMENT) == MOST_PLACES


def test_long_values_are_cut_when_told_and_compared_whole():
    long = "x" * 500
    one, other = BIRTHDAY._replace(said=f"{long}1"), BIRTHDAY._replace(said=f"{long}2")
    assert AGREEMENT not in found(voice("a", says(one)), voice("b", says(other)))
    assert len(reasons_of([voice("a", says(one)), voice("b", says(one))])[0].sentence) < 300


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(counts, counts, counts)
def test_strength_is_a_share_that_grows_with_those_against(against: int, sided: int, others: int):
    voices = against + sided + others
    value = strength(against, sided, voices)
    assert 0 <= value < 1
    assert strength(against + 1, sided, voices + 1) >= value
    assert strength(against, sided + 1, voices + 1) <= value


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(REASONS), counts, counts)))
def test_a_further_reason_never_lowers_the_score(given_reasons: list[tuple[str, int, int]]):
    reasons = [Reason(kind, "", against, 0, against + others) for kind, against, others in given_reasons]
    scores = [score(reasons[:count]) for count in range(len(reasons) + 1)]
    assert scores[0] == 0
    assert scores == sorted(scores)
    assert scores[-1] <= 1
    assert all(0 < WEIGHTS[kind] < 1 for kind in REASONS)
