"""Test what is told of two runs by cases that can be checked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reports.compare.analysis import change_details, change_sentence, compared, tools_sentence
from reports.compare.pairing import Paired
from tests.reports.paired_runs import beside, packed, right, wrong
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.values.verdicts import NONE

HAND = (
    [(wrong("a", "b"), right("a"))] * 9
    + [(right("a"), wrong("a", "b"))]
    + [(right("a"), right("a"))] * 5
    + [(right("b"), right("b"))] * 5
)


def by_hand() -> Any:
    return compared(beside(HAND))


def test_layers_by_hand():
    found = by_hand()
    row = found.layer("")
    assert row.name == "outcome"
    assert (row.compared.before, row.compared.after) == (11 / 20, 19 / 20)
    assert (row.compared.improved, row.compared.worsened, row.same) == (9, 1, 10)
    assert row.compared.p_value == 22 / 1024
    # What decides is tested alone, others after Holm's correction.
    assert row.p_holm == row.compared.p_value
    assert row.change == "better"
    assert row.before_interval == clustered_interval(ExampleSums.single(11, 20))


def test_what_does_not_decide_is_held_to_holms_p():
    """A p-value of .021 by itself is .043 among two rows and .086 among four."""
    row = by_hand().layer("selection")
    assert (row.decides, row.compared.p_value) == (False, 22 / 1024)
    for p_holm, change, said in (
        (44 / 1024, "better", "Significantly better"),
        (88 / 1024, "unclear", "No significant change"),
    ):
        held = replace(row, p_holm=p_holm)
        assert held.change == change
        assert change_sentence(held).startswith(said)
    assert "p = 0.021 (after Holm’s correction over the layers 0.086)" in change_details(held)


def test_tools_by_hand():
    a, b = sorted(by_hand().tools, key=lambda row: row.name)
    assert (a.support, a.predicted) == ((15, 15), (6, 14))
    assert (a.missed.before, a.missed.after, a.missed.fixed, a.missed.broken) == (9, 1, 9, 1)
    assert (b.wrong.before, b.wrong.after, b.wrong.fixed, b.wrong.broken) == (9, 1, 9, 1)
    assert (a.figures.recall.before, a.figures.recall.after) == (6 / 15, 14 / 15)
    assert (b.figures.precision.before, b.figures.precision.after) == (5 / 14, 5 / 6)
    # Four tests, two of them of 22/1024: Holm makes both 4·22/1024.
    assert a.missed.p_value == b.wrong.p_value == 22 / 1024
    assert a.missed.p_holm == b.wrong.p_holm == 88 / 1024
    assert not a.stands


def test_the_matrix_by_hand():
    cells = {(cell.expected, cell.actual): cell for cell in by_hand().matrix.cells}
    lost, won = cells["a", "b"], cells["a", "a"]
    assert (lost.before, lost.after, lost.delta, lost.entered, lost.left, lost.better) == (9, 1, -8, 1, 9, True)
    assert (won.before, won.after, won.delta, won.entered, won.left, won.better) == (6, 14, 8, 9, 1, True)
    assert cells["b", "b"].better is None


def test_the_sentence_claims_only_what_the_test_has_shown():
    row = by_hand().layer("")
    assert change_sentence(row) == (
        "Significantly better: 95.0 % of examples are right in their outcome, up from 55.0."
    )
    assert change_details(row).startswith("Difference +40.0 points (")
    assert "exact McNemar p = 0.021, the interval agrees." in change_details(row)
    assert tools_sentence(by_hand().tools) == (
        "No single tool’s change is significant after Holm’s correction over 4 tests."
    )


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([(right("a"), wrong("a", "b"))] * 16 + [(right("a"), right("a"))] * 4, "Significantly worse: 20.0 %"),
        ([(right("a"), right("a"))] * 20, "No change: 100.0 %"),
        ([(right("a"), wrong("a", "b"))] * 5 + [(right("a"), right("a"))] * 15, "No significant change: 75.0 %"),
        (
            [(right("a"), wrong("a", "b"))] * 3,
            "0.0 % of examples are right in their outcome, was 100.0 %. 3 examples",
        ),
        (
            [(right("a"), wrong("a", "b"))] * 19,
            "0.0 % of examples are right in their outcome, was 100.0 %. 19",
        ),
        ([(("", "", "errored"), right("a"))], "Nothing was scored in both runs."),
    ],
)
def test_other_changes_in_words(pairs, said):
    found = compared(beside(pairs))
    assert change_sentence(found.layer("")).startswith(said)


def test_trials_count_as_parts_of_their_example():
    before = packed([[right("a"), wrong("a", "b")], [right("b"), right("b")]], 2)
    after = packed([[right("a")], [wrong("b", NONE)]], 1)
    found = compared(Paired(before, after))
    row = found.layer("outcome")
    assert row is not None
    assert (row.compared.before, row.compared.after) == (0.75, 0.5)
    assert (row.compared.improved, row.compared.worsened, row.compared.test) == (1, 1, "sign_flip")
    cells = {(cell.expected, cell.actual): (cell.before, cell.after) for cell in found.matrix.cells}
    assert cells == {("a", "a"): (0.5, 1), ("a", "b"): (0.5, 0), ("b", "b"): (1, 0), ("b", NONE): (0, 1)}


def test_with_several_trials_the_spread_says_what_could_have_been_shown():
    """Eight examples of twelve rise by a half: σ = √(2/3·1/4 - 1/9) = √(1/18), and δ = 2.8016·σ/√12."""
    mixed, good = [right("a"), wrong("a", "b")], [right("a"), right("a")]
    before, after = packed([mixed] * 8 + [good] * 4, 2), packed([good] * 12, 2)
    row = compared(Paired(before, after)).layer("outcome")
    assert row is not None
    assert row.compared.test == "sign_flip"
    assert row.significant is None
    spread = (row.compared.spread or 0) ** 2
    assert spread == pytest.approx(1 / 18, rel=0.1)
    assert row.detectable == pytest.approx(2.8016 * (spread / 12) ** 0.5, rel=1e-4)
    said = change_details(row)
    assert "With changes of this spread, 12 examples can detect a difference of" in said
    assert "With this many changed examples," not in said
    few = compared(Paired(packed([mixed] * 5, 2), packed([good] * 5, 2))).layer("outcome")
    assert "5 examples are too few to compare: at least 20 are needed" in change_sentence(few)
    alike = compared(Paired(packed([mixed] * 9, 2), packed([good] * 9, 2))).layer("outcome")
    assert "With 9 examples, fewer than 6 changed examples can never be significant." in change_details(alike)
