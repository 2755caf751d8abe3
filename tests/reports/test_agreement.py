"""Page, chart, CSV and interface say the same, number for number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.run.views import MOST_TOOLS
from tests.fixtures.draws import draws
from tests.reports.building import Builder, Case, cases_of
from tests.reports.reading import csv_lines, csv_rows, embedded, table, text
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.metrics.confusion import ConfusionMatrix
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED
from toolevals.presentation.numbers import percent
from toolevals.runs.models import Grading
from toolevals.workspace.models import Role, User
from toolevals.workspace.projects.services import member_set, project_create

TOOLS = ["get_order", "get_orders", "refund", "a,b", "=cmd()", "<b>x</b>", 'quo"te', "2024"]
EXPECTED = st.sampled_from([*TOOLS, NONE])
ACTUAL = st.sampled_from([*TOOLS, NONE, UNKNOWN_TOOL, UNPARSED])
MATRICES = st.dictionaries(st.tuples(EXPECTED, ACTUAL), st.integers(1, 4), min_size=1, max_size=12)
SLUGS = count()
AGAIN = draws(15)

pytestmark = pytest.mark.django_db


def graded(viewer: User, cases: Sequence[Case]) -> Grading:
    """Grade cases in a project of their own, so that examples do not meet."""
    project = project_create(actor=None, slug=f"agree-{next(SLUGS)}", name="Agree")
    member_set(project=project, actor=None, user=viewer, role=Role.VIEWER)
    return Builder(project).grading(cases)


def unquoted(text: str) -> str:
    return text.removeprefix("'")


@AGAIN
@given(cells=MATRICES)
def test_the_matrix_is_the_same_everywhere(get, viewer, cells):
    grading = graded(viewer, cases_of(cells))
    api = get("api:matrix", grading, order="name").json()
    in_api = {(cell["expected"], cell["actual"]): cell["count"] for cell in api["cells"]}
    assert in_api == cells

    long = csv_rows(get("matrix-csv", grading, order="name"))
    in_long = {(unquoted(row["expected"]), unquoted(row["actual"])): int(row["count"]) for row in long}
    assert in_long == cells
    for row, cell in zip(long, api["cells"], strict=True):
        for name in ("row_share", "row_share_low", "row_share_high", "column_share"):
            assert float(row[name]) == cell[name]
        assert (int(row["row_total"]), int(row["column_total"])) == (cell["row_total"], cell["column_total"])

    head, *wide = csv_lines(get("matrix-csv", grading, order="name", form="wide"))
    assert [unquoted(name) for name in head[1:]] == api["columns"]
    in_wide = {
        (unquoted(line[0]), column): int(text)
        for line in wide
        for column, text in zip(api["columns"], line[1:], strict=True)
        if text != "0"
    }
    assert in_wide == cells

    page = get("matrix", grading, order="name")
    chart = embedded(page, "matrix-data")
    in_chart = {
        (chart["rows"][y], chart["columns"][x]): int(text)
        for (y, x), text in zip(chart["cells"], chart["text"], strict=True)
    }
    assert in_chart == cells
    assert in_table(page, chart) == cells


def in_table(page: Any, chart: Any) -> dict[tuple[str, str], int]:
    """Return the counts of the page's table, read cell by cell."""
    body = table(page, "heat")[1 : len(chart["rows"]) + 1]
    found = {}
    for expected, row in zip(chart["rows"], body, strict=True):
        for actual, words in zip(chart["columns"], row[1 : len(chart["columns"]) + 1], strict=True):
            if words:
                found[expected, actual] = int(words.split(" ")[0])
    return found


