"""Test how suspicious gold is: strengths and scores worked by hand, and what always holds."""

from __future__ import annotations

from math import exp, log

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.suspects.analysis import (
    AGREEMENT,
    CLOSE,
    FAILED,
    LEAST,
    LEFT_OUT,
    MOST_PLACES,
    PRIOR,
    REASONS,
    REFUSED,
    ModelOpinion,
    Point,
    Reason,
    Trial,
    evidence_of,
    overruled,
    reasons_of,
    score,
    share_against,
    skilled,
)

BIRTHDAY = Point(AGREEMENT, "dob of book", '"1985-04-04"', '"1981-05-26"')
counts = st.integers(0, 50)
skills = st.floats(0.02, 0.98)


def voice(name: str, *trials: Trial, skill: float = 0.8) -> ModelOpinion:
    return ModelOpinion(name, list(trials), skill)


def says(*points: Point, run: int = 1) -> Trial:
    return Trial(f"case-{run}", run, points=frozenset(points))


def passes(run: int = 1) -> Trial:
    return Trial(f"case-{run}", run, with_gold=True)


def found(*voices: ModelOpinion) -> dict[str, tuple[int, int, int]]:
    """Return what speaks against the gold."""
    return {each.kind: (each.against, each.sided, each.voices) for each in reasons_of(voices) if each.evidence > 0}


def test_three_of_four_that_agree_against_a_gold_that_nobody_reaches():
    voices = [voice("a", says(BIRTHDAY)), voice("b", says(BIRTHDAY)), voice("c", says(BIRTHDAY)), voice("d", says())]
    reasons = {each.kind: each for each in reasons_of(voices)}
    assert list(reasons) == [FAILED, AGREEMENT, CLOSE]
    agreement = reasons[AGREEMENT]
    assert agreement.sentence == '3 of 4 agents use "1981-05-26" for dob of book; the gold expects "1985-04-04".'
    assert [each.agent for each in agreement.witnesses] == ["a", "b", "c"]
    # Two of the three are likelier by (.8 + .2 x .1)/.1 each; four fail a wrong gold by 1 - .1 x .8, a right one by .2.
    assert agreement.evidence == pytest.approx(2 * log(8.2))
    assert reasons[FAILED].evidence == pytest.approx(4 * log(0.92 / 0.2))
    assert reasons[CLOSE].evidence == pytest.approx(3 * 1.2 * 0.8)
    odds = PRIOR / (1 - PRIOR) * 8.2**2 * 4.6**4 * exp(2.88)
    assert score(reasons.values()) == pytest.approx(odds / (1 + odds))


def test_skill_is_of_the_other_examples():
    rows = [[voice("A", passes())], [voice("a", passes())], [voice("a", says())], [voice("b", says())]]
    skilled(rows)
    assert [each.skill for (each,) in rows] == [2 / 4, 2 / 4, 3 / 4, 1 / 2]


def test_skilled_voices_that_fail_say_more_than_weak_ones_and_those_who_pass_speak_for_the_gold():
    def evidence(*voices: ModelOpinion) -> float:
        return evidence_of(reasons_of(voices))

    weak, strong = (voice("a", says(), skill=skill) for skill in (0.1, 0.9))
    assert evidence(weak, voice("b", says())) < evidence(strong, voice("b", says()))
    agreeing = [voice("a", says(BIRTHDAY)), voice("b", says(BIRTHDAY))]
    assert evidence(*agreeing, voice("c", passes())) < evidence(*agreeing)
    assert found(voice("c", passes()), voice("d", passes())) == {}
    assert score(reasons_of([voice("c", passes()), voice("d", passes())])) == 0


def test_one_voice_is_no_agreement_however_often_it_says_it_and_is_heard_by_half():
    alone = voice("a", says(BIRTHDAY, run=1), says(BIRTHDAY, run=2), says(BIRTHDAY, run=3))
    reasons = {each.kind: each.evidence for each in reasons_of([alone])}
    assert reasons == {FAILED: pytest.approx(log(4.6) / 2), CLOSE: pytest.approx(1.2 * 0.8 / 2)}


