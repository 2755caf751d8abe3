"""Gather what else all cases of a grading tell, in the pass that counts them, so that they are read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from toolevals.runs.counts.packed_cases import Packed, Packing
from toolevals.runs.models import Grading
from toolevals.runs.services.transcript_sums import transcript_sums


class SeenCase(NamedTuple):
    """A case as the counting pass reads it; `statuses` are in the order of VERDICT_NAMES."""

    trial: int
    expected: str
    actual: str
    statuses: tuple[str, ...]
    decided_by: str
    measured: str


class CaseTallies:
    """The cases packed, how many are decided by what, and the measured texts of each example's trials.

    `texts` counts the examples whose trials have the same texts, in the order of the trials. `sums` are those over the
    run's transcripts. `has_several_calls` is known once a case is read.
    """

    has_several_calls = False

    def __init__(self, grading: Grading) -> None:
        self.sums = transcript_sums(grading.run)
        self.decided_by: Counter[str] = Counter()
        self.texts: Counter[tuple[str, ...]] = Counter()
        self._packing = Packing(grading.run.positions, grading.run.trials)
        # One object for each text, as the same come again and again.
        self._known: dict[str, str] = {}

    def add(self, position: int, cases: Sequence[SeenCase]) -> None:
        """Take in the cases of the example at a position of the dataset version."""
        known = self._known
        self.texts[tuple([known.setdefault(case.measured, case.measured) for case in cases])] += 1
        for case in cases:
            self.decided_by[case.decided_by] += 1
            self._packing.add(position, case.trial, case.expected, case.actual, case.statuses)

    def packed(self) -> Packed:
        """Return the cases packed."""
        return self._packing.packed()