@AGAIN
@given(cells=MATRICES)
def test_the_tools_are_the_same_everywhere(get, viewer, cells):
    grading = graded(viewer, cases_of(cells))
    api = get("api:tools", grading).json()
    metrics = ConfusionMatrix(cells)
    assert (api["macro_f1"], api["micro_f1"]) == (metrics.macro_f1, metrics.micro_f1)
    assert api["accuracy"]["value"] == metrics.accuracy
    by_name = {each.name: each for each in metrics.per_class}

    rows = csv_rows(get("tools-csv", grading))
    _, *lines = table(get("run", grading), "tools")
    # The page shows the worst; the file and the answer hold all.
    assert len(lines) == min(len(api["tools"]), MOST_TOOLS)
    shown = {line[0]: line for line in lines}
    for row, tool in zip(rows, api["tools"], strict=True):
        each = by_name[tool["tool"]]
        assert unquoted(row["tool"]) == tool["tool"]
        for name in ("support", "predicted", "correct"):
            assert int(row[name]) == tool[name] == getattr(each, name)
        for name, passed, total in (
            ("precision", each.correct, each.predicted),
            ("recall", each.correct, each.support),
        ):
            assert tool[name]["value"] == getattr(each, name)
            assert row[name] == ("" if not total else repr(tool[name]["value"]))
            if total:
                interval = clustered_interval(ExampleSums.single(passed, total))
                assert (tool[name]["low"], tool[name]["high"]) == (interval.low, interval.high)
                assert (float(row[f"{name}_low"]), float(row[f"{name}_high"])) == (interval.low, interval.high)
        assert tool["f1"] == each.f1
        assert float(row["f1"]) == each.f1
        assert float(row["f1_low"]) == tool["f1_interval"]["low"] <= each.f1 <= tool["f1_interval"]["high"]
        if line := shown.pop(tool["tool"], None):
            assert line[2].removesuffix("*") == percent(each.precision)
            assert line[4].removesuffix("*") == percent(each.recall)
    assert shown == {}


CASES = st.builds(
    Case,
    EXPECTED,
    ACTUAL,
    status=st.sampled_from(["scored", "scored", "unscored", "errored"]),
    wrong_value=st.booleans(),
)


@AGAIN
@given(cases=st.lists(CASES, min_size=1, max_size=25))
def test_the_layers_are_the_same_everywhere_and_lose_what_they_say(get, viewer, cases):
    grading = graded(viewer, cases)
    api = get("api:layers", grading).json()
    rows = csv_rows(get("layers-csv", grading))
    assert api["cases"] == len(cases)
    for row, layer in zip(rows, api["layers"], strict=True):
        rate = layer["rate"]
        counted = [rate["passed"], layer["failed"], layer["unscored"], layer["errored"]]
        assert sum(counted) == len(cases)
        assert [int(row[name]) for name in ("passed", "failed", "unscored", "errored")] == counted
        assert row["rate"] == ("" if rate["value"] is None else repr(rate["value"]))
    outcome, selection, arguments, *_ = api["layers"]
    assert outcome["rate"]["total"] - selection["failed"] - arguments["failed"] == outcome["rate"]["passed"]
    assert sum(mode["count"] for mode in api["failure_modes"]) == outcome["failed"]


@AGAIN
@given(cases=st.lists(CASES, min_size=1, max_size=25))
def test_every_case_is_in_the_file_of_cases(get, viewer, cases):
    grading = graded(viewer, cases)
    rows = csv_rows(get("cases-csv", grading))
    assert sorted(row["external_id"] for row in rows) == sorted(f"ex-{place}" for place in range(len(cases)))
    by_id = {row["external_id"]: row for row in rows}
    for place, case in enumerate(cases):
        row = by_id[f"ex-{place}"]
        assert {name: row[name] for name in case.verdicts} == case.verdicts
        assert row["mode"] == case.mode
        wanted = (case.expected, case.actual) if case.status == "scored" else ("", "")
        assert (unquoted(row["expected"]), unquoted(row["actual"])) == wanted


@AGAIN
@given(cells=MATRICES)
def test_every_cell_leads_to_as_many_cases_as_it_says(get, viewer, cells):
    grading = graded(viewer, cases_of(cells))
    for (expected, actual), number in cells.items():
        rows = csv_rows(get("cases-csv", grading, expected=expected, actual=actual))
        assert len(rows) == number
    page = get("matrix", grading)
    links = [part.split('"', 1)[0] for part in text(page).split('<a href="?')[1:]]
    asked = [parse_qs(link.replace("&amp;", "&")) for link in links if "expected" in link]
    assert {(each["expected"][0], each["actual"][0]) for each in asked} == set(cells)
