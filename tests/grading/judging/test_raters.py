"""A judge beside people who rated the same cases, worked by hand."""

from __future__ import annotations

from math import hypot

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.judging.raters import RatedCase, compare, corrected_rate, people_say
from toolevals.grading.judging.rubrics import Scale
from toolevals.grading.metrics.agreement import fleiss_kappa
from toolevals.grading.metrics.calibration import JudgeTable, rogan_gladen
from toolevals.grading.metrics.clustered import rate, summed

SCALE = Scale((0.0, 0.5, 1.0), 1.0)
# Both passed, only the judge, only people, both failed; then a tie and one that nobody could tell.
CASES = [
    *(RatedCase(1, {"a": 1, "b": 1, "c": 0.5}) for _ in range(10)),
    *(RatedCase(1, {"a": 0, "b": 0.5, "c": 1}) for _ in range(2)),
    *(RatedCase(0.5, {"a": 1, "b": 1, "c": 1}) for _ in range(2)),
    *(RatedCase(0, {"a": 0, "b": 0, "c": 0}) for _ in range(6)),
    RatedCase(1, {"a": 1, "b": 0, "c": None}),
    RatedCase(0, {"a": None}),
]


def test_what_most_people_say_decides_and_ties_are_told_apart():
    assert people_say([1, 1, 0], SCALE) == "passed"
    assert people_say([1, 0.5, 0], SCALE) == "failed"
    assert people_say([1, 0], SCALE) == "tied"
    assert people_say([1, 0, None], SCALE) == "tied"
    assert people_say([None, 1], SCALE) == "passed"
    assert people_say([None], SCALE) == people_say([], SCALE) == "unrated"


def test_the_figures_by_hand():
    found = compare(CASES, SCALE)
    assert found.table == JudgeTable(10, 2, 2, 6)
    assert dict(found.cells) == {
        ("passed", "passed"): 10,
        ("passed", "failed"): 2,
        ("failed", "passed"): 2,
        ("failed", "failed"): 6,
        ("passed", "tied"): 1,
        ("failed", "unrated"): 1,
    }
    assert found.compared == 20
    # Agreement .8, chance .6² + .4² = .52: (.8 - .52)/.48.
    assert found.table.agreement.value == pytest.approx(0.8)
    assert found.table.kappa.value == pytest.approx(0.28 / 0.48)


def test_values_are_compared_where_one_leads():
    found = compare(CASES, SCALE)
    assert dict(found.values) == {(1, 1): 10, (0.5, 1): 2, (0, 0): 6}


def test_people_among_themselves_and_each_of_them():
    found = compare(CASES, SCALE)
    units: dict[tuple[bool | None, ...], int] = {
        (True, True, False): 10,
        (False, False, True): 2,
        (True, True, True): 2,
        (False, False, False): 6,
    }
    units |= {(True, False, None): 1, (None, None, None): 1}
    assert found.people_kappa == fleiss_kappa(units)
    by_name = {one.rater: one for one in found.raters}
    assert by_name["a"].rated == 22
    # Of 21 that a could tell: 10 + 0 + 0 + 6 + 1 as the judge says.
    assert by_name["a"].with_judge.value == pytest.approx(17 / 21)
    # b and c tie on the first 12 cases and c could not tell the 21st: a with most others on 2 + 6 of 9.
    assert by_name["a"].with_others.value == pytest.approx(8 / 9)
    assert by_name["a"].with_others.count == 9


def test_what_rules_settled_is_right_and_the_rest_is_corrected():
    table = JudgeTable(40, 5, 10, 45)
    asked = rogan_gladen(330, 500, table)
    found = corrected_rate(830, 170, table, settled=500)
    assert found.value == pytest.approx((500 + 0.8 * 500) / 1000)
    assert found.interval is not None
    assert asked.interval is not None
    # The settled half is counted in a sample, too: 46.9 to 53.1 %.
    settled = rate(500, 1000).interval
    assert settled is not None
    assert found.interval.low == pytest.approx(0.9 - hypot(0.2 * (0.5 - settled.low), 0.5 * (0.8 - asked.interval.low)))
    assert found.interval.high == pytest.approx(
        0.9 + hypot(0.2 * (settled.high - 0.5), 0.5 * (asked.interval.high - 0.8))
    )
    # Rules settled all of five cases: that says little of the next ones.
    assert corrected_rate(5, 0, table, settled=5).interval == rate(5, 5).interval
    assert corrected_rate(0, 0, table).value is None


def test_trials_of_one_example_count_as_alike_as_they_are():
    table = JudgeTable(400, 50, 100, 450)
    sums = summed([(10, 10)] * 70 + [(10, 0)] * 30)
    for settled in (0, 300):
        plain = corrected_rate(700, 300, table, settled=settled)
        found = corrected_rate(700, 300, table, settled=settled, sums=sums)
        assert found.value == plain.value
        assert found.interval is not None
        assert plain.interval is not None
        assert found.interval.high - found.interval.low > 1.8 * (plain.interval.high - plain.interval.low)


@given(st.integers(0, 50), st.integers(0, 50))
def test_without_settled_cases_it_is_the_cores_correction(passed, failed):
    table = JudgeTable(40, 5, 10, 45)
    found, plain = corrected_rate(passed, failed, table), rogan_gladen(passed, passed + failed, table)
    assert found.value == plain.value
    assert found.interval == plain.interval


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), max_size=4)))
)
def test_every_case_stands_in_one_cell(cases):
    rated = [RatedCase(value, {str(place): each for place, each in enumerate(said)}) for value, said in cases]
    found = compare(rated, SCALE)
    assert sum(found.cells.values()) == len(cases)
    table = found.table
    assert table.both_passed + table.only_judge + table.only_human + table.both_failed == found.compared
