"""Work out what the calls to each tool took in a whole run, exactly.

Counts, sums and percentiles, each with a case to open.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

from toolevals.grading.metrics.means import percentile_of_sorted
from toolevals.grading.values.canonical import Written, exact
from toolevals.runs.counts.call_measures import CallMeasure, Pricing, calls_measured, is_measured, tools_called
from toolevals.runs.counts.packed_cases import in_little_order
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Grading, MeasuredCalls, Run, ToolSpending
from toolevals.workspace.bulk import rows_insert

if TYPE_CHECKING:
    from toolevals.runs.grading.graded_case import Graded


MEASURES: Final = ("execution_ms", "step_ms", "tokens_in", "tokens_out", "cost")
SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class At:
    """A value, and the case in which a call has it; of a percentile between two calls, the case of the upper one."""

    value: float
    case: str


@dataclass(frozen=True, slots=True)
class Timing:
    """Percentiles in milliseconds over the `known` times that were recorded; None without any.

    A percentile is `toolevals.grading.metrics.means.percentile` of all of them: nothing is sampled or rounded.
    """

    known: int = 0
    p50: At | None = None
    p95: At | None = None
    p99: At | None = None
    most: At | None = None


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum over the `known` calls whose step recorded it, None without any, and the call with the largest share."""

    known: int = 0
    total: float | None = None
    most: At | None = None


@dataclass(frozen=True, slots=True)
class ToolSpent:
    """The cost of the calls to one tool, made in `steps` steps of the model.

    `execution_ms` is over calls, `step_ms` over the model's steps that called the tool, each once. Tokens and cost are
    shares of steps: see `toolevals.runs.counts.call_measures.CallMeasure`.
    """

    tool: str
    calls: int
    steps: int
    execution_ms: Timing
    step_ms: Timing
    tokens_in: Amount
    tokens_out: Amount
    cost: Amount

    @property
    def says_anything(self) -> bool:
        return any(getattr(self, name).known for name in MEASURES)

    def to_document(self) -> dict[str, Any]:
        """Return what was measured, as JSON."""
        document = asdict(self)
        return {name: document[name] for name in MEASURES}

    @classmethod
    def from_document(cls, tool: str, calls: int, steps: int, document: Mapping[str, Any]) -> Self:
        """Read what `to_document` gave."""
        parts: dict[str, Any] = {name: _timing(document[name]) for name in MEASURES[:2]}
        amounts: dict[str, Any] = {name: _amount(document[name]) for name in MEASURES[2:]}
        return cls(tool, calls, steps, **parts, **amounts)


class CallsOfTool:
    """Collects the calls to one tool: how many, and of those with any measure the numbers and the cases."""

    def __init__(self) -> None:
        self.calls = self.steps = 0
        self._cases = bytearray()
        self._numbers = {name: array("d") for name in MEASURES}

    def count(self, *, begins: bool) -> None:
        """Take in a call without a measure; it `begins` a step where it is the step's first call to the tool."""
        self.calls += 1
        self.steps += begins

    def add(self, measured: CallMeasure, case: UUID) -> None:
        """Take in a call."""
        self.count(begins=measured.begins)
        values = [getattr(measured, name) for name in MEASURES]
        if any(value is not None for value in values):
            self._cases += case.bytes
            for name, value in zip(MEASURES, values, strict=True):
                self._numbers[name].append(nan if value is None else value)

    def extend(self, calls: int, steps: int, cases: bytes, numbers: bytes) -> None:
        """Take in what `packed` of another gave."""
        self.calls += calls
        self.steps += steps
        self._cases += cases
        each = len(numbers) // len(MEASURES)
        for place, name in enumerate(MEASURES):
            more = array("d")
            more.frombytes(numbers[place * each : (place + 1) * each])
            self._numbers[name] += in_little_order(more)

    def packed(self) -> tuple[int, int, bytes, bytes]:
        """Return calls, steps, cases (16 bytes each) and numbers (little-endian doubles, measure after measure)."""
        numbers = (in_little_order(array("d", self._numbers[name])).tobytes() for name in MEASURES)
        return self.calls, self.steps, bytes(self._cases), b"".join(numbers)

    def spent(self, tool: str) -> ToolSpent:
        """Return the figures."""
        timings: dict[str, Any] = {name: self._timed(self._numbers[name]) for name in MEASURES[:2]}
        amounts: dict[str, Any] = {name: self._amount(self._numbers[name]) for name in MEASURES[2:]}
        return ToolSpent(tool, self.calls, self.steps, **timings, **amounts)

    def _timed(self, values: array[float]) -> Timing:
        ordered = sorted(value for value in values if not isnan(value))
        if not ordered:
            return Timing()
        percentiles = {name: self._at(values, ordered, share) for name, share in SHARES.items()}
        return Timing(len(ordered), **percentiles, most=self._at(values, ordered, 1))

    def _at(self, values: array[float], ordered: Sequence[float], share: float) -> At:
        value = percentile_of_sorted(ordered, share)
        assert value is not None
        # Interpolation may round to just above the largest of several equal numbers.
        upper = ordered[min(bisect_left(ordered, value), len(ordered) - 1)]
        return At(value, self._case(values.index(upper)))

    def _amount(self, values: array[float]) -> Amount:
        known = [value for value in values if not isnan(value)]
        if not known:
            return Amount()
        most = max(known)
        return Amount(len(known), fsum(known), At(most, self._case(values.index(most))))

    def _case(self, place: int) -> str:
        return str(UUID(bytes=bytes(self._cases[place * _ID_BYTES : (place + 1) * _ID_BYTES])))


def _at(document: Mapping[str, Any] | None) -> At | None:
    return None if document is None else At(**document)


def _timing(document: Mapping[str, Any]) -> Timing:
    return Timing(document["known"], **{name: _at(document[name]) for name in (*SHARES, "most")})


def _amount(document: Mapping[str, Any]) -> Amount:
    return Amount(document["known"], document["total"], _at(document["most"]))


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
