"""Write the time and cost of calls: packed by batch and tool during grading, summed at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from toolevals.grading.values.canonical import Written, exact
from toolevals.runs.counts.call_measures import Pricing, calls_measured, is_measured, tools_called
from toolevals.runs.counts.tool_spending import CallsOfTool, ToolSpent
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Grading, MeasuredCalls, Run, ToolSpending
from toolevals.workspace.bulk import rows_insert

if TYPE_CHECKING:
    from toolevals.runs.grading.graded_case import Graded

MEASURED_COLUMNS: Final = ("grading_id", "start", "tool", "calls", "steps", "cases", "numbers")
_CHUNK: Final = 200


class MeasuredBatch:
    """The calls of one batch, by tool.

    Transcripts of agents that could not be reached, or that nothing is compared with, are outside, as they are of
    everything that is counted by tool.
    """

    def __init__(self, grading: Grading) -> None:
        self._grading = grading
        self._pricing = pricing_of(grading.run)
        self._tools: dict[str, CallsOfTool] = {}

    def add(self, case: Graded) -> None:
        """Take in the calls of a case."""
        if case.transcript is None or case.compiled is None or case.transcript.error is not None:
            return
        class_of = case.compiled.offer.class_of
        if not is_measured(case.transcript):
            for tool, begins in tools_called(case.transcript, class_of):
                self._of(tool).count(begins=begins)
            return
        for measured in calls_measured(case.transcript, class_of, self._pricing):
            self._of(measured.tool).add(measured, case.id)

    def _of(self, tool: str) -> CallsOfTool:
        if (calls := self._tools.get(tool)) is None:
            calls = self._tools[tool] = CallsOfTool()
        return calls

    def rows(self, start: int) -> Iterator[tuple[Any, ...]]:
        """Yield a row for each tool, in the order of MEASURED_COLUMNS."""
        for tool, calls in sorted(self._tools.items()):
            yield self._grading.pk, start, tool, *calls.packed()


def pricing_of(run: Run) -> Pricing | None:
    """Return what tokens cost in a run that was given prices. A baseline agent calls no model."""
    prices = LiveSettings.from_document(run.settings).prices if run.settings and not run.baseline_agent else None
    return prices.cost if prices else None


def tools_spent(grading: Grading) -> list[ToolSpent]:
    """Return what each tool's calls took in a grading whose cases are all there. One tool is in memory at a time."""
    spent = []
    batches = MeasuredCalls.objects.filter(grading=grading).order_by("tool", "start")
    rows = batches.values_list("tool", "calls", "steps", "cases", "numbers").iterator(chunk_size=_CHUNK)
    for tool, found in groupby(rows, key=lambda row: row[0]):
        together = CallsOfTool()
        for _, calls, steps, cases, numbers in found:
            together.extend(calls, steps, bytes(cases), bytes(numbers))
        spent.append(together.spent(tool))
    return spent


def tool_spending_store(grading: Grading, spent: Iterable[ToolSpent]) -> None:
    """Write what each tool's calls took, and drop what was packed by batch. Within the caller's transaction."""
    rows = ((grading.pk, each.tool, each.calls, each.steps, Written(exact(each.to_document()))) for each in spent)
    rows_insert(ToolSpending, ("grading_id", "tool", "calls", "steps", "measured"), rows)
    MeasuredCalls.objects.filter(grading=grading).delete()
