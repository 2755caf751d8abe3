"""The analyses on values that can be checked by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.cases.analysis import matcher_text, path_text
from reports.matrix.analysis import Order, matrix_of
from reports.run.analysis import WEAK_ARGUMENTS, WEAK_SELECTION, failure_modes, layers_of, sentence
from reports.run.tools import tools_of
from reports.trends.analysis import RunFacts, trend_of
from toolevals.grading.metrics.clustered import ExampleSums
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

CELLS = {
    ("a", "a"): 31,
    ("a", "b"): 9,
    ("b", "b"): 35,
    ("b", "a"): 2,
    ("c", "c"): 60,
    (NONE, NONE): 8,
    (NONE, UNKNOWN_TOOL): 1,
}
NAMES = st.sampled_from(["a", "b", "c", NONE, UNKNOWN_TOOL, UNPARSED])
COUNTS = st.dictionaries(st.tuples(NAMES, NAMES), st.integers(0, 5))


def test_sums_shares_and_intervals_of_a_cell():
    cell = matrix_of(CELLS).cell("a", "b")
    assert (cell.count, cell.row_total, cell.column_total) == (9, 40, 44)
    assert (cell.row_share, cell.column_share) == (9 / 40, 9 / 44)
    rate = cell.rate
    assert rate.low == pytest.approx(0.1185, abs=1e-4)
    assert rate.high == pytest.approx(0.3825, abs=1e-4)


@pytest.mark.parametrize(
    ("order", "tools"),
    [(Order.NAME, ["a", "b", "c"]), (Order.SUPPORT, ["c", "a", "b"]), (Order.ERROR, ["a", "b", "c"])],
)
def test_classes_come_in_order_and_the_special_ones_last(order, tools):
    matrix = matrix_of(CELLS, order)
    assert matrix.columns == (*tools, NONE, UNKNOWN_TOOL)
    assert matrix.rows == (*tools, NONE)


@given(COUNTS, st.sampled_from(list(Order)))
def test_every_sum_is_that_of_what_is_behind_it(counts, order):
    matrix = matrix_of(counts, order)
    assert matrix.total == sum(counts.values())
    assert sum(matrix.row_totals.values()) == sum(matrix.column_totals.values()) == matrix.total
    assert {(cell.expected, cell.actual): cell.count for cell in matrix.cells} == {k: n for k, n in counts.items() if n}
    assert matrix.accuracy.passed + sum(cell.count for cell in matrix.confusions) == matrix.total
    assert [cell.count for cell in matrix.confusions] == sorted((c.count for c in matrix.confusions), reverse=True)


@given(COUNTS, st.sampled_from(list(Order)))
def test_cells_come_row_by_row_and_confusions_by_size(counts, order):
    matrix = matrix_of(counts, order)
    held = [(row, column) for row in matrix.rows for column in matrix.columns if counts.get((row, column))]
    assert list(matrix.cells.keys) == held
    by_size = sorted(
        (cell for cell in matrix.cells if not cell.right),
        key=lambda cell: (-cell.count, cell.row_total, cell.expected, cell.actual),
    )
    assert list(matrix.confusions) == by_size


@given(COUNTS)
def test_leaving_out_untouched_classes_changes_no_sum(counts):
    matrix = matrix_of(counts)
    small = matrix.confused_only()
    assert small.confusions == matrix.confusions
    assert all(small.recall(name) == matrix.recall(name) for name in small.rows)


@given(COUNTS, st.sampled_from(["a", "(none)", "x"]))
def test_classes_that_are_found_keep_their_recall_and_precision(counts, wanted):
    whole = matrix_of(counts)
    found = whole.found(wanted)
    for name in found.rows:
        assert found.recall(name) == whole.recall(name)
    for name in found.columns:
        assert found.precision(name) == whole.precision(name)
    assert all(any(wanted in name for name in (one.expected, one.actual)) for one in found.confusions)


def test_the_worst_tool_comes_first_and_what_nothing_expects_last():
    table = tools_of(matrix_of(CELLS))
    assert [row.name for row in table.rows] == ["a", "b", NONE, "c", UNKNOWN_TOOL]
    assert [row.averaged for row in table.rows] == [True, True, True, True, False]
    first = table.rows[0]
    assert first.instead is not None
    assert (first.instead.actual, first.instead.count) == ("b", 9)
    assert table.rows[3].f1_interval is not None
    assert table.rows[3].f1_interval.low < table.rows[3].f1_interval.high == 1.0


def counted(**columns: tuple[int, ...]) -> dict[str, dict[str, int]]:
    """Return counted verdicts from (passed, failed, unscored, errored) by column."""
    names = ("passed", "failed", "unscored", "errored")
    return {name: dict(zip(names, numbers, strict=False)) for name, numbers in columns.items()}


def test_the_funnel_loses_case_by_case():
    layers = layers_of(counted(outcome=(379, 133, 3, 2), selection=(435, 77, 3, 2), arguments=(341, 56, 118, 2)))
    assert layers.cases == 517
    assert [(step.before, step.after) for step in layers.funnel] == [(512, 435), (435, 379)]
    assert layers.outcome.rate.low == pytest.approx(0.700, abs=5e-4)
    assert layers.outcome.rate.high == pytest.approx(0.776, abs=5e-4)


GOOD, UNCLEAR, WEAK = (1000, 0), (92, 8), (70, 30)
FEW = (0, 18)


@pytest.mark.parametrize(
    ("schema", "selection", "arguments", "modes", "said"),
    [
        (GOOD, GOOD, GOOD, {}, "Formats well, chooses the right tool, and fills in the right values."),
        (
            GOOD,
            WEAK,
            UNCLEAR,
            {"wrong_tool": 20, "missed_call": 10},
            "Formats well, often chooses the wrong tool, and usually fills in the right values.",
        ),
        (
            WEAK,
            WEAK,
            WEAK,
            {"needless_call": 30, "missing_argument": 9},
            "Often violates the tools’ schemas, often calls a tool when none is needed,"
            " and sometimes leaves arguments out.",
        ),
        ((0, 0), GOOD, (0, 0), {}, "Chooses the right tool."),
        (
            GOOD,
            (40, 60),
            WEAK,
            {"missed_call": 51, "wrong_tool": 9, "wrong_value": 10, "missing_argument": 8},
            "Formats well, mostly misses an expected call, and often fills in wrong values or leaves arguments out.",
        ),
        (
            (40, 60),
            WEAK,
            (30, 70),
            {"wrong_tool": 5, "schema_error": 60},
            "Mostly violates the tools’ schemas and sometimes chooses the wrong tool.",
        ),
        (
            GOOD,
            GOOD,
            FEW,
            {"wrong_value": 18},
            "Formats well and chooses the right tool. Not known from so few examples: its arguments.",
        ),
        (FEW, FEW, FEW, {}, "Not known from so few examples: its schema, selection, and arguments."),
        (
            GOOD,
            (99, 1),
            (90, 10),
            {},
            "Formats well, nearly always chooses the right tool, and usually fills in the right values.",
        ),
    ],
)
def test_the_sentence_says_what_the_intervals_carry(schema, selection, arguments, modes, said):
    layers = layers_of(counted(outcome=(50, 50), schema=schema, selection=selection, arguments=arguments))
    assert sentence(layers, failure_modes(modes)) == said


RATES = st.tuples(st.integers(0, 120), st.integers(0, 120)) | st.tuples(st.integers(20, 3000), st.integers(0, 9))
# What a sentence can say of a layer: its praise, and its blame.
CLAUSES = {
    "schema": ("formats well", ["violates the tools’ schemas"]),
    "selection": ("chooses the right tool", [*WEAK_SELECTION.values(), "fails cases at selection"]),
    "arguments": ("fills in the right values", [*WEAK_ARGUMENTS.values(), "fails cases at arguments"]),
}


@given(
    st.fixed_dictionaries(dict.fromkeys(CLAUSES, RATES)),
    st.integers(1, 8),
    st.dictionaries(st.sampled_from([*WEAK_SELECTION, *WEAK_ARGUMENTS]), st.integers(1, 99)),
)
def test_praise_is_carried_by_the_interval_and_blame_never_reaches_the_goal(columns, trials, modes):
    sums = {name: ExampleSums.of({(trials, trials): a, (trials, 0): b}) for name, (a, b) in columns.items()}
    counts = counted(outcome=(50, 50), **{name: (trials * a, trials * b) for name, (a, b) in columns.items()})
    layers = layers_of(counts, sums)
    said = sentence(layers, failure_modes(modes)).casefold()
    for row in layers.rows:
        if row.name not in CLAUSES:
            continue
        praise, blame = CLAUSES[row.name]
        low, high = row.rate.low or 0, row.rate.high or 0
        praised = praise in said
        blamed = any(words.removeprefix("often ") in said for words in blame)
        if praised or (blamed and row.name != "schema"):
            assert row.rate.examples >= 20
        if praised:
            assert high >= row.goal
            assert low > 0.5
            assert low >= row.goal or f"usually {praise}" in said or f"nearly always {praise}" in said
        if blamed and not (row.name == "schema" and "schema_error" in modes):
            assert high < row.goal


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ((0, 0, 5, 5), "No scored cases."),
        ((1, 0), "1 scored example: too few for a conclusion, at least 20 are needed."),
        ((10, 9), "19 scored examples: too few for a conclusion, at least 20 are needed."),
    ],
)
def test_the_sentence_says_when_there_is_too_little(outcome, said):
    assert sentence(layers_of(counted(outcome=outcome)), ()) == said


def test_errors_are_no_failures():
    modes = failure_modes({"wrong_value": 2, "wrong_tool": 5, "adapter_error": 9, "harness_error": 1})
    assert [(each.mode, each.layer, each.count) for each in modes] == [
        ("wrong_tool", "selection", 5),
        ("wrong_value", "arguments", 2),
    ]


def facts(number: int, version: int) -> RunFacts:
    return RunFacts(number, "agent", UUID(int=version), f"core v{version}", datetime(2026, 3, number, tzinfo=UTC))


def test_runs_on_different_versions_are_not_joined():
    one = counted(selection=(8, 2))
    trend = trend_of([(facts(1, 1), one), (facts(2, 1), one), (facts(3, 2), one), (facts(4, 2), counted())])
    (series,) = trend.series
    assert (series.name, [[row.run.number for row in part] for part in series.segments]) == ("selection", [[1, 2], [3]])
    assert len(trend.rows) == 4


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"exact": "A-1"}, '"A-1"'),
        ({"one_of": [1, "x"], "optional": True}, 'one of 1, "x", or absent'),
        ({"range": [1, None]}, "at least 1"),
        ({"range": [None, 4]}, "at most 4"),
        ({"range": [1, 4]}, "1 to 4"),
        ({"key_only": True}, "any value"),
        ({"pattern": "^a"}, "matches ^a"),
        ({"fields": {"a": {"exact": 1}}, "additional_fields": False}, "{a: 1}"),
        ({"items": [{"contains": "x"}]}, '[contains "x"]'),
        ({"absent": True}, "must be absent"),
        ({"natural_language": "polite"}, "in words: polite"),
        ({"has_prefix": "a"}, 'begins with "a"'),
        ({"has_suffix": "a"}, 'ends with "a"'),
    ],
)
def test_matchers_read_as_phrases(document, text):
    assert matcher_text(document) == text


@pytest.mark.parametrize(
    ("pointer", "text"), [("", "arguments"), ("/a", "a"), ("/a/0/b", "a[0].b"), ("/a~1b/~0", "a/b.~"), ("/0", "0")]
)
def test_pointers_read_as_paths(pointer, text):
    assert path_text(pointer) == text
