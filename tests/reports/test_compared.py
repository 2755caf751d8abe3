"""Test what is told of two runs: laws, and what can be checked by hand."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.analyses.compared import Paired, compared
from reports.analyses.compared.pairing import weighed
from reports.analyses.compared.sentence import change_details, change_sentence, tools_sentence
from reports.analyses.compared.strata import stratum_deltas
from reports.analyses.compared.tallying import Tally, tallied
from reports.comparison.moved import MovedFilter, moved_places
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.metrics.multiplicity import holm
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL
from toolevals.runs.counts.outcome_patterns import OutcomePatterns
from toolevals.runs.counts.packed_cases import Packed

Trial = tuple[str, str, str]


def packed(examples: Sequence[Sequence[Trial]], trials: int) -> OutcomePatterns:
    """Return a run: of each trial what was expected, what was called, and the status of the outcome."""
    rows = []
    for position, tried in enumerate(examples):
        for trial, (expected, actual, outcome) in enumerate(tried):
            selection = "unscored" if not expected else "passed" if expected == actual else "failed"
            rest = ["unscored"] * (len(VERDICT_NAMES) - 2)
            rows.append((position, trial, expected, actual, outcome, selection, *rest))
    return OutcomePatterns.of(Packed.of_cases(range(len(examples)), trials, rows))


def right(name: str) -> Trial:
    return name, name, "passed"


def wrong(name: str, called: str) -> Trial:
    return name, called, "failed"


HAND = (
    [(wrong("a", "b"), right("a"))] * 9
    + [(right("a"), wrong("a", "b"))]
    + [(right("a"), right("a"))] * 5
    + [(right("b"), right("b"))] * 5
)


def beside(pairs: Sequence[tuple[Trial, Trial]]) -> Paired:
    """Return two runs of one trial each, an example a pair."""
    return Paired(packed([[before] for before, _ in pairs], 1), packed([[after] for _, after in pairs], 1))


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
        (44 / 1024, "better", "Better, and not"),
        (88 / 1024, "unclear", "No change is shown"),
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
        "Better, and not by chance: 95.0 % of examples are right in their outcome, up from 55.0."
    )
    assert change_details(row).startswith("Difference +40.0 points (")
    assert "exact McNemar p = 0.021, the interval agrees." in change_details(row)
    assert tools_sentence(by_hand().tools) == (
        "No single tool’s change is significant after Holm’s correction over 4 tests."
    )


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([(right("a"), wrong("a", "b"))] * 16 + [(right("a"), right("a"))] * 4, "Worse, and not by chance: 20.0 %"),
        ([(right("a"), right("a"))] * 20, "No change: 100.0 %"),
        ([(right("a"), wrong("a", "b"))] * 5 + [(right("a"), right("a"))] * 15, "No change is shown: 75.0 %"),
        (
            [(right("a"), wrong("a", "b"))] * 3,
            "0.0 % of examples are right in their outcome, before 100.0 %; 3 examples",
        ),
        (
            [(right("a"), wrong("a", "b"))] * 19,
            "0.0 % of examples are right in their outcome, before 100.0 %; 19",
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
    assert "Changes of this spread in 12 examples show a difference of" in said
    assert "So many changes" not in said
    few = compared(Paired(packed([mixed] * 5, 2), packed([good] * 5, 2))).layer("outcome")
    assert "5 examples cannot tell: at least 20 are needed" in change_sentence(few)
    alike = compared(Paired(packed([mixed] * 9, 2), packed([good] * 9, 2))).layer("outcome")
    assert "In 9 examples no change of fewer than 6 of them can be shown." in change_details(alike)


names = st.sampled_from(["a", "b", NONE])
scored = st.builds(
    lambda expected, actual: right(expected) if expected == actual else wrong(expected, actual),
    names,
    st.sampled_from(["a", "b", NONE, UNKNOWN_TOOL]),
)
trials = st.one_of(scored, st.sampled_from([("", "", "unscored"), ("", "", "errored")]))


@st.composite
def pairs_of_runs(draw: st.DrawFn) -> Paired:
    size, before, after = draw(st.integers(0, 12)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    sides = [
        packed([draw(st.lists(trials, min_size=most, max_size=most)) for _ in range(size)], most)
        for most in (before, after)
    ]
    order = draw(st.none() | st.permutations(range(size)))
    return Paired(sides[0], sides[1], None if order is None else list(zip(range(size), order, strict=True)))


@given(pairs_of_runs(), st.data())
@settings(max_examples=60, deadline=None)
def test_strata_together_are_the_whole(paired, data):
    values = [data.draw(st.sampled_from(["easy", "hard", ""])) for _ in range(paired.examples)]
    for row in compared(paired).layers:
        strata = stratum_deltas(paired, values, row.name)
        assert [each.value for each in strata] == [each for each in ("easy", "hard", "") if each in values]
        for figure in ("examples", "left_out", "improved", "worsened"):
            assert sum(getattr(each.delta.compared, figure) for each in strata) == getattr(row.compared, figure)
        assert [each.delta.p_holm for each in strata] == holm([each.delta.compared.p_value for each in strata])


@given(pairs_of_runs())
@settings(max_examples=30, deadline=None)
def test_what_is_kept_reads_back_the_same(paired):
    found = compared(paired)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert [type(cell) for cell in again.matrix.cells] == [type(cell) for cell in found.matrix.cells]


@given(pairs_of_runs())
@settings(max_examples=60, deadline=None)
def test_every_count_is_that_of_the_examples_behind_it(paired):
    found = compared(paired)
    runs: Any = SimpleNamespace(paired=paired)

    def listed(*wanted: str) -> int:
        said: dict[str, Any] = dict(zip(("of", "how", "tool", "expected", "actual"), wanted, strict=False))
        count, places = moved_places(runs, MovedFilter(**said))
        assert len(list(places)) == count
        return count

    for row in found.layers:
        assert row.compared.examples + row.compared.left_out == found.examples
        assert listed(row.name, "fixed") == row.compared.improved
        assert listed(row.name, "broken") == row.compared.worsened
        assert listed(row.name) == row.compared.improved + row.compared.worsened
        assert listed(row.name, "left_out") == row.compared.left_out
        assert listed(row.name, "errored") == row.errored
    for tool in found.tools:
        for kind in ("missed", "wrong"):
            mistakes = getattr(tool, kind)
            assert listed(kind, "fixed", tool.name) == mistakes.fixed
            assert listed(kind, "broken", tool.name) == mistakes.broken
    for cell in found.matrix.cells:
        assert listed("cell", "entered", "", cell.expected, cell.actual) == cell.entered
        assert listed("cell", "left", "", cell.expected, cell.actual) == cell.left
        assert listed("cell", "", "", cell.expected, cell.actual) == cell.moved


@given(pairs_of_runs())
@settings(max_examples=60, deadline=None)
def test_sums_of_cells_and_tools_agree(paired):
    found = compared(paired)
    matrix = found.matrix
    assert matrix.examples + matrix.left_out == found.examples
    for side in ("before", "after"):
        cells = [(cell, getattr(cell, side)) for cell in matrix.cells]
        assert sum(amount for _, amount in cells) == pytest.approx(matrix.examples)
        lost = sum(amount for cell, amount in cells if not cell.right)
        for kind in ("missed", "wrong"):
            assert sum(getattr(getattr(row, kind), side) for row in found.tools) == pytest.approx(lost)
    for cell in matrix.cells:
        assert cell.delta == pytest.approx(cell.after - cell.before)
    if paired.before.trials == paired.after.trials == 1:
        assert all(cell.delta == cell.entered - cell.left for cell in matrix.cells)
        for row in found.tools:
            assert row.missed.before - row.missed.after == row.missed.fixed - row.missed.broken


@given(pairs_of_runs())
@settings(max_examples=30, deadline=None)
def test_a_run_beside_itself_has_not_changed(paired):
    found = compared(Paired(paired.before, paired.before))
    assert all(row.change == "same" and row.compared.difference == 0 for row in found.layers)
    assert not found.matrix.moved
    assert not any(row.moved for row in found.tools)


@given(pairs_of_runs())
@settings(max_examples=200, deadline=None)
def test_examples_that_expect_one_class_are_counted_as_if_one_by_one(paired):
    counted_alike(paired)


def test_rounded_parts_are_counted_as_if_one_by_one():
    """No whole number of parts is divided by 5, 7, 9, 11, 13, 16 and 17 trials alike."""
    outside = ("", "", "unscored")
    tried = [[right("a")] * (many - 2) + [wrong("a", "b")] * 2 + [outside] * (17 - many) for many in PLACED]
    counted_alike(Paired(packed(tried, 17), packed(tried[::-1], 17)))


PLACED = (5, 7, 9, 11, 13, 16, 17)


def counted_alike(paired: Paired) -> None:
    found = weighed(paired)
    tally, plain = tallied(found), Tally()
    for first, second, count in found.rows:
        for _ in range(count):
            plain.add(found.before[first], found.after[second], len(found.names), 1)
    assert dict(tally.cells) == dict(plain.cells)
    assert dict(tally.classes) == dict(plain.classes)
