"""The margins of the matrix: the same numbers in the table, the chart and the large table, each opening its cases."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from reports.matrix.analysis import matrix_of
from tests.reports.building import cases_of
from tests.reports.reading import csv_rows, embedded, table
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.values.verdicts import NONE

pytestmark = pytest.mark.django_db
CELLS = {("a", "a"): 8, ("a", "b"): 2, ("b", "b"): 5, ("b", NONE): 1, (NONE, NONE): 4, (NONE, "a"): 2}


@pytest.fixture
def grading(build):
    return build.grading(cases_of(CELLS))


def test_chart_and_table_hold_recall_and_precision_with_their_intervals(get, grading):
    page = get("matrix", grading, order="name")
    document = embedded(page, "matrix-data")
    heat, recall, precision = document["chart"]["data"]
    assert heat["type"] == "heatmap"
    assert recall["x"] == pytest.approx([0.8, 5 / 6, 4 / 6])
    assert precision["y"] == pytest.approx([0.8, 5 / 7, 4 / 5])
    interval = clustered_interval(ExampleSums.single(8, 10))
    low, high = interval.low, interval.high
    marks = document["chart"]["themes"]["light"]["traces"][1]["error_x"]
    assert marks["arrayminus"][0] == pytest.approx(0.8 - low, abs=1e-5)
    assert marks["array"][0] == pytest.approx(high - 0.8, abs=1e-5)
    assert (
        "recall 80.0 % (43.1 to 96.5), 8 of 10; fewer than 20 examples: too few for a conclusion"
        in recall["hovertext"][0]
    )
    assert document["margins"]["rows"] == [
        ["10", "80*", "43–97"],
        ["6", "83*", "32–100"],
        ["6", "67*", "22–94"],
    ]
    rows = table(page, "heat")
    assert [cell.split()[0] for cell in rows[-3][1:4]] == ["80*", "71*", "80*"]
    assert rows[-2][1:4] == [row[2] for row in document["margins"]["columns"]]
    assert rows[-1][1:4] == ["10", "7", "5"]


@pytest.mark.parametrize("view", ["first", "aligned", "set"])
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_each_margin_opens_as_many_cases_as_it_counts(get, grading, view, side):
    document = embedded(get("matrix", grading, view=view), "matrix-data")
    of = "expected" if side == "rows" else "actual"
    shown = parse_qs(document["query"])
    for name, (count, *_) in zip(document[side], document["margins"][side], strict=True):
        asked = {key: values[0] for key, values in shown.items()} | {of: name}
        assert len(csv_rows(get("cases-csv", grading, **asked))) == int(count)


def test_margins_are_of_the_whole_matrix_whatever_is_drawn(get, grading):
    found = embedded(get("matrix", grading, find="b", order="name", diagonal="hide"), "matrix-data")
    whole = matrix_of(CELLS)
    assert {name: row[0] for name, row in zip(found["rows"], found["margins"]["rows"], strict=True)} == {
        name: str(whole.row_totals[name]) for name in found["rows"]
    }
