"""Expected classes divided by the value of an argument in the gold: parts sum to wholes, each opens just its cases."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.models import Gold
from reports.cases.queries import listed_cases
from reports.filters.case_filters import CaseFilter, Filters, Split, read_filters
from reports.filters.dividing import ABSENT, MOST_VALUES, OTHER, UNNAMED, Classing, expected_part_of, gold_values
from reports.matrix.analysis import Matrix, Order, Part, matrix_of
from reports.matrix.queries import counted_matrix
from reports.matrix.state import MatrixState, Measure
from reports.matrix.table import drawn
from tests.reports.building import Case
from tests.reports.reading import csv_rows, embedded
from tests.reports.test_placing import AGAIN, EXAMPLES, TOOLS, furnished
from toolevals.grading.metrics.confusion import SPECIAL, collapsed_class
from toolevals.grading.values import Expectation
from toolevals.runs.aggregates.cube import Unit, View
from toolevals.runs.models import CaseGrade, Grading

NAMES = st.sampled_from(["shop.get", "shop.pay", "plain", "a · 1", "x + y", r"\+", *SPECIAL])
VALUES = ("1", '"EUR"', OTHER, ABSENT)
PARTS = st.dictionaries(
    st.sampled_from(VALUES), st.dictionaries(st.tuples(NAMES, NAMES), st.integers(1, 50)), min_size=1
)
FOLDED = st.sets(st.sampled_from(["*", "shop."]))
NAMING = st.frozensets(st.sampled_from(["shop.get", "plain", "x"]))
ASKED = {"split": "value", "split_argument": "/id"}


def whole_of(counts: Any) -> Counter[tuple[str, str]]:
    """Return the counts of the wholes."""
    found: Counter[tuple[str, str]] = Counter()
    for (expected, actual), count in counts.items():
        found[expected_part_of(expected, Split.VALUE)[0], actual] += count
    return found


@given(PARTS, FOLDED, NAMING)
def test_the_parts_of_a_class_sum_to_it_whatever_tools_are_expected(parts, collapse, naming):
    counts = Classing(tuple(collapse), Split.VALUE, {}, naming).cells(parts)
    wanted: Counter[tuple[str, str]] = Counter()
    for cells in parts.values():
        for (expected, actual), count in cells.items():
            wanted[collapsed_class(expected, collapse), collapsed_class(actual, collapse)] += count
    assert whole_of(counts) == wanted
    for expected, actual in counts:
        assert actual in {cell[1] for cell in wanted}
        assert expected in SPECIAL or " · " in expected or not naming & {expected}


@given(PARTS, st.sampled_from(list(Order)), NAMING)
def test_a_divided_matrix_has_the_rates_of_the_whole_one(parts, order, naming):
    counts = Classing((), Split.VALUE, {}, naming).cells(parts)
    named = {expected: expected_part_of(expected, Split.VALUE) for expected, _ in counts}
    held = {name: Part(whole, value, VALUES.index(value)) for name, (whole, value) in named.items() if value}
    whole, divided = matrix_of(whole_of(counts), order), matrix_of(counts, order, row_parts=held)
    assert divided.accuracy == whole.accuracy
    assert (divided.columns, divided.column_totals, divided.total) == (whole.columns, whole.column_totals, whole.total)
    assert [divided.precision(name) for name in divided.columns] == [whole.precision(name) for name in whole.columns]
    assert tuple(dict.fromkeys(map(divided.expected, divided.rows))) == whole.rows
    for name in whole.rows:
        of_name = [row for row in divided.rows if divided.expected(row) == name]
        assert [held[row].place for row in of_name if row in held] == sorted(
            held[row].place for row in of_name if row in held
        )
        assert sum(divided.row_totals[row] for row in of_name) == whole.row_totals[name]
        assert sum(divided.recall(row).passed for row in of_name) == whole.recall(name).passed
        for other in whole.columns:
            assert divided.count_of(name, other) == whole.count_of(name, other)
    wrong = {(cell.expected, cell.actual) for cell in divided.confusions}
    assert wrong == {(cell.expected, cell.actual) for cell in divided.cells if not cell.right}
    assert whole_of({key: divided.counts[key] for key in wrong}) == {
        (cell.expected, cell.actual): cell.count for cell in whole.confusions
    }
    assert divided.limited(set(whole.columns)) is divided
    assert whole_of(divided.confused_only().counts) == whole.confused_only().counts
    assert whole_of(divided.found("shop").counts) == whole.found("shop").counts


def expecting(viewer: Any, examples: list[list[Case]]) -> Grading:
    """Return a grading whose examples expect their first trial's tool with an id of 0 or 1, or with no id."""
    grading = furnished(viewer, examples)
    golds = []
    for entry in grading.dataset_version.entries.select_related("gold"):
        said = entry.gold.expectation
        if said["kind"] == "calls":
            tool = said["alternatives"][0]["ordered"][0]["tool"]
            values = {"id": entry.position % 3} if entry.position % 3 < 2 else {"other": 1}
            entry.gold.expectation = Expectation.single(tool, values).to_document()
            golds.append(entry.gold)
    Gold.objects.bulk_update(golds, ["expectation"])
    return grading


