"""Write the tables of other evaluators' verdicts: their columns (described in docs/tables.md) and their rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from reports.analyses.dialects import Dialects, PairRow
from reports.dialects.reading import IDS
from reports.tables.counts import COUNTED, counted
from toolevals.presentation.csv import Cell

BESIDE: Final = (
    "both_scored",
    "agree",
    "agreement",
    "agreement_low",
    "agreement_high",
    "kappa",
    "kappa_low",
    "kappa_high",
)
DIALECTS: Final = (
    "tool",
    "package",
    "version",
    "metric",
    "options",
    *COUNTED,
    "mean",
    *BESIDE,
)
PAIRS: Final = ("one", "other", *BESIDE)
REASONS: Final = ("one", "other", "reason", "rule_of", "one_passes", "other_passes", "sentence")
CASES: Final = (*IDS, "tool", "status", "score", "reason", "said")


def dialects(shown: Dialects) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each tool, ours first; what is next to ours is empty there."""
    for tool in shown.tools:
        column = tool.column or {"package": "", "version": "", "metric": "", "options": {}}
        beside = _beside(tool.beside_ours) if tool.beside_ours else (None,) * len(BESIDE)
        yield (
            tool.key,
            column["package"],
            column["version"],
            column["metric"],
            json.dumps(column["options"]) if column["options"] else "",
            *counted(tool),
            tool.mean,
            *beside,
        )


def pairs(shown: Dialects) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for every two tools."""
    for pair in shown.pairs:
        yield (pair.one, pair.other, *_beside(pair))


def reasons(shown: Dialects) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for every two tools and each reason for which they differ."""
    for pair in shown.pairs:
        for row in pair.reasons:
            yield pair.one, pair.other, row.name, row.rule_of, row.one_passes, row.other_passes, row.sentence


def _beside(pair: PairRow) -> tuple[Cell, ...]:
    agreement, kappa = pair.agreement, pair.kappa
    low, high = (kappa.interval.low, kappa.interval.high) if kappa.interval else (None, None)
    return (
        agreement.total,
        agreement.passed,
        agreement.value,
        agreement.low,
        agreement.high,
        kappa.value,
        low,
        high,
    )
