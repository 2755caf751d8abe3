"""Write the tables of a comparison that are downloaded: their columns (described in docs/tables.md) and their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from reports.analyses.compared import LayerDelta, RunComparison
from reports.analyses.compared.judges import JudgeDelta
from reports.analyses.compared.metrics import MetricDelta
from reports.analyses.compared.parameters import ParameterDelta
from reports.analyses.compared.spending import SpendingDelta
from reports.analyses.compared.strata import StratumDelta
from reports.comparison.moved import MovedRow
from reports.comparison.registry import ToolMoved
from toolevals.grading.metrics.comparison import Comparison, PairedFigure
from toolevals.grading.metrics.rates import Interval
from toolevals.presentation.csv import Cell

LAYERS: Final = (
    "name",
    "examples",
    "left_out",
    "errored",
    "before",
    "before_low",
    "before_high",
    "after",
    "after_low",
    "after_high",
    "difference",
    "difference_low",
    "difference_high",
    "fixed",
    "broken",
    "test",
    "p_value",
    "p_holm",
)
FIGURES: Final = ("precision", "recall", "f1")
FIGURE: Final = ("before", "after", "difference", "difference_low", "difference_high")
MISTAKES: Final = ("missed", "wrong")
MISTAKE: Final = ("before", "after", "fixed", "broken", "p_value", "p_holm")
TOOLS: Final = (
    "tool",
    "support_before",
    "support_after",
    "predicted_before",
    "predicted_after",
    *(f"{name}_{part}" for name in FIGURES for part in FIGURE),
    *(f"{name}_{part}" for name in MISTAKES for part in MISTAKE),
)
STRATA: Final = ("stratum", "value", *LAYERS)
_MEANS: Final = ("examples", "left_out", "before", "after", "difference", "difference_low", "difference_high")
_TEST: Final = ("test", "p_value", "p_holm")
JUDGES: Final = (
    "rubric",
    *(f"{side}_{what}" for side in ("before", "after") for what in ("judge", "model", "version", "flag")),
    "examples",
    "left_out",
    "hidden",
    "before",
    "after",
    "difference",
    "difference_low",
    "difference_high",
    "mean_before",
    "mean_after",
    "mean_difference",
    "mean_difference_low",
    "mean_difference_high",
    "fixed",
    "broken",
    "test",
    "p_value",
    "p_holm",
)
METRICS: Final = ("metric", "version_before", "version_after", *_MEANS, "rose", "fell", *_TEST)
PARAMETERS: Final = ("tool", "argument", *_MEANS, "fixed", "broken", *_TEST, "moved")
SPENDING: Final = ("name", "unit", *_MEANS, "rose", "fell", *_TEST)
MATRIX: Final = ("expected", "actual", "before", "after", "difference", "entered", "left", "row_total")
CASES: Final = (
    "revision_id",
    "external_id",
    "side",
    "run",
    "case_id",
    "trial",
    "expected",
    "actual",
    "outcome",
    "selection",
    "arguments",
    "mode",
)
REGISTRY: Final = ("tool", "kind", "part", "before", "after")


def layers(comparison: RunComparison) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for the outcome, each layer and each depth that both runs scored."""
    return map(_layer, comparison.layers)


def strata(name: str, rows: Iterable[StratumDelta]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each value of a stratum, in one rate."""
    for row in rows:
        yield name, row.value, *_layer(row.delta)


def judges(rows: Iterable[JudgeDelta]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each rubric that judges of both runs judged by."""
    for row in rows:
        each, values = row.compared, row.values
        seats = ((seat.judge, seat.model, seat.version, seat.mark.flag) for seat in (row.before, row.after))
        yield (
            row.after.rubric,
            *(said for seat in seats for said in seat),
            each.examples,
            each.left_out,
            row.hidden,
            each.before,
            each.after,
            each.difference,
            *_span(each.interval),
            values.before,
            values.after,
            values.difference,
            *_span(values.interval),
            *_test(each, row.p_holm),
        )


def metrics(rows: Iterable[MetricDelta]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each metric of whole cases that both runs scored."""
    return ((row.name, *row.versions, *_means(row)) for row in rows)


def parameters(rows: Iterable[ParameterDelta]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each parameter that is wrong somewhere in either run."""
    return ((row.tool, row.argument, *_means(row), row.moved) for row in rows)


def spending(rows: Iterable[SpendingDelta]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for money, tokens and time, as far as both runs say what conversations take."""
    return ((row.name, row.unit, *_means(row)) for row in rows)


def _means(row: MetricDelta | ParameterDelta | SpendingDelta) -> tuple[Cell, ...]:
    each = row.compared
    means = each.before, each.after, each.difference, *_span(each.interval)
    return each.examples, each.left_out, *means, *_test(each, row.p_holm)


def _layer(row: LayerDelta) -> tuple[Cell, ...]:
    each = row.compared
    return (
        row.name,
        each.examples,
        each.left_out,
        row.errored,
        each.before,
        *_span(row.before_interval),
        each.after,
        *_span(row.after_interval),
        each.difference,
        *_span(each.interval),
        *_test(each, row.p_holm),
    )


def tools(found: RunComparison) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each class."""
    for row in found.tools:
        figures = (figure for name in FIGURES for figure in _figure(getattr(row.figures, name)))
        mistakes = (getattr(getattr(row, name), part) for name in MISTAKES for part in MISTAKE)
        yield (row.name, *row.support, *row.predicted, *figures, *mistakes)


def matrix(comparison: RunComparison) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each cell of either matrix."""
    for cell in comparison.matrix.cells:
        amounts = cell.before, cell.after, cell.delta
        yield cell.expected, cell.actual, *amounts, cell.entered, cell.left, cell.row_total


def cases(rows: Iterable[MovedRow], numbers: tuple[int, int]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each trial of each example of a list, those of the baseline first."""
    for row in rows:
        for side, number, found in zip(("before", "after"), numbers, (row.before, row.after), strict=True):
            for case in found:
                said = (case.statuses[name] for name in ("outcome", "selection", "arguments"))
                facts = row.revision, row.external_id, side, number, case.id, case.trial
                yield (*facts, case.expected, case.actual, *said, case.mode)


def registry(found: Iterable[ToolMoved]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each description, argument and fact of a tool that was worded otherwise."""
    for each in found:
        change = each.change
        pieces = change.description
        before = "".join(piece.text for piece in pieces if piece.kind != "added")
        after = "".join(piece.text for piece in pieces if piece.kind != "removed")
        if before != after:
            yield change.name, change.kind, "description", before, after
        for argument in change.arguments:
            yield change.name, argument.kind, argument.path, argument.before, argument.after
        for words in change.beside:
            yield change.name, change.kind, words, None, None


def _test(compared: Comparison, p_holm: float | None) -> tuple[Cell, ...]:
    return compared.improved, compared.worsened, compared.test, compared.p_value, p_holm


def _figure(figure: PairedFigure) -> tuple[Cell, ...]:
    return figure.before, figure.after, figure.difference, *_span(figure.interval)


def _span(interval: Interval | None) -> tuple[Cell, Cell]:
    return (None, None) if interval is None else (interval.low, interval.high)
