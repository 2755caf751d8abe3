"""Define the tables of a run; docs/tables.md describes their columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reports.analyses.matrix import Matrix
from reports.tables.counts import RATED
from toolevals.presentation.csv import Cell
from toolevals.presentation.table import INTERVAL, RATE, Column, Table, beneath, with_interval

CELLS: Final = Table(
    "Cell",
    """One cell that holds something. `called` is `actual`, or the class that `actual` is a part of.

    `arguments` is the verdict on them, where classes are divided by it. `expected_class` is `expected`, or the class
    that `expected` is a part of, and `expected_value` the value in the gold, where classes are divided by it.
    """,
    (
        Column("expected"),
        Column("actual"),
        Column("count", int),
        Column("row_total", int),
        Column("column_total", int),
        Column("row_share", float, optional=True),
        Column("row_share_low", float, "rate.low", optional=True),
        Column("row_share_high", float, "rate.high", optional=True),
        Column("column_share", float, optional=True),
        Column("cost", float, "spent", optional=True),
        Column("costed", int, optional=True),
        *(Column(name) for name in ("called", "arguments", "expected_class", "expected_value")),
    ),
)
MATRIX: Final = Table(
    "Matrix",
    "A confusion matrix. Rows and columns are in the order that was asked for; cells are row by row.",
    (
        Column("total", int),
        Column("accuracy", RATE),
        Column("rows", many="list"),
        Column("columns", many="list"),
        Column("cells", CELLS, many="list"),
    ),
)
INSTEAD: Final = Table(
    "Instead", "The class that was called instead most often.", (Column("actual"), Column("count", int))
)
TOOLS: Final = Table(
    "Tool",
    "One class of the matrix.",
    (
        Column("tool", str, "name"),
        Column("support", int),
        Column("predicted", int),
        Column("correct", int),
        Column("precision", RATE),
        Column("precision_examples", int, "precision.examples", only="file"),
        Column("recall", RATE),
        Column("recall_examples", int, "recall.examples", only="file"),
        *with_interval("f1", "f1", "f1_interval", "f1_interval"),
        Column("most_called_instead", INSTEAD, "instead", optional=True, only="answer"),
        Column("most_called_instead", str, "instead.actual", only="file"),
        Column("most_called_instead_count", int, "instead.count", only="file"),
    ),
)
TOOL_TABLE: Final = Table(
    "ToolTable",
    "The per-tool table, worst F1 first.",
    (
        Column("accuracy", RATE),
        Column("macro_f1", float, optional=True),
        Column("micro_f1", float, optional=True),
        Column("tools", TOOLS, "rows", many="list"),
    ),
)
VERDICTS: Final = Table(
    "VerdictRow",
    "The outcome, a layer or a depth. Unscored and errored are next to the rate.",
    (Column("name"), *RATED, Column("goal", float)),
)
LAYERS: Final = Table(
    "LayerRow",
    "The same of a run; of the outcome, `noise` is where wrong gold could put its rate, else null.",
    (*beneath("row", VERDICTS.columns), Column("noise", INTERVAL, optional=True, read_only=True)),
)
BASELINE_AGENTS: Final = Table(
    "BaselineAgentRate",
    "One rate of a baseline agent.",
    (
        Column("baseline_agent", str, "agent.kind"),
        Column("run", int, "agent.run"),
        Column("name", str, "row.name"),
        *beneath("row", RATED),
    ),
)
METRIC_MEANS: Final = Table(
    "MetricRow",
    "One metric in one grading. The value of `rate` is the mean of the cases' values, which pass from `passes_at`.",
    (
        Column("name"),
        Column("version"),
        Column("passes_at", float, "goal"),
        *RATED[:-1],
        Column("examples", int),
        Column("mean", RATE, "rate", only="file"),
    ),
)
READINGS: Final = Table(
    "ReadRow",
    "A format that was found, a kind of loss with its count, or a warning with its line.",
    (
        Column("kind", ("format", "left out", "warning")),
        Column("name"),
        Column("count", int),
        Column("where", words="A JSON pointer with * for every place in a list."),
        Column("first", words="The JSON pointer of the first loss."),
        Column("line", int, optional=True),
        Column("words"),
    ),
)
RUN_READINGS: Final = Table(
    "RunReadings",
    "The reading of an uploaded run's file; of a run that asked an agent, what was left out of its answers.",
    (Column("rows", READINGS, many="list"),),
)
RECORDED: Final = Table(
    "RecordedCell",
    "The number of cases with one status and one kind of reward; `agrees` is null where the status says neither.",
    (
        *(Column(name) for name in ("verdict", "status", "reward")),
        Column("count", int),
        Column("agrees", bool, optional=True),
    ),
)
AGREEMENT: Final = Table(
    "RecordedAgreement",
    "A verdict by recorded reward: `agreed` of the `scored` cases, of `total` that have a reward.",
    (
        Column("column"),
        *(Column(name, int) for name in ("total", "scored", "agreed")),
        Column("cells", RECORDED, many="list"),
    ),
)
PROXIES: Final = Table(
    "Proxy",
    "One check next to the truth, in the cases that both passed or failed; accepted is what the check passed.",
    (
        Column("proxy"),
        Column("truth"),
        *(Column(name, int) for name in ("true_accepts", "false_accepts", "false_rejects", "true_rejects")),
        Column("precision", RATE),
        Column("recall", RATE),
    ),
)


def matrix_wide(matrix: Matrix) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each expected class: its name, then a count for each actual class."""
    for row in matrix.rows:
        yield (row, *(matrix.counts.get((row, column), 0) for column in matrix.columns))
