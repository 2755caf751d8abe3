"""Finds the failures of a graded case, and the calls in a transcript that a tool answered with an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from toolevals.grading.engine.case_findings import argument_faults
from toolevals.grading.failures.failure import LONGEST_NAME, TOOL, Failure
from toolevals.grading.failures.masking import masked
from toolevals.grading.layers.troubles import trouble_in
from toolevals.grading.values import Call, ToolCall, Transcript
from toolevals.grading.values.call_results import Answered, events_of
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED, CaseGrade, Pair
from toolevals.json_types import JsonMapping, JsonValue

_FAULT_MODES: Final[Mapping[str, str]] = {
    "changed": "wrong_value",
    "missing": "missing_argument",
    "extra": "extra_argument",
    "invalid": "schema_error",
}
# So deep are the values of a call's arguments looked for in an error's text.
_DEEPEST: Final = 6


def failures_of(grade: CaseGrade, transcript: Transcript | None = None) -> tuple[Failure, ...]:
    """Return what failed in a case, each failure once: why it failed, what was wrong after calls, errors of tools.

    Calls that are not as expected are failures only where the case failed: something else may decide it. The state that
    calls left, and facts that an answer lacks, follow from wrong calls: they are failures of their own where tools and
    arguments are right. A case that errored has none: it says nothing of the
    agent.
    """
    if grade.statuses.get("outcome") == "errored":
        return ()
    found = [*_beside(grade, transcript)]
    if grade.statuses.get("outcome") == "failed":
        calls = transcript.calls if transcript is not None else ()
        found = [*_of_calls(grade, calls), *found]
        if grade.mode == "cut_off" or not found:
            found.append(Failure("outcome", grade.mode or "failed"))
    if transcript is not None:
        found += failed_calls(transcript)
    return tuple(dict.fromkeys(found))


def _of_calls(grade: CaseGrade, calls: Sequence[Call]) -> Iterator[Failure]:
    statuses = grade.statuses
    if statuses.get("selection") == "failed":
        yield from _selection(grade, calls)
    elif statuses.get("arguments") == "failed":
        yield from _arguments(grade, calls)
    else:
        if statuses.get("answer") == "failed":
            yield Failure("answer", "missing_fact")
        if statuses.get("execution") == "failed":
            yield Failure("execution", "wrong_state")


def _beside(grade: CaseGrade, transcript: Transcript | None) -> Iterator[Failure]:
    if grade.statuses.get("result_use") == "failed":
        yield from result_use_failures(grade.detail("result_use"))
    if grade.statuses.get("recovery") == "failed":
        yield from recovery_failures(grade.detail("recovery"), transcript)


def failed_calls(transcript: Transcript) -> tuple[Failure, ...]:
    """Return the errors that tools answered with, one for each such answer, in order."""
    return tuple(failure for _, failure in answers_failed(transcript))


def answers_failed(transcript: Transcript) -> Iterator[tuple[Answered, Failure]]:
    """Yield each answer that is an error, with the failure."""
    for event in events_of(transcript):
        if isinstance(event, Answered):
            failure = tool_error(event.made.call, event.message.content or "", is_error=event.message.is_error)
            if failure is not None:
                yield event, failure


def tool_error(call: Call, content: str, *, is_error: bool = False) -> Failure | None:
    """Return the failure where a tool's answer to a call is an error; `is_error` says that it is flagged as one."""
    if not content.strip() and not is_error:
        return None
    trouble = trouble_in(content, is_error=is_error, call=call)
    if trouble is None or not trouble.is_error:
        return None
    text = masked(content, _asked(call))
    return Failure(TOOL, "tool_error", _named(call.name or ""), error_class=trouble.error_class, error_text=text)


def _asked(call: Call) -> Iterator[str]:
    """Yield the values that a call was made with."""
    if isinstance(call, ToolCall):
        yield from _texts(call.arguments, 0)


def _texts(value: JsonValue, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, depth + 1)
    elif isinstance(value, str):
        yield value


