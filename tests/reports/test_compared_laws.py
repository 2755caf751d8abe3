"""Test laws of what is told of two runs."""

from __future__ import annotations

import pickle
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.compare.analysis import compared
from reports.compare.layers import stratum_deltas
from reports.compare.moved import MovedFilter, moved_places
from reports.compare.pairing import Held, Paired, Places, Tally, tallied
from tests.reports.paired_runs import packed, right, wrong
from toolevals.grading.metrics.comparison import holm
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL
from toolevals.runs.aggregates.packed_cases import Packed

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
    assert list(again.matrix.cells) == list(found.matrix.cells)
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
def test_examples_are_counted_together_as_if_one_by_one(paired):
    counted_together(paired)


def test_rounded_parts_are_counted_together_as_if_one_by_one():
    """No whole number of parts is divided by 5, 7, 9, 11, 13, 16 and 17 trials alike."""
    outside = ("", "", "unscored")
    tried = [[right("a")] * (many - 2) + [wrong("a", "b")] * 2 + [outside] * (17 - many) for many in PLACED]
    counted_together(Paired(packed(tried, 17), packed(tried[::-1], 17)))


PLACED = (5, 7, 9, 11, 13, 16, 17)


def counted_together(paired: Paired) -> None:
    found = tallied(paired)
    plain = Tally(found.cells, found.part)
    pairs = [(place, place) for place in range(paired.examples)] if paired.pairs is None else paired.pairs
    for one, other in pairs:
        sides = held(paired.before, one, found), held(paired.after, other, found)
        if all(side.cells for side in sides):
            plain.add(*sides, 1)
    for column in ("before", "after", "entered", "left", "classes"):
        assert getattr(found, column) == getattr(plain, column)


def held(run: Packed, example: int, tally: Tally) -> Held:
    """Return what an example holds."""
    numbers = run.places[example * run.trials : (example + 1) * run.trials]
    cells = Counter(run.cells[number - 1] for number in numbers if number)
    return Held.of(Places(cells, cells.total()), tally.cells, tally.part)
