"""Define the tables of failures; docs/tables.md describes their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from reports.analyses.arguments import KINDS
from reports.analyses.modes import FailureMode, TagCount
from toolevals.grading.engine.case_findings import FAMILIES
from toolevals.presentation.csv import Cell
from toolevals.presentation.table import RATE, Column, Table, beneath, in_file

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
