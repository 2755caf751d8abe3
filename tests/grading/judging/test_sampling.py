"""Samples of judged cases: of each verdict its share, by chance, the same for the same seed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.judging.sampling import one_trial_each, sample_of_each, stratified_sample

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


def test_of_each_example_one_trial_is_drawn():
    examples = [[("passed", (n, 0)), ("failed", (n, 1)), ("passed", (n, 2))] for n in range(600)]
    found = one_trial_each(examples, "a")
    drawn = [case for cases in found.values() for case in cases]
    assert sorted(n for n, _ in drawn) == list(range(600))
    assert all(trial == 1 for _, trial in found["failed"])
    # A third of the trials failed.
    assert 160 < len(found["failed"]) < 240
    assert one_trial_each(examples, "a") == found
    assert one_trial_each(examples, "b") != found


@given(sizes, sizes, sizes, sizes, st.text(max_size=5))
def test_so_many_of_each_stratum_are_drawn_once_each_and_the_same_by_the_same_seed(passed, failed, first, second, seed):
    wanted = {"passed": first, "failed": second}
    drawn = sample_of_each(strata(passed, failed), wanted, seed)
    assert (
        Counter(name for name, _ in drawn) == Counter({"p": min(first, passed), "f": min(second, failed)}) + Counter()
    )
    assert len({*drawn}) == len(drawn)
    assert sample_of_each(strata(passed, failed), wanted, seed) == drawn


def test_the_order_of_a_sample_says_nothing_of_the_strata():
    drawn = sample_of_each(strata(300, 300), {"passed": 200, "failed": 200}, "a")
    first = [name for name, _ in drawn[:200]]
    assert 75 < first.count("p") < 125
    with pytest.raises(ValueError, match="negative"):
        sample_of_each(strata(1, 1), {"passed": -1, "failed": 0})
