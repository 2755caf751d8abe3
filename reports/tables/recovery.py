"""Write the tables of error recovery: their columns (described in docs/tables.md) and their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reports.analyses.recovery import Recovery, Tally
from toolevals.presentation.csv import Cell

TALLY: Final = (
    "episodes",
    "unscored",
    "right",
    "rate",
    "rate_low",
    "rate_high",
    "recovered",
    "bad_answers",
    "errors",
    "identical_retries",
)
RECOVERY: Final = (
    "tool",
    "error_class",
    *TALLY,
    "tool_answers",
)
REACTIONS: Final = (
    "reaction",
    "sentence",
    *TALLY,
)
# Column of the file -> where it stands, from an episode.
EPISODES: Final = {
    "case_id": "case_id",
    "transcript_id": "case__transcript_id",
    "revision_id": "case__transcript__entry__revision_id",
    "external_id": "case__transcript__entry__revision__example__external_id",
    "trial": "case__transcript__trial",
    "number": "number",
    "tool": "tool",
    "error_class": "error_class",
    "reaction": "reaction",
    "score": "score",
    "recovered": "recovered",
    "bad_answers": "failures",
    "errors": "errors",
    "identical_retries": "identical_retries",
}


def recovery(analysis: Recovery) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each tool and class of error that occurred."""
    for row in analysis.tools:
        for error_class, tally in row.cells:
            if tally is not None:
                yield (row.tool, error_class, *_tallied(tally), row.answers)


def reactions(analysis: Recovery) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each reaction that occurred."""
    for row in analysis.reactions:
        yield (row.reaction, row.sentence, *_tallied(row.tally))


def _tallied(tally: Tally) -> tuple[Cell, ...]:
    rate = tally.rate
    counts = tally.recovered, tally.bad_answers, tally.errors, tally.identical_retries
    return (tally.episodes, tally.unscored, tally.right, rate.value, rate.low, rate.high, *counts)