def test_a_voice_says_what_most_of_its_trials_say():
    wavering = voice("b", says(BIRTHDAY), says(), passes())
    assert AGREEMENT not in found(voice("a", says(BIRTHDAY)), wavering)
    sure = voice("b", says(BIRTHDAY), says(BIRTHDAY), passes())
    assert found(voice("a", says(BIRTHDAY)), sure)[AGREEMENT] == (2, 0, 2)


def test_different_wrong_answers_do_not_agree():
    other = BIRTHDAY._replace(said='"2001-01-01"')
    assert AGREEMENT not in found(voice("a", says(BIRTHDAY)), voice("b", says(other)))


def test_a_call_left_out_is_weaker_than_another_answer():
    left = Point(LEFT_OUT, "send_certificate", "0", "")
    by_kind = {each.kind: each for each in reasons_of([voice("a", says(left)), voice("b", says(left))])}
    assert by_kind[LEFT_OUT].sentence == "2 of 2 agents do not call send_certificate, which the gold expects."
    assert by_kind[LEFT_OUT].evidence == pytest.approx(log(8.2) / 2)


def test_the_same_end_state_sides_with_the_gold():
    assert found(*(voice(name, Trial("c", 1, same_state=True)) for name in "ab")) == {}


def test_one_refusal_of_the_golds_own_call_is_evidence_and_names_it():
    refused = Trial("c", 7, refused=("“Error: no such card” is the answer to pay()",))
    reason = next(each for each in reasons_of([voice("a", refused)]) if each.kind == REFUSED)
    assert [reason.against, reason.voices, reason.evidence] == [1, 1, 2.0]
    assert "no such card" in reason.sentence
    assert reason.witnesses[0].run == 7


def test_one_overruled_person_is_no_evidence():
    assert overruled(1, 0) == overruled(1, 1) == overruled(2, 2) == 0
    assert overruled(2, 0) > LEAST > overruled(2, 1) > 0


def test_only_the_strongest_places_are_told():
    points = [BIRTHDAY._replace(place=f"{place} of book") for place in range(MOST_PLACES + 3)]
    reasons = reasons_of([voice("a", says(*points)), voice("b", says(*points))])
    assert [each.kind for each in reasons].count(AGREEMENT) == MOST_PLACES


def test_long_values_are_cut_when_told_and_compared_whole():
    long = "x" * 500
    one, other = BIRTHDAY._replace(said=f"{long}1"), BIRTHDAY._replace(said=f"{long}2")
    assert AGREEMENT not in found(voice("a", says(one)), voice("b", says(other)))
    assert all(len(each.sentence) < 300 for each in reasons_of([voice("a", says(one)), voice("b", says(one))]))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(counts, counts, counts)
def test_the_share_against_grows_with_those_against(against: int, sided: int, others: int):
    voices = against + sided + others
    value = share_against(against, sided, voices)
    assert 0 <= value < 1
    assert share_against(against + 1, sided, voices + 1) >= value
    assert share_against(against, sided + 1, voices + 1) <= value


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(skills, st.booleans()), min_size=1, max_size=6), st.integers(0, 5))
def test_a_voice_that_turns_against_the_gold_never_lowers_its_evidence(said: list[tuple[float, bool]], place: int):
    def evidence(turned: int) -> float:
        voices = [
            voice(str(number), passes() if sides and number != turned else says(BIRTHDAY), skill=skill)
            for number, (skill, sides) in enumerate(said)
        ]
        return evidence_of(reasons_of(voices))

    assert evidence(place % len(said)) >= evidence(-1) - 1e-9


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(REASONS), st.floats(0, 20))))
def test_a_further_reason_never_lowers_the_score(given_reasons: list[tuple[str, float]]):
    reasons = [Reason(kind, "", evidence, 1, 0, 1) for kind, evidence in given_reasons]
    scores = [score(reasons[:count]) for count in range(len(reasons) + 1)]
    assert scores[0] == 0
    assert scores == sorted(scores)
    assert scores[-1] <= 1
