"""Makes failures of what rules and tools say of a trace: with the same keys as those of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from toolevals.grading.failures import CallMade, Failure, failures_of_conversation
from toolevals.grading.values import MalformedCall, ToolCall
from toolevals.traces.reading.calls import UNPARSED, UsedTool
from toolevals.traces.reading.rules import RuleVerdict, longest_loop, tools_not_offered
from toolevals.traces.reading.summary import clean
from toolevals.traces.reading.traces import TraceReading

# No part of a failure is longer.
MOST_TEXT: Final = 300


def failures_in(trace: TraceReading, used: Sequence[UsedTool], verdicts: Sequence[RuleVerdict]) -> tuple[Failure, ...]:
    """Return what failed in a trace, each failure once."""
    failed = {each.rule for each in verdicts if each.status == "failed"}
    found = failures_of_conversation(
        trace.transcript,
        _calls(used, tools_not_offered(trace, used) if "offered" in failed else set()),
        tools={tool.name: tool for tool in trace.tools},
        failed=failed,
        loop=longest_loop(trace, used)[1] if "loops" in failed else "",
    )
    return tuple(dict.fromkeys(map(_cleaned, found)))


def _calls(used: Sequence[UsedTool], not_offered: set[str]) -> Iterator[CallMade]:
    for each in used:
        arguments = each.arguments if isinstance(each.arguments, dict) else {}
        name = "" if each.tool == UNPARSED else each.tool
        yield CallMade(
            each.call or ToolCall(name, arguments, each.call_id or None),
            is_readable=not isinstance(each.call, MalformedCall) and isinstance(each.arguments, dict | None),
            is_offered=each.tool not in not_offered,
            misfits=each.misfits,
            answer=each.answer,
            is_error=each.is_error,
        )


def _cleaned(failure: Failure) -> Failure:
    return Failure.from_document({name: clean(text, MOST_TEXT) for name, text in failure.to_document().items()})
