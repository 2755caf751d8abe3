"""Define the tables of a run; docs/tables.md describes their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from reports.matrix.analysis import Matrix
from reports.rates import RATED
from reports.run.analysis import FailureMode, TagCount
from reports.run.findings import KINDS
from toolevals.grading.engine.case_findings import FAMILIES
from toolevals.presentation.csv import Cell
from toolevals.presentation.table import INTERVAL, RATE, Column, Table, beneath, in_file, with_interval

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
    "A confusion matrix. Rows and columns are in the requested order; cells are row by row.",
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


_KINDS: Final = Table(
    "ArgumentCounts",
    "In how many calls an argument is wrong in each way.",
    tuple(Column(kind, int) for kind in KINDS),
)
ARGUMENTS: Final = Table(
    "Argument",
    "One parameter of one tool; `wrong` counts calls to the right tool.",
    (
        Column("tool"),
        Column("argument"),
        Column("counts", _KINDS, only="answer"),
        Column("wrong", RATE, only="answer"),
        Column("calls", int, "wrong.total", only="file"),
        Column("wrong", int, "wrong.passed", only="file"),
        Column("wrong_share", RATE, "wrong", only="file"),
        *in_file(beneath("counts", _KINDS.columns)),
    ),
)
_EXTRA: Final = (
    ("extra_cost", "extra"),
    ("extra_cost_in_all", "extra_in_all"),
    ("extra_tokens", "extra_tokens"),
    ("extra_tokens_in_all", "tokens_in_all"),
    ("extra_money", "extra_money"),
    ("extra_money_in_all", "money_in_all"),
)
OVERREACH: Final = Table(
    "OverreachRow",
    """A cell of the matrix of aligned calls with excess calls, or with others to a wrong tool whose cost is known.

    `extra_cost` is in the specs' cost, relative to the other tools; tokens and money are means of this run's calls.
    """,
    (
        Column("expected"),
        Column("actual"),
        Column("calls", int, "count"),
        Column("kind"),
        Column("why"),
        Column("exposed", many="list", only="answer"),
        Column("exposed", str, "exposed_words", only="file"),
        *(Column(name, float, value, optional=True) for name, value in _EXTRA),
    ),
)
OVERREACH_IN_ALL: Final = Table(
    "Overreach",
    """The cost and the data given away of calls to the wrong tool, without `let_be` calls, made in addition to gold.

    `calls` are excess calls, `wrong_calls` those to other wrong tools; what is extra is of both together.
    """,
    (
        *(Column(name, int) for name in ("calls", "wrong_calls", "let_be", "exposing")),
        Column("extra_cost", float, "extra", optional=True),
        Column("extra_tokens", float, "tokens", optional=True),
        Column("extra_money", float, "money", optional=True),
        Column("rows", OVERREACH, many="list"),
    ),
)
FINDINGS: Final = Table(
    "Finding",
    'The number of findings of a kind about a tool; "" stands for all tools, and for all kinds of a family.',
    (
        Column("family", tuple(FAMILIES)),
        Column("kind"),
        Column("tool"),
        Column("cases", int),
        Column("count", int),
        Column("rate", RATE, optional=True, only="answer"),
        Column("scored", int, "rate.total", only="file"),
        Column("share", RATE, "rate", only="file"),
        Column("meaning"),
    ),
)
FAILURES: Final = ("kind", "name", "layer", "count", "scored", "meaning", "to_do")


def failures(tags: Iterable[TagCount], modes: Iterable[FailureMode]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each failure tag, then one for each mode that occurs."""
    for tag in tags:
        yield "tag", tag.tag, None, tag.count, tag.words.is_scored, tag.words.meaning, tag.words.to_do
    for mode in modes:
        yield "mode", mode.mode, mode.layer, mode.count, True, mode.meaning, None
