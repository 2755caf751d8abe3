"""Tell which tools of a dataset need a simulator first: those with the most calls, in gold and in what agents did.

Counted from what is kept of gold and of gradings; no document of an example or a transcript is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Sum

from labeling.coverage.cache import coverage_of
from labeling.coverage.counting import is_tool
from labeling.models import Dataset
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED
from toolevals.runs.aggregates.read_cases import FREE
from toolevals.runs.models import MatrixCount, Run, Simulator
from toolevals.workspace.models import User

# Calls are counted in so many of the dataset's newest graded runs.
RUNS = 10
COLUMNS = ("tool", "expected", "called", "simulated")


@dataclass(frozen=True, slots=True)
class ToolNeed:
    """A tool: examples whose gold calls it, its calls in runs, and whether the simulator answers; None: it may."""

    tool: str
    expected: int
    called: int
    is_simulated: bool | None


@dataclass(frozen=True, slots=True)
class Needs:
    """A dataset's tools, those with the most calls first. `runs` are the numbers of those whose calls are counted.

    `is_counted` is false while a job counts the gold of a large dataset for the first time.
    """

    simulator: Simulator | None
    tools: tuple[ToolNeed, ...]
    runs: tuple[int, ...]
    is_counted: bool = True

    @property
    def expected(self) -> int:
        """Return how often gold calls a tool."""
        return sum(tool.expected for tool in self.tools)

    @property
    def answered(self) -> int:
        """Return how many of those calls the simulator answers for certain."""
        return sum(tool.expected for tool in self.tools if tool.is_simulated)

    @property
    def coverage(self) -> float | None:
        """The share of expected calls that the simulator answers, 0 to 1; None without any."""
        return self.answered / self.expected if self.expected else None

    @property
    def first_missing(self) -> ToolNeed | None:
        """The tool with the most calls that no one simulates."""
        return next((tool for tool in self.tools if tool.is_simulated is False), None)


def needs_of(dataset: Dataset, *, actor: User | None) -> Needs:
    """Count a dataset's tools and say which its simulator answers. A large dataset is counted by a job of `actor`."""
    simulator = Simulator.objects.of_dataset(dataset)
    counts = coverage_of(dataset, actor=actor).counts
    expected = {name: tool.expected for name, tool in counts.tools.items() if is_tool(name)} if counts else {}
    shown = Run.objects.of_people().filter(dataset_version__dataset=dataset, grading__isnull=False).order_by("-number")
    runs = list(shown.values_list("number", "grading_id")[:RUNS])
    called = _called([grading for _, grading in runs if grading])
    tools = [
        ToolNeed(name, expected.get(name, 0), called[name], _answers(simulator, name))
        for name in {*(name for name, count in expected.items() if count), *called}
    ]
    tools.sort(key=lambda tool: (-tool.expected - tool.called, tool.tool))
    return Needs(simulator, tuple(tools), tuple(number for number, _ in runs), counts is not None)


def _called(gradings: list[UUID]) -> Mapping[str, int]:
    """Return the calls of each tool in gradings: in a matrix of aligned pairs every call that counts stands once.

    Next to them are those of examples that expect some call, whichever it is.
    """
    cells = MatrixCount.objects.filter(grading__in=gradings, view__in=("aligned", FREE))
    named = cells.exclude(actual__in=(NONE, UNKNOWN_TOOL, UNPARSED)).order_by()
    return Counter(dict(named.values_list("actual").annotate(calls=Sum("count"))))


def _answers(simulator: Simulator | None, tool: str) -> bool | None:
    if simulator is None:
        return False
    return None if simulator.tools is None else tool in simulator.tools
