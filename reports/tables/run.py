"""Write the tables that are downloaded: their columns (described in docs/tables.md), and rows from the analyses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from reports.analyses.baseline_agents import BaselineAgentRow
from reports.analyses.layers import Layers
from reports.analyses.matrix import Matrix
from reports.analyses.metrics import MetricRow
from reports.analyses.proxies import ProxyRow
from reports.analyses.readings import read_rows
from reports.analyses.recorded import Agreement
from reports.analyses.tools import ToolTable
from reports.tables.counts import COUNTED, counted
from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.csv import Cell

MATRIX_LONG: Final = (
    "expected",
    "actual",
    "count",
    "row_total",
    "column_total",
    "row_share",
    "row_share_low",
    "row_share_high",
    "column_share",
    "cost",
    "costed",
    "called",
    "arguments",
    "expected_class",
    "expected_value",
)
TOOLS: Final = (
    "tool",
    "support",
    "predicted",
    "correct",
    "precision",
    "precision_low",
    "precision_high",
    "precision_examples",
    "recall",
    "recall_low",
    "recall_high",
    "recall_examples",
    "f1",
    "f1_low",
    "f1_high",
    "most_called_instead",
    "most_called_instead_count",
)
LAYERS: Final = ("name", *COUNTED, "goal", "noise_low", "noise_high")
METRIC_MEANS: Final = (
    "name",
    "version",
    "passes_at",
    "passed",
    "failed",
    "unscored",
    "errored",
    "examples",
    "mean",
    "mean_low",
    "mean_high",
)
READINGS: Final = ("kind", "name", "count", "where", "first", "line", "words")
RECORDED: Final = ("verdict", "status", "reward", "count", "agrees")
PROXIES: Final = (
    "proxy",
    "truth",
    "true_accepts",
    "false_accepts",
    "false_rejects",
    "true_rejects",
    "precision",
    "precision_low",
    "precision_high",
    "recall",
    "recall_low",
    "recall_high",
)
BASELINE_AGENTS: Final = ("baseline_agent", "run", "name", *COUNTED)
STATE: Final = (
    "case_id",
    "transcript_id",
    "revision_id",
    "external_id",
    "trial",
    "kind",
    "record",
    "path",
    "expected",
    "actual",
)
REMARKS: Final = (
    "case_id",
    "transcript_id",
    "revision_id",
    "external_id",
    "trial",
    "remark_id",
    "kind",
    "text",
    "person",
    "created_at",
)
# Column of the file -> where it stands, from a case grade.
CASES: Final = {
    "case_id": "pk",
    "transcript_id": "transcript_id",
    "revision_id": "transcript__entry__revision_id",
    "external_id": "transcript__entry__revision__example__external_id",
    "trial": "transcript__trial",
    "bucket": "bucket",
    "difficulty": "difficulty",
    "expected": "expected",
    "actual": "actual",
    **{name: name for name in VERDICT_NAMES},
    "tag": "tag",
    "mode": "mode",
    "decided_by": "decided_by",
    "injection": "injection",
    "ended": "transcript__ended",
    "answered_by": "transcript__model",
    "tokens_in": "transcript__tokens_in",
    "tokens_out": "transcript__tokens_out",
    "tokens_cached": "transcript__tokens_cached",
    "cost": "transcript__cost",
    "latency_ms": "transcript__latency_ms",
}
# What a case says, from `reports.cases.texts`.
TEXTS: Final = (
    "message",
    "expected_calls",
    "expected_arguments",
    "actual_calls",
    "actual_arguments",
    "reasons",
)


def matrix_long(matrix: Matrix) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each cell that holds something."""
    for cell in matrix.cells:
        rate = cell.rate
        yield (
            cell.expected,
            cell.actual,
            cell.count,
            cell.row_total,
            cell.column_total,
            cell.row_share,
            rate.low,
            rate.high,
            cell.column_share,
            cell.spent,
            cell.costed,
            cell.called,
            cell.arguments,
            cell.expected_class,
            cell.expected_value,
        )


def matrix_wide(matrix: Matrix) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each expected class: its name, then a count for each actual class."""
    for row in matrix.rows:
        yield (row, *(matrix.counts.get((row, column), 0) for column in matrix.columns))


def tools(table: ToolTable) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each class."""
    for row in table.rows:
        yield (
            row.name,
            row.support,
            row.predicted,
            row.correct,
            row.precision.value,
            row.precision.low,
            row.precision.high,
            row.precision.examples,
            row.recall.value,
            row.recall.low,
            row.recall.high,
            row.recall.examples,
            row.f1,
            row.f1_interval.low if row.f1_interval else None,
            row.f1_interval.high if row.f1_interval else None,
            row.instead.actual if row.instead else None,
            row.instead.count if row.instead else None,
        )


def layers(analysis: Layers, noise: LabelNoise) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for the outcome, each layer and each depth; the outcome's with where wrong gold could put it."""
    bounds = noise.bounds(analysis.outcome.rate.value)
    for row in analysis.rows:
        ends = (bounds.low, bounds.high) if bounds and row is analysis.outcome else (None, None)
        yield (row.name, *counted(row), row.goal, *ends)


def baseline_agents(rows: Iterable[BaselineAgentRow]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each baseline agent and rate."""
    for agent in rows:
        for row in agent.layers.rows if agent.layers else ():
            yield (agent.kind, agent.run, row.name, *counted(row))


def metrics(rows: Iterable[MetricRow]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each metric."""
    for row in rows:
        rate = row.rate
        counts = rate.passed, row.failed, row.unscored, row.errored, row.examples
        yield row.name, row.version, row.goal, *counts, rate.value, rate.low, rate.high


def proxies(rows: Iterable[ProxyRow]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each cheaper check, in cases that are graded by it and by the truth."""
    for row in rows:
        counts = row.true_accepts, row.false_accepts, row.false_rejects, row.true_rejects
        rates = ((each.value, each.low, each.high) for each in (row.precision, row.recall))
        yield row.proxy, row.truth, *counts, *(cell for cells in rates for cell in cells)


def readings(analysis: Readings | None) -> Iterator[tuple[Cell, ...]]:
    """Yield one row of READINGS for each format, each kind of loss and each warning of the file of a run."""
    for row in read_rows(analysis):
        yield row.kind, row.name, row.count, row.where, row.first, row.line, row.words


def recorded(agreement: Agreement) -> Iterator[tuple[Cell, ...]]:
    """Yield one row of RECORDED for each verdict and kind of reward, empty ones too."""
    for cell in agreement.cells:
        yield cell.verdict, cell.status, cell.reward, cell.count, cell.agrees
