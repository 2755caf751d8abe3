"""F1, differences, pass^k and kappa are covered as often as said, where coverage came out lowest."""

from statistics import fmean

import pytest

from tests.grading.metrics import coverage
from tests.grading.metrics.coverage import FigureCell, figure_cells
from toolevals.grading.metrics.rates import Interval

# Those that came out lowest of all cells, by figure.
WORST = {
    "F1": ("0.5, 100", "0.5, 50", "0.5, 30"),
    "F1 of trials": ("0.6, 100 x 8, correlation 0.3", "0.6, 50 x 4, correlation 0.3", "0.6, 100 x 2, correlation 0"),
    "difference": ("-0.1 +0, 100", "-0.2 +0, 100", "-0.2 +0, 50", "-0.3 +0.3, 100"),
    "difference of trials": ("0.3 to 0.7 of 0.3, 100 x 4", "0.7 to 0.9 of 1, 100 x 4"),
    "difference with rare breaks": ("0.05 broken, 0.2 moved, 50", "0.05 broken, 0.6 moved, 50"),
    "difference of F1": ("0.5 to 0.8, 100, alike 0.9", "0.5 to 0.8, 100, alike 0", "0.9 to 1, 30, alike 0"),
    "kappa": ("0.6 of 0.5 and 0.5, 300 x 1, alike 0", "0.2 of 0.5 and 0.5, 50 x 4, alike 0.9"),
    "pass^k": ("k = 2, p = 0.97, 50 x 4, correlation 0", "k = 4, p = 0.8, 100 x 4, correlation 0.3"),
}
CELLS = {(cell.figure, cell.name): cell for cell in figure_cells()}


@pytest.mark.parametrize("figure", WORST)
def test_the_worst_cells_are_covered_as_often_as_said(figure):
    found = [CELLS[figure, name].coverage(1000) for name in WORST[figure]]
    assert min(found) >= coverage.LOW
    assert fmean(found) >= coverage.MEAN[0] - 0.02


def test_an_interval_that_is_too_narrow_is_found():
    cell = CELLS["difference", "-0.1 +0, 100"]

    def halved(counts):
        found = cell.interval(counts)
        assert found is not None
        quarter = (found.high - found.low) / 4
        return Interval(found.low + quarter, found.high - quarter)

    assert FigureCell(cell.figure, cell.name, cell.examples, cell.chances, cell.truth, halved).coverage(500) < 0.8


@pytest.mark.parametrize("examples", [2, 10, 300])
def test_no_interval_has_zero_width_where_all_examples_are_alike(examples):
    # Kappa is undefined where all units are alike.
    for figure, name in ((figure, names[0]) for figure, names in WORST.items() if figure != "kappa"):
        cell = CELLS[figure, name]
        found = cell.interval([examples, *[0] * (len(cell.chances) - 1)])
        assert found is not None, figure
        assert found.high - found.low > 0.005, figure
