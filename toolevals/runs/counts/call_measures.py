"""Work out what single calls of a transcript took: the execution of the call, and the model's step that made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from toolevals.grading.values import Call, Measures, Message, Transcript

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
