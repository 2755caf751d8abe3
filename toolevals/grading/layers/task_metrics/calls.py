"""Lists the calls of a run, and says which of them failed."""

from __future__ import annotations

from toolevals.grading.layers.recovery import arguments_key, trouble_in
from toolevals.grading.reading.parsing.steps import AgentRun, Step
from toolevals.grading.values import MalformedCall, ToolResult
from toolevals.grading.values.value_classes import value_class


@value_class
class MadeCall:
    """One call of a run. `key` is its arguments in one form: equal arguments have equal keys. An only call has none."""

    name: str
    key: str
    failed: bool


def calls_of(run: AgentRun) -> tuple[MadeCall, ...]:
    """Return every call of a run in order.

    A call failed where it cannot be read, where its result is flagged or is an error by its own words, or where its
    step failed and made no other call.
    """
    has_others = sum([len(step.calls) for step in run.steps]) > 1
    return tuple([call for step in run.steps for call in _of_step(step, has_others=has_others)])


def _of_step(step: Step, *, has_others: bool) -> list[MadeCall]:
    results = {result.call.id: result for result in step.results if result.call is not None and result.call.id}
    in_order = list(step.results)
    alone = len(step.calls) == 1
    made: list[MadeCall] = []
    for place, call in enumerate(step.calls):
        own = in_order[place] if place < len(in_order) else None
        if not isinstance(call, MalformedCall) and call.id in results:
            own = results[call.id]
        failed = isinstance(call, MalformedCall) or _is_error(own) or (alone and step.error is not None)
        made.append(MadeCall(call.name or "", arguments_key(call) if has_others else "", failed))
    return made


def _is_error(result: ToolResult | None) -> bool:
    if result is None:
        return False
    trouble = trouble_in(result.content, is_error=result.is_error)
    return trouble is not None and trouble.is_error
