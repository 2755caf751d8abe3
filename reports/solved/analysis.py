"""Work out which agents solve which examples.

A matrix over any number of runs, from the numbers of passed and failed trials.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from uuid import UUID

from reports.rates import Rate, rate


class Show(StrEnum):
    """The examples to list, by how many of the agents that were scored on them solve them."""

    ALL = "all"
    NOBODY = "nobody"
    SOME = "some"
    EVERYBODY = "everybody"

    @property
    def words(self) -> str:
        return {"nobody": "by no agent", "some": "by some agents", "everybody": "by all agents"}.get(self.value, "all")


# Orders of the examples beside that by one agent, which is asked for by its key.
SORTS = {"hardest": "hardest first", "easiest": "easiest first", "split": "agents differ most", "example": "by name"}


@dataclass(frozen=True, slots=True)
class RunTrials:
    """The passed and failed trials of each example in one run, by its place among the examples. Others do not count.

    `held` says of which examples the run has any case.
    """

    number: int
    passed: array[int]
    failed: array[int]
    held: bytearray


@dataclass(frozen=True, slots=True)
class Cell:
    """One agent on one example. It solves it where more of its scored trials passed than failed.

    `run` is the number of the newest run to open: of those that failed a trial, else of those that hold the example.
    """

    passed: int
    failed: int
    run: int | None

    @property
    def scored(self) -> int:
        return self.passed + self.failed

    @property
    def mark(self) -> str:
        """Return what stands in the cell: of one trial a sign, of several how many of the scored ones passed."""
        signs = {"solved": "✓", "unsolved": "✕", "unscored": "–"}
        return f"{self.passed}/{self.scored}" if self.scored > 1 else signs.get(self.status, "")

    @property
    def status(self) -> str:
        """Return solved, unsolved or unscored; "" where no run of the agent holds the example."""
        if self.run is None:
            return ""
        return ("solved" if self.passed > self.failed else "unsolved") if self.scored else "unscored"


@dataclass(frozen=True)
class Agent:
    """A column: an agent with its runs, newest first. `key` is what an address calls it."""

    key: str
    name: str
    detail: str
    runs: tuple[RunTrials, ...]
    agent_id: UUID | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(run.number for run in self.runs)

    @property
    def numbers_said(self) -> str:
        return " ".join(map(str, self.numbers))

    @cached_property
    def passed(self) -> Sequence[int]:
        return _summed([run.passed for run in self.runs])

    @cached_property
    def failed(self) -> Sequence[int]:
        return _summed([run.failed for run in self.runs])

    def cell(self, place: int) -> Cell:
        """Return the agent's cell of the example at a place."""
        held = [run for run in self.runs if run.held[place]]
        opened = next((run for run in held if run.failed[place]), held[0] if held else None)
        return Cell(self.passed[place], self.failed[place], opened.number if opened else None)

    @cached_property
    def rate(self) -> Rate:
        """The share of the examples scored for it that it solves; its unit is the example, whatever its trials."""
        scored = sum(1 for one, other in zip(self.passed, self.failed, strict=True) if one or other)
        solved = sum(1 for one, other in zip(self.passed, self.failed, strict=True) if one > other)
        return rate(solved, scored)


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the matrix: an example by its place, its cells, and how many of the agents scored on it solve it."""

    place: int
    solved: int
    scored: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Solved:
    """The matrix. `examples` are ids and names; `agents` are the columns."""

    examples: Sequence[tuple[UUID, str]]
    agents: tuple[Agent, ...]

    @cached_property
    def columns(self) -> tuple[tuple[str, Agent], ...]:
        """The agents with what their columns are called: the name, and what tells those of one name apart."""
        often = Counter(agent.name for agent in self.agents)
        return tuple(
            (agent.name if often[agent.name] == 1 else f"{agent.name} {agent.detail or agent.numbers[0]}", agent)
            for agent in self.agents
        )

    @property
    def solved(self) -> Sequence[int]:
        """Return how many agents solve each example."""
        return self._counted[0]

    @property
    def scored(self) -> Sequence[int]:
        """Return how many agents have a scored trial of each example."""
        return self._counted[1]

    @cached_property
    def _counted(self) -> tuple[Sequence[int], Sequence[int]]:
        solved, scored = (array("I", bytes(4 * len(self.examples))) for _ in range(2))
        for agent in self.agents:
            for place, (passed, failed) in enumerate(zip(agent.passed, agent.failed, strict=True)):
                if passed or failed:
                    scored[place] += 1
                    if passed > failed:
                        solved[place] += 1
        return solved, scored

    @cached_property
    def counts(self) -> Mapping[Show, int]:
        """Return how many examples each choice of Show lists."""
        return {show: len(self.places(show)) for show in Show}

    def places(self, show: Show) -> list[int]:
        """Return the places of the examples that are listed; of no one and everyone, of those scored at all."""
        if show is Show.ALL:
            return list(range(len(self.examples)))
        tests: dict[Show, Callable[[int, int], bool]] = {
            Show.NOBODY: lambda solved, scored: 0 == solved < scored,
            Show.SOME: lambda solved, scored: 0 < solved < scored,
            Show.EVERYBODY: lambda solved, scored: 0 < solved == scored,
        }
        test = tests[show]
        both = zip(self.solved, self.scored, strict=True)
        return [place for place, (solved, scored) in enumerate(both) if test(solved, scored)]

    def ordered(self, show: Show, sort: str) -> list[int]:
        """Return the places that are listed, in an order of SORTS, or by an agent: what it fails first.

        Examples that no one was scored on come last, ties stand by name.
        """
        agent = next((each for each in self.agents if each.key == sort), None)
        share = [solved / scored if scored else 2.0 for solved, scored in zip(self.solved, self.scored, strict=True)]
        names = [name for _, name in self.examples]

        def key(place: int) -> tuple[float, float, str]:
            if agent is not None:
                passed, failed = agent.passed[place], agent.failed[place]
                return (passed / (passed + failed) if passed + failed else 2.0, share[place], names[place])
            unscored = share[place] > 1
            if sort == "easiest":
                return (1.0 if unscored else 0.0, -share[place], names[place])
            if sort == "split":
                return (2.0 if unscored else abs(share[place] - 0.5), -self.scored[place], names[place])
            return (0.0 if sort == "example" else share[place], 0.0, names[place])

        return sorted(self.places(show), key=key)

    def line(self, place: int) -> Line:
        """Return the row of the example at a place."""
        cells = tuple(agent.cell(place) for agent in self.agents)
        return Line(place, self.solved[place], self.scored[place], cells)


def _summed(rows: Sequence[Iterable[int]]) -> Sequence[int]:
    return list(map(sum, zip(*rows, strict=True))) if len(rows) > 1 else list(rows[0])