def expected_part(case: CaseGrade, collapse: tuple[str, ...], tools: set[str]) -> str:
    """Return the class of a case by hand: of one call expected, in every view."""
    name = collapsed_class(case.expected, collapse)
    if name not in {collapsed_class(tool, collapse) for tool in tools}:
        return name
    calls = case.transcript.entry.gold.expectation.get("alternatives", [{"ordered": [{"tool": ""}]}])[0]["ordered"]
    said = calls[0].get("arguments", {}).get("id") if calls[0]["tool"] == case.expected else None
    return f"{name} · {said['exact'] if said else ABSENT}"


@pytest.mark.django_db
@AGAIN
@given(
    examples=EXAMPLES,
    unit=st.sampled_from(list(Unit)),
    view=st.sampled_from(list(View)),
    collapse=st.sampled_from(["", "shop.", "*"]),
    trial=st.sampled_from(["", "1"]),
)
def test_parts_of_a_run_are_its_cases_in_page_file_interface_and_lists(
    get, viewer, examples, unit, view, collapse, trial
):
    grading = expecting(viewer, examples)
    asked = {"unit": unit, "view": view, "collapse": collapse, "trial": trial}
    filters = read_filters(asked | ASKED)
    whole, divided = read(grading, read_filters(asked)), read(grading, filters)
    assert whole_of(divided.counts) == whole.counts
    costs: dict[tuple[str, str], Any] = {}
    for (expected, actual), cost in divided.costs.items():
        cell = divided.expected(expected), actual
        costs[cell] = costs[cell] + cost if cell in costs else cost
    assert costs == whole.costs

    query = {name: value for name, value in (asked | ASKED).items() if value}
    api = get("api:matrix", grading, measure="cost", **query).json()
    names = ("expected", "actual", "count", "expected_class", "expected_value", "cost")
    rows = csv_rows(get("matrix-csv", grading, measure="cost", **query))
    assert [[row[name] for name in names] for row in rows] == [
        ["" if cell[name] is None else str(cell[name]) for name in names] for cell in api["cells"]
    ]
    assert {(cell["expected"], cell["actual"]): cell["count"] for cell in api["cells"]} == divided.counts
    page = get("matrix", grading, measure="cost", **query)
    if divided.counts:
        shown = embedded(page, "matrix-data")
        keys = {(shown["rows"][row], shown["columns"][column]) for row, column in shown["cells"]}
        assert keys == set(drawn(divided, MatrixState(filters)).matrix.counts)

    tools = {tool for tool in TOOLS if tool in gold_values(grading, "/id").tools}
    for (expected, actual), number in divided.counts.items():
        cases = listed_cases(grading, CaseFilter(filters, expected, actual))
        assert cases.count() == number
        assert {expected_part(case, filters.collapse, tools) for case in cases} == {expected}
        assert get("cases", grading, expected=expected, actual=actual, **query).context["count"] == number
    for row in divided.rows:
        assert listed_cases(grading, CaseFilter(filters, row, "")).count() == divided.row_totals[row]


