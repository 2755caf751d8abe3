"""Write the tables of failures that are downloaded: their columns (described in docs/tables.md) and their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from reports.analyses.arguments import KINDS, ArgumentRow
from reports.analyses.findings import Findings
from reports.analyses.modes import FailureMode, TagCount
from reports.analyses.overreach import Overreach, OverreachRow
from toolevals.presentation.csv import Cell

ARGUMENTS: Final = (
    "tool",
    "argument",
    "calls",
    "wrong",
    "wrong_share",
    "wrong_share_low",
    "wrong_share_high",
    *KINDS,
)
OVERREACH: Final = (
    "expected",
    "actual",
    "calls",
    "kind",
    "why",
    "exposed",
    "extra_cost",
    "extra_cost_in_all",
    "extra_tokens",
    "extra_tokens_in_all",
    "extra_money",
    "extra_money_in_all",
)

FINDINGS: Final = (
    "family",
    "kind",
    "tool",
    "cases",
    "count",
    "scored",
    "share",
    "share_low",
    "share_high",
    "meaning",
)
FAILURES: Final = ("kind", "name", "layer", "count", "scored", "meaning", "to_do")


def failures(tags: Iterable[TagCount], modes: Iterable[FailureMode]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each failure tag, then one for each mode that occurs."""
    for tag in tags:
        yield "tag", tag.tag, None, tag.count, tag.words.is_scored, tag.words.meaning, tag.words.to_do
    for mode in modes:
        yield "mode", mode.mode, mode.layer, mode.count, True, mode.meaning, None


def findings(counted_findings: Findings) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each family, kind and tool that was found; of all tools and of all kinds, too."""
    for row in counted_findings.rows:
        share = (None,) * 4 if row.rate is None else (row.rate.total, row.rate.value, row.rate.low, row.rate.high)
        yield (row.family, row.kind, row.tool, row.cases, row.count, *share, row.meaning)


def arguments(rows: Iterable[ArgumentRow]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each parameter that is wrong somewhere."""
    for row in rows:
        wrong = row.wrong
        counts = (row.counts[kind] for kind in KINDS)
        yield (row.tool, row.argument, wrong.total, wrong.passed, wrong.value, wrong.low, wrong.high, *counts)


def overreach(counted_calls: Overreach) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each cell in which there are excess calls, or others to wrong tools whose cost is known."""
    for row in counted_calls.rows:
        costs = (None if cost is None else float(cost) for cost in (row.extra, row.extra_in_all))
        yield (row.expected, row.actual, row.count, row.kind, row.why, " ".join(row.exposed), *costs, *_more(row))


def _more(row: OverreachRow) -> tuple[Cell, ...]:
    return row.extra_tokens, row.tokens_in_all, row.extra_money, row.money_in_all
