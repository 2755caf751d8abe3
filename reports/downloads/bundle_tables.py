"""Write the tables of a run that its zip holds: all that its pages offer, whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reports.cases.queries import grading_layers, remark_rows, verdict_counts
from reports.cases.table import REMARKS
from reports.costs.queries import grading_tool_costs
from reports.costs.table import SPENDING
from reports.dialects import table as dialect_tables
from reports.dialects.analysis import Dialects
from reports.dialects.grade_with_dialects import dialects_read
from reports.dialects.queries import dialects_shown, said_rows
from reports.downloads.long_tables import TABLES, TableRequest
from reports.filters.case_filters import Filters
from reports.filters.matrix_cells import matrix_counts, matrix_sums
from reports.gates.page import GATES_CSV, gates_csv
from reports.golds.queries import GOLDS, all_gold_rows
from reports.judges.queries import judges_of
from reports.judges.table import JUDGES
from reports.matrix.analysis import Matrix, matrix_of
from reports.models import DialectReading, HeldGate
from reports.recovery import table as recovery_tables
from reports.recovery.queries import grading_recovery
from reports.reliability import table as reliability_tables
from reports.reliability.analysis import Reliability
from reports.reliability.queries import grading_compounding, grading_reliability
from reports.run import table as tables
from reports.run.analysis import failure_modes, noisy_rows, tag_counts
from reports.run.metrics import metrics_of
from reports.run.overreach import grading_overreach
from reports.run.queries import (
    grading_arguments,
    grading_findings,
    grading_noise,
    grading_proxies,
    read_rows,
    run_readings,
)
from reports.run.recorded import recorded_agreement
from reports.run.tools import tools_of
from toolevals.presentation.csv import Cell
from toolevals.presentation.table import Table
from toolevals.runs.aggregates.cube import View
from toolevals.runs.models import Grading, Rereading
from toolevals.runs.rereading import tables as rereading_tables
from toolevals.workspace.paging import rows_of

Rows = Iterable[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class BundledTable:
    """One table of the zip: what it holds, its columns, and its rows; those of None are not there for a grading."""

    says: str
    columns: Sequence[str]
    rows: Callable[[Grading], Rows | None]


def _of(says: str, table: Table, items: Callable[[Grading], Iterable[Any]]) -> BundledTable:
    return BundledTable(says, table.head, lambda grading: table.rows(items(grading)))


def _matrix(grading: Grading, view: View = View.FIRST) -> Matrix:
    return matrix_of(matrix_counts(grading, Filters(view)), sums=matrix_sums(grading, Filters(view)))


def _reliability(grading: Grading) -> Reliability | None:
    return grading_reliability(grading, grading.run.trials)


def _failures(grading: Grading) -> Rows:
    counts = verdict_counts(grading)
    return tables.failures(tag_counts(counts.get("tag", {})), failure_modes(counts.get("mode", {})))


def _gates(grading: Grading) -> Rows:
    held = HeldGate.objects.in_project(grading.run.project).filter(run=grading.run_id)
    return gates_csv(rows_of(held))


def _rereadings(grading: Grading) -> Rows:
    return rereading_tables.closed_lines(Rereading.objects.filter(grading=grading).order_by("-closed_at", "-id"))


def _long(name: str, says: str) -> BundledTable:
    """Return a table that can be long, without any filter."""
    return BundledTable(says, tuple(TABLES[name].columns), lambda grading: TableRequest(name, grading, {}).rows())


def _said(rows: Callable[[DialectReading], Rows]) -> Callable[[Grading], Rows | None]:
    """Return what yields rows of what other tools say, where that is known."""

    def known(grading: Grading) -> Rows | None:
        reading = dialects_read(grading)
        return rows(reading) if reading is not None and reading.finished_at is not None else None

    return known


def _counted(says: str, table: Table, items: Callable[[Dialects], Iterable[Any]]) -> BundledTable:
    return BundledTable(says, table.head, _said(lambda reading: table.rows(items(dialects_shown(reading)))))


# Name in the zip -> the table. Their columns stand in docs/tables.md.
BUNDLED: Final = {
    "layers.csv": _of(
        "outcome, layers and depths",
        tables.LAYERS,
        lambda grading: noisy_rows(grading_layers(grading), grading_noise(grading)),
    ),
    "metrics.csv": _of("the means of the metrics of whole cases", tables.METRIC_MEANS, metrics_of),
    "recorded.csv": _of(
        "outcomes by recorded rewards", tables.RECORDED, lambda grading: recorded_agreement(grading, "outcome").cells
    ),
    "readings.csv": _of(
        "how the file was read, and what was left out",
        tables.READINGS,
        lambda grading: read_rows(run_readings(grading.run)),
    ),
    "proxies.csv": _of("how well cheaper checks predict the end state", tables.PROXIES, grading_proxies),
    "failures.csv": BundledTable("how often each failure tag and mode occurs", tables.FAILURES, _failures),
    "tools.csv": _of(
        "precision, recall and F1 of each tool", tables.TOOLS, lambda grading: tools_of(_matrix(grading)).rows
    ),
    "matrix.csv": _of("the matrix of first calls", tables.CELLS, lambda grading: _matrix(grading).cells),
    "matrix-aligned.csv": _of(
        "the matrix of aligned calls", tables.CELLS, lambda grading: _matrix(grading, View.ALIGNED).cells
    ),
    "arguments.csv": _of("which parameter is wrong, and how", tables.ARGUMENTS, grading_arguments),
    "spending.csv": _of("what the calls to each tool took", SPENDING, lambda grading: grading_tool_costs(grading).rows),
    "findings.csv": _of(
        "how cases failed, by tool, and what replies say",
        tables.FINDINGS,
        lambda grading: grading_findings(grading, verdict_counts(grading)).rows,
    ),
    "overreach.csv": _of("cells with excess calls", tables.OVERREACH, lambda grading: grading_overreach(grading).rows),
    "cases.csv": _long("cases", "a row a case, with every verdict"),
    "remarks.csv": BundledTable("people’s tags and notes on cases", REMARKS.head, remark_rows),
    "judges.csv": _of("what each judge came to", JUDGES, judges_of),
    "judged.csv": _long("judged", "a row a case and judge"),
    "re-readings.csv": BundledTable(
        "what people said in re-readings, once these are closed", rereading_tables.COLUMNS, _rereadings
    ),
    "state.csv": _long("state", "where the calls left another state"),
    "reliability.csv": _of(
        "pass@k and pass^k",
        reliability_tables.RELIABILITY,
        lambda grading: each.rows if (each := _reliability(grading)) else (),
    ),
    "variance.csv": _of(
        "where the variance of trials is",
        reliability_tables.VARIANCE,
        lambda grading: [(each := _reliability(grading)) and each.variance],
    ),
    "trials.csv": _long("trials", "how each example’s trials came out"),
    "steps.csv": _of(
        "cases by the length of their chain",
        reliability_tables.STEPS,
        lambda grading: each.chains if (each := grading_compounding(grading)) else (),
    ),
    "recovery.csv": _of(
        "what happened after errors, by tool and class",
        recovery_tables.FAILURES,
        lambda grading: grading_recovery(grading).failures,
    ),
    "reactions.csv": _of(
        "what the agent did after errors", recovery_tables.FOLLOWED, lambda grading: grading_recovery(grading).reactions
    ),
    "episodes.csv": _long("episodes", "a row a failure of a tool"),
    "golds.csv": _of(
        "the run under every gold that it was graded against", GOLDS, lambda grading: all_gold_rows(grading.run)
    ),
    "gates.csv": BundledTable("the gates that checked the run", GATES_CSV, _gates),
    "dialects.csv": _counted(
        "what each other tool passes, once the cases are read by their rules",
        dialect_tables.DIALECTS,
        lambda shown: shown.tools,
    ),
    "dialect-pairs.csv": _counted(
        "how far every two evaluators agree", dialect_tables.PAIRS, lambda shown: shown.pairs
    ),
    "dialect-reasons.csv": _counted("why they disagree", dialect_tables.REASONS, dialect_tables.reasons_of),
    "dialect-cases.csv": BundledTable(
        "one row per case and evaluator", dialect_tables.CASES, _said(lambda reading: said_rows(reading, None))
    ),
}