def read(grading: Grading, filters: Filters) -> Matrix:
    return counted_matrix(grading, MatrixState(filters, measure=Measure.COST))


@pytest.fixture
def paid(build):
    """Gold of ten currencies: EUR and USD often, the others once; two cases without; `get` never has one."""
    said = ["EUR"] * 4 + ["USD"] * 3 + [f"C{number}" for number in range(8)] + [None, None]
    cases = [Case("pay", "get" if place % 3 == 0 else "pay") for place in range(len(said))]
    grading = build.grading([*cases, Case("get", "pay")])
    for entry, value in zip(grading.dataset_version.entries.order_by("position"), said, strict=False):
        arguments = {"id": 1} if value is None else {"id": 1, "to": {"currency": value}}
        entry.gold.expectation = Expectation.single("pay", arguments).to_document()
        entry.gold.save()
    return grading


@pytest.mark.django_db
def test_the_most_frequent_values_are_parts_and_the_others_one(get, paid):
    page = get("matrix", paid, split="value", split_argument="to.currency", order="name")
    shown = page.context["matrix"]
    values = ['"EUR"', '"USD"', *(f'"C{number}"' for number in range(6))]
    assert len(values) == MOST_VALUES
    assert shown.rows == ("get", *(f"pay · {value}" for value in (*values, OTHER, ABSENT)))
    assert [shown.row_totals[row] for row in shown.rows] == [1, 4, 3, 1, 1, 1, 1, 1, 1, 2, 2]
    assert shown.columns == ("get", "pay")
    assert (shown.recall('pay · "EUR"').passed, shown.recall('pay · "EUR"').total) == (2, 4)
    assert page.context["filters"].split_argument == "/to/currency"
    assert '<span class="mono">/to/currency</span> in the gold' in " ".join(page.content.decode().split())
    # The tool with whose value it is expected is read, and what is tried is said of the whole tools.
    reading = get(
        "cell", paid, **ASKED | {"split_argument": "/to/currency"}, expected='pay · "EUR"', actual="get"
    ).context
    assert [tool.name for tool in reading["reading"].tools] == ["pay", "get"]
    assert (reading["reading"].cell.count, len(reading["reading"].cases)) == (2, 2)
    right = get(
        "cell", paid, split="value", split_argument="/to/currency", expected='pay · "USD"', actual="pay"
    ).context
    assert (right["reading"].mode, right["reading"].advice) == ("", None)
    tools = [csv_rows(get("tools-csv", paid, **query)) for query in ({}, ASKED)]
    assert tools[0] == tools[1]


@pytest.mark.django_db
def test_an_argument_that_no_gold_says_leaves_every_class_whole(get, paid):
    page = get("matrix", paid, split="value", split_argument="/no/such")
    assert page.context["matrix"].counts == get("matrix", paid).context["matrix"].counts
    assert "no call in the gold says" in page.content.decode()
    assert get("matrix", paid, split="value").context["filters"] == Filters()
    assert read_filters({"split": "effect", "split_argument": "/id"}).split_argument == ""


@pytest.mark.django_db
def test_a_part_that_is_none_holds_no_case(paid):
    filters = Filters(split=Split.VALUE, split_argument="/to/currency")
    for name in ('pay · "YEN"', 'get · "EUR"', "pay · "):
        assert not listed_cases(paid, CaseFilter(filters, name, "")).exists()


