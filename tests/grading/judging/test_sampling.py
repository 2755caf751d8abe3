"""Samples of judged cases: of each verdict its share, by chance, the same for the same seed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.judging.sampling import stratified_sample

sizes = st.integers(0, 60)


def strata(passed: int, failed: int) -> dict[str, list[tuple[str, int]]]:
    return {"passed": [("p", n) for n in range(passed)], "failed": [("f", n) for n in range(failed)]}


def test_each_verdict_gives_its_share_of_both_sets():
    drawn = stratified_sample(strata(800, 200), held_out=100, tuning=50, seed="a")
    assert Counter((each.case[0], each.held_out) for each in drawn) == {
        ("p", True): 80,
        ("f", True): 20,
        ("p", False): 40,
        ("f", False): 10,
    }


def test_a_rare_verdict_is_never_left_out():
    drawn = stratified_sample(strata(999, 1), held_out=10)
    assert Counter(each.case[0] for each in drawn) == {"p": 9, "f": 1}


def test_the_order_says_nothing_of_the_verdict_and_follows_the_seed():
    one, same, other = (stratified_sample(strata(50, 50), held_out=40, seed=seed) for seed in "aab")
    assert one == same
    assert one != other
    verdicts = [each.case[0] for each in one]
    assert verdicts != sorted(verdicts)
    assert verdicts != sorted(verdicts, reverse=True)


@given(sizes, sizes, sizes, sizes)
def test_no_case_is_drawn_twice_and_no_more_than_there_are(passed, failed, held_out, tuning):
    drawn = stratified_sample(strata(passed, failed), held_out=held_out, tuning=tuning)
    cases = [each.case for each in drawn]
    assert len(set(cases)) == len(cases)
    total = passed + failed
    assert sum(each.held_out for each in drawn) == min(held_out, total)
    assert len(drawn) == min(held_out, total) + min(tuning, total - min(held_out, total))


@given(sizes, sizes, sizes)
def test_shares_are_kept_to_within_one_case(passed, failed, held_out):
    drawn = stratified_sample(strata(passed, failed), held_out=held_out)
    if total := passed + failed:
        share = sum(each.case[0] == "p" for each in drawn)
        assert abs(share - len(drawn) * passed / total) <= 1


def test_a_negative_size_is_refused():
    with pytest.raises(ValueError):
        stratified_sample(strata(1, 1), held_out=-1)