def _named(tool: str) -> str:
    return (tool or NONE)[:LONGEST_NAME]


def _selection(grade: CaseGrade, calls: Sequence[Call]) -> Iterator[Failure]:
    differing = [pair for pair in grade.pairs if pair.expected != pair.actual]
    if grade.mode == "disallowed_call" and not differing:
        yield Failure("selection", "disallowed_call", _named(grade.actual))
    elif differing:
        yield from (_of_pair(pair, grade.mode) for pair in differing)
    elif grade.expected != grade.actual:
        yield _of_pair(Pair(grade.expected or NONE, grade.actual or NONE, "unscored"), grade.mode)
    else:
        late, early = _out_of_order(grade, calls)
        yield Failure("selection", "wrong_order", _named(late), other=_named(early))


def _of_pair(pair: Pair, mode: str) -> Failure:
    if pair.actual == NONE:
        return Failure("selection", "refused" if mode == "refused" else "missed_call", _named(pair.expected))
    if pair.actual == UNKNOWN_TOOL:
        return Failure("selection", "hallucinated_tool", _named(pair.expected))
    if pair.actual == UNPARSED:
        return Failure("selection", "malformed_output", _named(pair.expected))
    if pair.expected == NONE:
        return Failure("selection", "needless_call", _named(pair.actual))
    return Failure("selection", "wrong_tool", _named(pair.expected), other=_named(pair.actual))


def _out_of_order(grade: CaseGrade, calls: Sequence[Call]) -> tuple[str, str]:
    """Return the tool that was called too early, and the one that should have been called before it."""
    first: dict[str, int] = {}
    for place, call in enumerate(calls):
        first.setdefault(call.name or "", place)
    expected = [pair.expected for pair in grade.pairs if pair.expected in first]
    for before, after in pairwise(expected):
        if first[after] < first[before]:
            return after, before
    return (expected[0] if expected else grade.expected), ""


def _arguments(grade: CaseGrade, calls: Sequence[Call]) -> Iterator[Failure]:
    # A schema problem is of a call of the transcript, which may not be there any more.
    known = grade if all(problem.call < len(calls) for problem in grade.schema_problems) else None
    faults = [] if known is None else list(argument_faults(known, calls))
    # What differs from gold often breaks the schema for that very reason.
    differing = {fault.tool for fault in faults if fault.kind != "invalid"}
    for fault in faults:
        if fault.kind == "invalid" and fault.tool in differing:
            continue
        yield Failure("arguments", _FAULT_MODES[fault.kind], _named(fault.tool), argument=fault.argument)
    if not faults:
        tool = next((pair.expected for pair in grade.pairs if pair.arguments == "failed"), grade.expected)
        yield Failure("arguments", grade.mode or "wrong_value", _named(tool))


def result_use_failures(detail: JsonMapping) -> Iterator[Failure]:
    """Yield what is wrong with the use of results, by the normal form of a failed `ResultUse`."""
    tools = {result["message"]: result.get("tool") or NONE for result in detail.get("utilisation", ())}
    findings = detail.get("findings", ())
    for finding in findings:
        yield Failure("result_use", finding["kind"], _named(tools.get(finding.get("message"), NONE)))
    if not findings:
        yield Failure("result_use", "result_misused")


def recovery_failures(detail: JsonMapping, transcript: Transcript | None) -> Iterator[Failure]:
    """Yield each error that the agent dealt with wrongly, by the episodes of a failed `Recovery`."""
    failed = answers_failed(transcript) if transcript is not None else ()
    errors = {event.place: failure for event, failure in failed}
    for episode in detail.get("episodes", ()):
        if episode["score"] is not None and episode["score"] < 1:
            error = errors.get(episode["place"])
            text = error.error_text if error is not None else masked(episode.get("excerpt", ""))
            mode = "looped" if episode.get("looped") else episode["reaction"]
            yield Failure(
                "recovery", mode, _named(episode["tool"]), error_class=episode["error_class"],
                error_text="" if episode["error_class"] in ("empty", "partial") else text,
            )  # fmt: skip