@pytest.mark.django_db
def test_hostile_values_stay_text_and_apart(get, build):
    values = ["<b>x</b>", "a · b", 'q"\\', "long " * 40 + "1", "long " * 40 + "2", None, 1, "1"]
    grading = build.grading([Case("pay", "get") for _ in values])
    for entry, value in zip(grading.dataset_version.entries.order_by("position"), values, strict=True):
        entry.gold.expectation = Expectation.single("pay", {"id": value}).to_document()
        entry.gold.save()
    page = get("matrix", grading, **ASKED)
    shown = page.context["matrix"]
    assert [shown.row_totals[row] for row in shown.rows] == [1] * len(values)
    assert "<b>x</b>" not in page.content.decode()
    filters = read_filters(ASKED)
    for row in shown.rows:
        case = listed_cases(grading, CaseFilter(filters, row, "get")).get()
        said = values[case.transcript.entry.position]
        part = expected_part_of(row, Split.VALUE)[1]
        assert (
            part.startswith('"long ')
            if "…" in part
            else (type(json.loads(part)), json.loads(part)) == (type(said), said)
        )


MATCHERS = [
    ({"exact": {"a": [5, None]}}, "/x/a/0", "5"),
    ({"exact": {"a": [5, None]}}, "/x/a/1", "null"),
    ({"exact": {"a": [5]}}, "/x/a/7", ABSENT),
    ({"exact": {"a/b~": True}}, "/x/a~1b~0", "true"),
    ({"one_of": ["on", "standby"]}, "/x", '"on"'),
    ({"date_equal": "2026-05-01"}, "/x", '"2026-05-01"'),
    ({"date_equal": {"date": "2026-05-01", "formats": ["DD/MM/YYYY"]}}, "/x", '"2026-05-01"'),
    ({"approximately": {"value": 2.5, "absolute": 1}}, "/x", "2.5"),
    ({"range": [5, 40]}, "/x", UNNAMED),
    ({"key_only": True}, "/x", UNNAMED),
    ({"absent": True}, "/x", ABSENT),
    ({"fields": {"a": {"exact": 1}}}, "/x/a", "1"),
    ({"fields": {"a": {"exact": 1}}}, "/x/b", ABSENT),
    ({"fields": {"a": {"exact": 1}}}, "/x", UNNAMED),
    ({"items": [{"pattern": "a"}, {"exact": "b"}]}, "/x/1", '"b"'),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("matcher", "argument", "value"), MATCHERS)
def test_the_value_that_a_matcher_names(build, matcher, argument, value):
    grading = build.grading([Case("pay", "pay"), Case("pay", "pay")])
    first, second = grading.dataset_version.entries.order_by("position")
    call = {"tool": "pay", "arguments": {"x": matcher}}
    for entry, kinds in (
        (first, {"ordered": [{"tool": "get"}, call]}),
        (second, {"unordered": [{"one_of_calls": [call]}]}),
    ):
        entry.gold.expectation = {"kind": "calls", "alternatives": [kinds]}
        entry.gold.save()
    found = gold_values(grading, argument)
    assert [found.part(place, "pay") for place in (0, 1)] == [value, value]
    assert found.part(0, "get + pay") == value
    assert found.part(0, "get") == ABSENT


@pytest.mark.django_db
def test_values_are_those_of_the_gold_that_the_grading_was_made_by(build):
    """A later version of the dataset, in another order and with another gold, is what the run is graded by again."""
    grading = build.grading([Case("pay", "pay"), Case("pay", "get")])
    later, entries = build.version([Case("pay", "pay"), Case("pay", "get")])
    for entry, own in zip(entries, grading.dataset_version.entries.order_by("-position"), strict=True):
        entry.gold.expectation = Expectation.single("pay", {"id": f"later {own.position}"}).to_document()
        entry.gold.save()
        entry.revision_id = own.revision_id
        entry.save()
    grading.dataset_version = later
    found = gold_values(grading, "/id")
    assert [found.part(place, "pay") for place in (0, 1)] == ['"later 0"', '"later 1"']
