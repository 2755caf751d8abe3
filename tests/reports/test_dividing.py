"""Classes divided by a second output: the parts of a class sum to it, and each opens just its own cases."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.cases.queries import listed_cases
from reports.filters.case_filters import STATUSES, CaseFilter, Effect, Filters, Split
from reports.filters.dividing import EFFECT_CLASSES, Classing, divided_by, part_of
from reports.matrix.analysis import Matrix, Order, Part, matrix_of
from reports.matrix.queries import counted_matrix
from reports.matrix.state import MatrixState
from tests.reports.building import Case, cases_of
from tests.reports.reading import csv_rows, embedded
from tests.reports.test_placing import AGAIN, EXAMPLES, furnished
from toolevals.grading.metrics.confusion import SPECIAL
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.aggregates.cube import Unit, View

NAMES = st.sampled_from(["shop.get", "shop.pay", "plain", "a · right", "x + y", r"\+", *SPECIAL])
PARTS = st.dictionaries(
    st.sampled_from(STATUSES), st.dictionaries(st.tuples(NAMES, NAMES), st.integers(1, 50)), min_size=1
)
EFFECTS = {"shop.get": Effect.READ, "shop.pay": Effect.WRITE, "x": Effect.READ}


def summed(counts: dict[tuple[str, str], Any], split: Split) -> Counter[tuple[str, str]]:
    """Return the counts of the wholes."""
    found: Counter[tuple[str, str]] = Counter()
    for (expected, actual), count in counts.items():
        found[expected, part_of(actual, split)[0]] += count
    return found


@given(PARTS)
def test_the_parts_of_a_class_sum_to_it_whatever_tools_are_called(parts):
    counts = Classing((), Split.ARGUMENTS, {}).cells(parts)
    wanted: Counter[tuple[str, str]] = Counter()
    for cells in parts.values():
        wanted.update(cells)
    assert summed(counts, Split.ARGUMENTS) == wanted
    for status, cells in parts.items():
        held = {cell: count for cell, count in cells.items() if cell[1] not in SPECIAL}
        assert {cell: counts[cell[0], divided_by(cell[1], status)] for cell in held} == held


@given(
    st.dictionaries(st.tuples(NAMES, NAMES), st.integers(1, 50)),
    st.sets(st.sampled_from(["*", "shop.", *EFFECT_CLASSES.values()])),
)
def test_effects_divide_and_fold_both_sides_and_keep_every_sum(counts, collapse):
    classing = Classing(tuple(collapse), Split.EFFECT, EFFECTS)
    found = classing.cells({"": counts})
    assert sum(found.values()) == sum(counts.values())
    for side in (0, 1):
        wholes: Counter[str] = Counter()
        shown: Counter[str] = Counter()
        for cell, count in counts.items():
            wholes[classing.class_of(cell[side])] += count
        for cell, count in found.items():
            shown[cell[side]] += count
        assert shown == wholes
    assert {name for cell in found for name in cell if name in SPECIAL} == {
        name for cell in counts for name in cell if name in SPECIAL
    }


@given(PARTS, st.sampled_from(list(Order)))
def test_a_divided_matrix_has_the_rates_of_the_whole_one(parts, order):
    counts = Classing((), Split.ARGUMENTS, {}).cells(parts)
    named = {actual: part_of(actual, Split.ARGUMENTS) for _, actual in counts}
    held = {name: Part(whole, status, STATUSES.index(status)) for name, (whole, status) in named.items() if status}
    whole, divided = matrix_of(summed(counts, Split.ARGUMENTS), order), matrix_of(counts, order, parts=held)
    assert divided.accuracy == whole.accuracy
    assert (divided.rows, divided.row_totals, divided.total) == (whole.rows, whole.row_totals, whole.total)
    assert [divided.recall(name) for name in divided.rows] == [whole.recall(name) for name in whole.rows]
    assert tuple(dict.fromkeys(map(divided.called, divided.columns))) == whole.columns
    for name in whole.columns:
        of_name = [column for column in divided.columns if divided.called(column) == name]
        assert sum(divided.column_totals[column] for column in of_name) == whole.column_totals[name]
        assert sum(divided.precision(column).passed for column in of_name) == whole.precision(name).passed
    wrong = {(cell.expected, cell.actual) for cell in divided.confusions}
    assert wrong == {(cell.expected, cell.actual) for cell in divided.cells if not cell.right}
    assert divided.limited(set(whole.columns)) is divided


@pytest.mark.django_db
@AGAIN
@given(examples=EXAMPLES, unit=st.sampled_from(list(Unit)), view=st.sampled_from(list(View)))
def test_parts_of_a_run_sum_to_its_cells_in_counts_and_costs(viewer, examples, unit, view):
    grading = furnished(viewer, examples)
    whole = read(grading, Filters(view=view, unit=unit))
    divided = read(grading, Filters(view=view, unit=unit, split=Split.ARGUMENTS))
    assert summed(dict(divided.counts), Split.ARGUMENTS) == whole.counts
    costs: dict[tuple[str, str], Any] = {}
    for (expected, actual), cost in divided.costs.items():
        cell = expected, divided.called(actual)
        costs[cell] = costs[cell] + cost if cell in costs else cost
    assert costs == whole.costs
    folded = read(grading, Filters(view=view, unit=unit, split=Split.EFFECT, collapse=("*",)))
    assert folded.total == whole.total
    assert {*folded.columns} <= {*EFFECT_CLASSES.values(), *SPECIAL}


def read(grading: Any, filters: Filters) -> Matrix:
    from reports.matrix.state import Measure

    return counted_matrix(grading, MatrixState(filters, measure=Measure.COST))


@pytest.fixture
def divided(build):
    """Of six that expect `pay` three are paid well, one with a wrong value; of two that expect `get` one is paid."""
    wrong = Case("pay", "pay", wrong_value=True)
    return build.grading([*cases_of({("pay", "pay"): 3, ("pay", NONE): 1, ("get", "get"): 1}), wrong, wrong])


@pytest.mark.django_db
def test_arguments_divide_what_was_called_and_each_part_opens_its_cases(get, divided):
    page = get("matrix", divided, split="arguments")
    shown = page.context["matrix"]
    assert shown.counts == {
        ("pay", "pay · right"): 3,
        ("pay", "pay · wrong"): 2,
        ("pay", NONE): 1,
        ("get", "get · right"): 1,
    }
    assert shown.rows == ("pay", "get")
    assert (shown.accuracy.passed, shown.accuracy.total) == (6, 7)
    assert (shown.recall("pay").passed, shown.recall("pay").total) == (5, 6)
    assert "called tools divided by the verdict on their arguments" in page.content.decode()
    reading = page.context["reading"]
    assert (reading.cell.actual, reading.mode, reading.advice) == ("pay · wrong", "wrong_arguments", None)
    filters = Filters(split=Split.ARGUMENTS)
    for (expected, actual), count in shown.counts.items():
        cases = listed_cases(divided, CaseFilter(filters, expected, actual))
        verdict = part_of(actual, Split.ARGUMENTS)[1]
        assert cases.count() == count == (cases.filter(arguments=verdict).count() if verdict else count)
    column = listed_cases(divided, CaseFilter(filters, "", "pay · wrong"))
    assert {*column.values_list("arguments", flat=True)} == {"failed"}


@pytest.mark.django_db
def test_page_file_and_interface_say_the_same_of_parts(get, divided):
    api = get("api:matrix", divided, split="arguments").json()["cells"]
    rows = csv_rows(get("matrix-csv", divided, split="arguments"))
    names = ("expected", "actual", "called", "arguments")
    assert [tuple(row[name] for name in names) for row in rows] == [tuple(cell[name] for name in names) for cell in api]
    assert ("pay", "pay · wrong", "pay", "failed") in {tuple(cell[name] for name in names) for cell in api}
    whole, parted = (csv_rows(get("tools-csv", divided, split=split)) for split in ("", "arguments"))
    assert parted == whole


@pytest.mark.django_db
def test_a_cell_that_dividing_takes_away_gives_way_to_the_largest(get, divided):
    page = get("matrix", divided, split="arguments", expected="pay", actual="pay")
    assert page.context["reading"].cell.actual == "pay · wrong"


@pytest.mark.django_db
def test_effects_stand_in_blocks_and_fold(get, viewer):
    grading = furnished(viewer, [[Case("shop.get", "shop.pay")] * 3, [Case("crm__find", "plain")] * 3])
    page = get("matrix", grading, split="effect", order="name")
    shown = page.context["matrix"]
    assert shown.columns == ("crm__find · read", "shop.get · read", "shop.pay · write", "plain · unsaid")
    gaps = embedded(page, "matrix-data")["gaps"]
    assert [shown.columns[place] for place in gaps["columns"]] == ["shop.pay · write", "plain · unsaid"]
    # By name the tools of one namespace are a block; in another order nothing divides them.
    by_name = embedded(get("matrix", grading, order="name"), "matrix-data")
    assert [by_name["columns"][place] for place in by_name["gaps"]["columns"]] == ["shop.get"]
    assert embedded(get("matrix", grading, order="support"), "matrix-data")["gaps"] == {"rows": [], "columns": []}
    groups = page.context["groups"].groups
    assert [(group.words, group.tools) for group in groups] == [
        ("(read-only tools)", 2),
        ("(writing tools)", 1),
        ("(tools with unknown effect)", 1),
        ("shop.*", 2),
    ]
    folded = get("matrix", grading, split="effect", collapse="(read-only tools)").context["matrix"]
    assert folded.counts == {
        ("(read-only tools)", "shop.pay · write"): 3,
        ("(read-only tools)", "plain · unsaid"): 3,
    }
    reading = get("cell", grading, split="effect", expected="shop.get · read", actual="shop.pay · write").context
    assert [tool.name for tool in reading["reading"].tools] == ["shop.get", "shop.pay"]


@pytest.mark.django_db
def test_effects_are_offered_where_a_tool_says_its_own(get, viewer, divided):
    assert [split for split, _ in get("matrix", divided).context["splits"]] == [Split.NOTHING, Split.ARGUMENTS]
    grading = furnished(viewer, [[Case("shop.get", "shop.pay")] * 3])
    assert Split.EFFECT in dict(get("matrix", grading).context["splits"])
