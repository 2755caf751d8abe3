"""Weigh the testimony of independent agents against an example's gold, and the skill of each. Plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Point(NamedTuple):
    """One thing that a case says against the gold: at which place, what the gold has there, what the case says."""

    reason: str
    place: str
    expected: str
    said: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One scored case. `points` are its contradictions of gold, `refused` the gold's calls that failed in it.

    `with_gold`: the case passed. `same_state`: its calls are not the expected ones, and the end state is.
    """

    case: str
    run: int
    with_gold: bool = False
    same_state: bool = False
    points: frozenset[Point] = frozenset()
    refused: tuple[str, ...] = ()


@dataclass(slots=True)
class Voice:
    """Everything that one independent agent does on one example, in all its trials of all its runs.

    `skill` is the share of the other examples on which it sides with the gold, from 0 to 1, both excluded.
    """

    agent: str
    trials: list[Trial] = field(default_factory=list)
    skill: float = 0.5

    def holds(self, count: int) -> bool:
        """Tell whether so many trials are most of them."""
        return 2 * count > len(self.trials)

    @property
    def sides(self) -> bool:
        """Return whether most trials pass, or end where the gold does."""
        return self.holds(sum(trial.with_gold or trial.same_state for trial in self.trials))

    @property
    def points(self) -> set[Point]:
        """Return what most of the trials say against the gold."""
        said = Counter(point for trial in self.trials for point in trial.points)
        return {point for point, count in said.items() if self.holds(count)}


def skilled(voices_by_example: Iterable[Sequence[Voice]]) -> None:
    """Set the skill of every voice on every example, from all its other examples."""
    examples = [*voices_by_example]
    sided: Counter[str] = Counter()
    heard: Counter[str] = Counter()
    for voices in examples:
        for voice in voices:
            sided[voice.agent.casefold()] += voice.sides
            heard[voice.agent.casefold()] += 1
    for voices in examples:
        for voice in voices:
            name = voice.agent.casefold()
            voice.skill = (sided[name] - voice.sides + 1) / (heard[name] - 1 + 2)
