"""Define the tables of a comparison; docs/tables.md describes their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from reports.compare.moved import MovedRow
from reports.compare.registry import ToolMoved
from toolevals.presentation.csv import Cell
from toolevals.presentation.table import INTERVAL, Column, Table, beneath, in_answer, in_file, with_interval

_SIZE: Final = (Column("examples", int, "compared.examples"), Column("left_out", int, "compared.left_out"))
_TEST: Final = (
    Column("test", str, "compared.test", optional=True),
    Column("p_value", float, "compared.p_value", optional=True),
    Column("p_holm", float, optional=True),
)
_FIXED: Final = (Column("fixed", int, "compared.improved"), Column("broken", int, "compared.worsened"))
_ROSE: Final = (Column("rose", int, "compared.improved"), Column("fell", int, "compared.worsened"))
_CHANGE: Final = (
    *(Column(name, float, optional=True) for name in ("before", "after", "difference")),
    Column("interval", INTERVAL, optional=True),
)
_CHANGE_CELLS: Final = (
    *((name, name) for name in ("before", "after", "difference")),
    ("difference_low", "interval.low"),
    ("difference_high", "interval.high"),
)
LAYERS: Final = Table(
    "LayerDelta",
    "One rate over the examples that both runs scored. `p_holm` is adjusted over all rows.",
    (
        Column("name"),
        *_SIZE,
        Column("errored", int),
        *with_interval("before", "compared.before", "before_interval", "before_interval"),
        *with_interval("after", "compared.after", "after_interval", "after_interval"),
        *with_interval("difference", "compared.difference", "compared.interval", "interval"),
        *_FIXED,
        *_TEST,
        Column("change", ("better", "worse", "same", "unclear"), only="answer"),
    ),
)
STRATA: Final = Table(
    "StratumDelta",
    "One value of a stratum, empty for the examples without one; `p_holm` is adjusted over its values.",
    (
        Column("stratum"),
        Column("value"),
        Column("change", LAYERS, only="answer"),
        *in_file(beneath("change", LAYERS.columns)),
    ),
)
_FIGURE: Final = Table(
    "DeltaFigure",
    "A figure before and after, with the interval of the difference.",
    _CHANGE,
    tuple((f"_{name}", path) for name, path in _CHANGE_CELLS),
)
_MISTAKES: Final = Table(
    "Mistakes",
    "Examples with a mistake before and after; `p_holm` is adjusted over both kinds of every class.",
    (
        *(Column(name, float) for name in ("before", "after")),
        *(Column(name, int) for name in ("fixed", "broken")),
        *(Column(name, float) for name in ("p_value", "p_holm")),
    ),
    tuple((f"_{name}", name) for name in ("before", "after", "fixed", "broken", "p_value", "p_holm")),
)
TOOLS: Final = Table(
    "ToolDelta",
    "One class; `support` and `predicted` are before and after.",
    (
        Column("tool", str, "name"),
        *(
            Column(f"{name}_{side}", float, f"{name}.{place}", only="file")
            for name in ("support", "predicted")
            for place, side in enumerate(("before", "after"))
        ),
        *(Column(name, float, many="list", only="answer") for name in ("support", "predicted")),
        *(Column(name, _FIGURE, f"figures.{name}") for name in ("precision", "recall", "f1")),
        Column("missed", _MISTAKES),
        Column("wrong", _MISTAKES),
        Column("stands", bool, only="answer"),
    ),
)
TOOL_DELTAS: Final = Table("ToolDeltas", "Every class, what moved most first.", (Column("tools", TOOLS, many="list"),))
_SHARE: Final = Table(
    "ShareDelta",
    "A mean over examples before and after; `interval` is that of the difference.",
    _CHANGE,
    _CHANGE_CELLS,
)
_SIDE: Final = Table(
    "JudgeSide",
    "The judge of one run. `flag` says why its numbers need care; empty where they need none.",
    (Column("judge"), Column("model"), Column("version", int), Column("flag", str, "mark.flag")),
    (("_judge", "judge"), ("_model", "model"), ("_version", "version"), ("_flag", "mark.flag")),
)
JUDGES: Final = Table(
    "JudgeDelta",
    """A rubric that both runs were judged by: the share that passes, and the mean of the values, over `examples`.

    `hidden` examples are left out while people rate them. `p_holm` is adjusted over all rubrics.
    """,
    (
        Column("rubric", str, "after.rubric"),
        Column("before", _SIDE),
        Column("after", _SIDE),
        *_SIZE,
        Column("hidden", int),
        Column("", _SHARE, "compared", only="file"),
        Column("mean_", _SHARE, "values", only="file"),
        Column("passed", _SHARE, "compared", only="answer"),
        Column("mean", _SHARE, "values", only="answer"),
        *_FIXED,
        *_TEST,
    ),
)


def _means(own: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns of a mean in both runs: a file has the row's own first, an answer those of the test."""
    file = in_file((*own, *_SIZE, Column("", _SHARE, "compared"), *_ROSE, *_TEST))
    return *file, *in_answer((*_SIZE, *_TEST, Column("mean", _SHARE, "compared"), *_ROSE, *own))


