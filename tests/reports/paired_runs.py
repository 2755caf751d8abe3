"""Makes two runs of a few trials, given as what was expected, what was called and how it came out."""

from __future__ import annotations

from collections.abc import Sequence

from reports.compare.pairing import Paired
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.aggregates.packed_cases import Packed

Trial = tuple[str, str, str]


def packed(examples: Sequence[Sequence[Trial]], trials: int) -> Packed:
    """Return a run: of each trial what was expected, what was called, and the status of the outcome."""
    rows = []
    for position, tried in enumerate(examples):
        for trial, (expected, actual, outcome) in enumerate(tried):
            selection = "unscored" if not expected else "passed" if expected == actual else "failed"
            rest = ["unscored"] * (len(VERDICT_NAMES) - 2)
            rows.append((position, trial, expected, actual, outcome, selection, *rest))
    return Packed.of_cases(range(len(examples)), trials, rows)


def right(name: str) -> Trial:
    return name, name, "passed"


def wrong(name: str, called: str) -> Trial:
    return name, called, "failed"


def beside(pairs: Sequence[tuple[Trial, Trial]]) -> Paired:
    """Return two runs of one trial each, an example a pair."""
    return Paired(packed([[before] for before, _ in pairs], 1), packed([[after] for _, after in pairs], 1))
