"""Hold a run's examples as comparing asks for them: each part of them is read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Self

from toolevals.runs.counts.outcome_patterns import OutcomePatterns, Outcomes
from toolevals.runs.counts.place_kinds import PlaceKinds


class ComparedRun:
    """A graded run of `trials` an example; its parts are read by functions, once."""

    def __init__(
        self,
        trials: int,
        outcomes: Callable[[], Outcomes],
        kinds: Callable[[], PlaceKinds],
        alike: Callable[[], OutcomePatterns],
    ) -> None:
        self.trials = trials
        self._read = outcomes, kinds, alike

    @classmethod
    def of(cls, alike: OutcomePatterns) -> Self:
        """Return the run of these examples."""
        return cls(alike.trials, lambda: Outcomes.of(alike), lambda: PlaceKinds.of(alike), lambda: alike)

    @cached_property
    def outcomes(self) -> Outcomes:
        """The outcomes of the trials."""
        return self._read[0]()

    @cached_property
    def kinds(self) -> PlaceKinds:
        """The kinds of the examples by their places, and their wrong calls."""
        return self._read[1]()

    @cached_property
    def alike(self) -> OutcomePatterns:
        """The examples with all that is said of them."""
        return self._read[2]()

    @property
    def examples(self) -> int:
        return len(self.outcomes.patterns.numbers)
