"""A judge beside itself: verdicts of now, and what changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.judging import Scale
from toolevals.grading.judging.drift import Answer, DriftTable, Now, verdict_now

SCALE = Scale((0.0, 0.5, 1.0), 0.5)
NOW = ("passed", "failed", "unscored", "errored", "unasked")
CASES = st.lists(st.tuples(st.booleans(), st.sampled_from(NOW)))


@pytest.mark.parametrize(
    ("answers", "questions", "now"),
    [
        ([Answer(1.0), Answer(0.5)], 2, "passed"),
        ([Answer(1.0), Answer(0.0)], 2, "failed"),
        # Nothing to score in one of two is not looked at; in all of them there is no verdict.
        ([Answer(1.0), Answer(None)], 2, "passed"),
        ([Answer(None), Answer(None)], 2, "unscored"),
        ([Answer(1.0), Answer(None, "gone")], 2, "errored"),
        ([Answer(None, "gone")], 2, "errored"),
        ([Answer(1.0)], 2, "unasked"),
        ([], 1, "unasked"),
    ],
)
def test_the_worst_answer_decides_and_errored_unscored_and_unasked_are_apart(answers, questions, now):
    assert verdict_now(answers, questions, SCALE) == now


def test_a_table_worked_by_hand():
    # Of twenty: sixteen stay, three fail now and one passes; three more have no verdict now.
    worked: tuple[tuple[bool, Now, int], ...] = (
        (True, "passed", 10),
        (False, "failed", 6),
        (True, "failed", 3),
        (False, "passed", 1),
    )
    cases = [(before, now) for before, now, count in worked for _ in range(count)]
    cases += [(True, "errored"), (False, "unscored"), (True, "unasked")]
    table = DriftTable.of_cases(cases)
    assert (table.changed, table.compared, table.to_failed, table.to_passed) == (4, 20, 3, 1)
    assert (table.errored, table.unscored, table.unasked) == (1, 1, 1)
    assert table.share.value == 0.2
    # Wilson's interval of 4 in 20.
    assert table.share.interval is not None
    assert (table.share.interval.low, table.share.interval.high) == pytest.approx((0.0807, 0.4160), abs=1e-4)
    assert table.has_moved(0.08)
    assert not table.has_moved(0.081)


@pytest.mark.parametrize(("compared", "suffice"), [(20, 2), (50, 3), (100, 5), (150, 7), (200, 8), (500, 17)], ids=str)
def test_how_many_changes_are_surely_more_than_two_percent(compared, suffice):
    def table(changed: int) -> DriftTable:
        return DriftTable(stayed_passed=compared - changed, to_failed=changed, to_passed=0, stayed_failed=0)

    assert [table(changed).has_moved(0.02) for changed in (suffice - 1, suffice)] == [False, True]
    assert [table(changed).has_moved(0.0) for changed in (0, 1)] == [False, True]


@given(CASES)
def test_every_case_is_counted_once_and_only_changed_verdicts_move_a_judge(cases):
    table = DriftTable.of_cases(cases)
    assert table.compared + table.unscored + table.errored + table.unasked == len(cases)
    changed = sum(now in ("passed", "failed") and before != (now == "passed") for before, now in cases)
    assert table.changed == changed
    assert table.has_moved(0.0) is (changed > 0)
    assert not table.has_moved(1.0)
    assert table.has_moved(0.0) or not table.has_moved(0.02)
    assert (table.share.value is None) is (table.compared == 0)


def test_a_negative_count_is_refused():
    for names in ("to_failed", "errored"):
        with pytest.raises(ValueError, match="negative"):
            DriftTable(**{**dict.fromkeys(("stayed_passed", "to_failed", "to_passed", "stayed_failed"), 0), names: -1})