METRICS: Final = Table(
    "MetricDelta",
    """The mean of a metric of whole cases in both runs, over `examples`; `rose` and `fell` count those that changed.

    `p_holm` is adjusted over all metrics.
    """,
    _means(
        (
            Column("metric", str, "name"),
            Column("version_before", read_only=True),
            Column("version_after", read_only=True),
        )
    ),
)
SPENDING: Final = Table(
    "SpendingDelta",
    """The mean of what a conversation takes in both runs, over the `examples` of which both say it.

    `unit` is that of the means: money in the currency of each run's prices, tokens in and out, milliseconds. `rose` and
    `fell` count the examples that took more and less; `p_holm` is adjusted over all rows.
    """,
    _means((Column("name"), Column("unit"))),
)
PARAMETERS: Final = Table(
    "ParameterDelta",
    """The share of calls to the right tool whose parameter is right, in both runs, paired over `examples`.

    `moved` is `regressed` or `improved` where the change stands; `p_holm` is adjusted over all parameters.
    """,
    (
        *in_file((Column("tool"), Column("argument"), *_SIZE, Column("", _SHARE, "compared"), *_FIXED, *_TEST)),
        *in_answer((*_SIZE, *_TEST, Column("tool"), Column("argument"), Column("right", _SHARE, "compared"), *_FIXED)),
        Column("moved"),
    ),
)
MATRIX: Final = Table(
    "CellDelta",
    "One cell of either matrix.",
    (
        Column("expected"),
        Column("actual"),
        Column("before", float),
        Column("after", float),
        Column("difference", float, "delta"),
        Column("entered", int),
        Column("left", int),
        Column("row_total", float),
    ),
)
MATRIX_DELTA: Final = Table(
    "MatrixDelta",
    "The difference of two matrices, over the examples with a place in both.",
    (
        Column("examples", int),
        Column("left_out", int),
        Column("classes", many="list"),
        Column("cells", MATRIX, many="list"),
    ),
)
CASES: Final[Mapping[str, type]] = {
    "revision_id": UUID,
    "external_id": str,
    "side": str,
    "run": int,
    "case_id": UUID,
    "trial": int,
    "expected": str,
    "actual": str,
    "outcome": str,
    "selection": str,
    "arguments": str,
    "mode": str,
}
REGISTRY: Final = Table(
    "RegistryChange",
    "A description, argument or fact of a tool that the two agents were given otherwise.",
    (
        *(Column(name) for name in ("tool", "kind", "part")),
        *(Column(name, optional=True) for name in ("before", "after")),
    ),
)


def cases(rows: Iterable[MovedRow], numbers: tuple[int, int]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each trial of each example of a list, those of the baseline first."""
    for row in rows:
        for side, number, found in zip(("before", "after"), numbers, (row.before, row.after), strict=True):
            for case in found:
                said = (case.statuses[name] for name in ("outcome", "selection", "arguments"))
                facts = row.revision, row.external_id, side, number, case.id, case.trial
                yield (*facts, case.expected, case.actual, *said, case.mode)


class Worded(NamedTuple):
    """A description, argument or fact of a tool in the words of both agents."""

    tool: str
    kind: str
    part: str
    before: str | None = None
    after: str | None = None


def registry(found: Iterable[ToolMoved]) -> Iterator[Worded]:
    """Yield one row for each description, argument and fact of a tool that was worded otherwise."""
    for each in found:
        change = each.change
        pieces = change.description
        before = "".join(piece.text for piece in pieces if piece.kind != "added")
        after = "".join(piece.text for piece in pieces if piece.kind != "removed")
        if before != after:
            yield Worded(change.name, change.kind, "description", before, after)
        for argument in change.arguments:
            yield Worded(change.name, argument.kind, argument.path, argument.before, argument.after)
        for words in change.beside:
            yield Worded(change.name, change.kind, words)
