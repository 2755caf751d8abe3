"""Work out what calls took: each call's execution and the model's step that made it, then all calls to a tool."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from math import fsum, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

from toolevals.grading.metrics.means import percentile_of_sorted
from toolevals.grading.values import Call, Measures, Message, Transcript
from toolevals.grading.values.canonical import Written, exact
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.runs.aggregates.packed_cases import in_little_order
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Grading, MeasuredCalls, Run, ToolSpending
from toolevals.workspace.bulk import rows_insert

if TYPE_CHECKING:
    from toolevals.runs.grading.graded_case import Graded


# Returns what tokens cost.
Pricing = Callable[[Mapping[str, float]], float]
_NOTHING = Measures()


@dataclass(frozen=True, slots=True)
class CallMeasure:
    """One call under the class of its tool; None is not recorded.

    `execution_ms` is what the tool took. `step_ms` is what the model's step took that made the call, told at the first
    of its calls to the tool only (`begins`), so that a step counts once for each tool. `tokens_in`, `tokens_out`
    and `cost` are the call's share of its step: a step of n calls is shared equally among them, so that all shares
    together are what all steps with calls took.
    """

    tool: str
    execution_ms: float | None = None
    step_ms: float | None = None
    tokens_in: float | None = None
    tokens_out: float | None = None
    cost: float | None = None
    begins: bool = True


def calls_measured(
    transcript: Transcript, class_of: Callable[[Call], str], pricing: Pricing | None = None
) -> Iterator[CallMeasure]:
    """Yield every call of a transcript, in order.

    Where the agent took a single step and no tool answered, what the whole conversation took is that step's. A step's
    cost is its own where it is recorded, else `pricing` of its tokens.
    """
    steps = [message for message in transcript.messages if message.role == "assistant"]
    alone = len(steps) == 1 and not any(message.role == "tool" for message in transcript.messages)
    executions = _executions(transcript)
    for step in steps:
        if step.calls:
            took = _with_whole(step.measures or _NOTHING, transcript) if alone else step.measures or _NOTHING
            yield from _of_step(step, took, class_of, pricing, executions)


def is_measured(transcript: Transcript) -> bool:
    """Return whether a transcript says anything of what it took; else no call of it has a measure."""
    if transcript.usage or transcript.latency_ms is not None:
        return True
    return any(message.measures is not None for message in transcript.messages)


def tools_called(transcript: Transcript, class_of: Callable[[Call], str]) -> Iterator[tuple[str, bool]]:
    """Yield the class of each call's tool, and whether it is the first call to it in its step, in order."""
    for message in transcript.messages:
        if message.role == "assistant" and message.calls:
            seen: set[str] = set()
            for call in message.calls:
                tool = class_of(call)
                yield tool, tool not in seen
                seen.add(tool)


def _of_step(
    step: Message,
    took: Measures,
    class_of: Callable[[Call], str],
    pricing: Pricing | None,
    executions: Mapping[int, float | None],
) -> Iterator[CallMeasure]:
    shared = len(step.calls)
    tokens_in, tokens_out = (_share(took.usage.get(name), shared) for name in ("input_tokens", "output_tokens"))
    cost = _share(_cost(took, pricing), shared)
    seen: set[str] = set()
    for call in step.calls:
        tool = class_of(call)
        begins = tool not in seen
        step_ms = _count(took.latency_ms) if begins else None
        seen.add(tool)
        yield CallMeasure(tool, _count(executions.get(id(call))), step_ms, tokens_in, tokens_out, cost, begins)


def _executions(transcript: Transcript) -> dict[int, float | None]:
    """Return what the execution of each call took, by the call's identity."""
    if not any(message.role == "tool" and message.measures for message in transcript.messages):
        return {}
    return {id(result.call): result.latency_ms for result in transcript.results if result.call is not None}


def _with_whole(own: Measures, transcript: Transcript) -> Measures:
    latency = transcript.latency_ms if own.latency_ms is None else own.latency_ms
    return Measures(latency, own.usage or transcript.usage, own.cost)


def _cost(took: Measures, pricing: Pricing | None) -> float | None:
    if took.cost is not None or pricing is None:
        return took.cost
    known = all(_count(took.usage.get(name)) is not None for name in ("input_tokens", "output_tokens"))
    return pricing(took.usage) if known else None


def _share(value: Any, shared: int) -> float | None:
    number = _count(value)
    return None if number is None else number / shared


def _count(value: Any) -> float | None:
    """Return a finite number from 0, None for anything else: what is stored was said by anyone."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2**53 or not isfinite(value):
        return None
    return float(value)


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
    shares of steps: see `toolevals.runs.aggregates.tool_spending.CallMeasure`.
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

    def to_document(self) -> JsonObject:
        """Return what was measured, as JSON."""
        document = asdict(self)
        return {name: document[name] for name in MEASURES}

    @classmethod
    def from_document(cls, tool: str, calls: int, steps: int, document: JsonMapping) -> Self:
        """Read what `to_document` gave."""
        parts: JsonObject = {name: _timing(document[name]) for name in MEASURES[:2]}
        amounts: JsonObject = {name: _amount(document[name]) for name in MEASURES[2:]}
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
        timings: JsonObject = {name: self._timed(self._numbers[name]) for name in MEASURES[:2]}
        amounts: JsonObject = {name: self._amount(self._numbers[name]) for name in MEASURES[2:]}
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


def _at(document: JsonMapping | None) -> At | None:
    return None if document is None else At(**document)


def _timing(document: JsonMapping) -> Timing:
    return Timing(document["known"], **{name: _at(document[name]) for name in (*SHARES, "most")})


def _amount(document: JsonMapping) -> Amount:
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
