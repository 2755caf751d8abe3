"""Finds the calls of tools in a trace: those that spans ran, and those that only the conversation tells of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.json_schema.conformance import call_problems, unused_words
from toolevals.grading.layers.troubles import trouble_in
from toolevals.grading.reading.examples import tools_in_row
from toolevals.grading.reading.parsing.content import result_text
from toolevals.grading.values import Call, MalformedCall, ToolCall, ToolResult, ToolSpec, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.tools import candidates
from toolevals.traces.reading.traces import ReadSpan, TraceReading

UNPARSED = "(unparsed)"


@dataclass(frozen=True, slots=True)
class UsedTool:
    """One call. `start` is in nanoseconds since 1970; `duration_ms` None where no span measured it.

    `error_class` is empty where the tool answered as it should, or where its answer is not known. `arguments_fit` is
    None where no schema was offered or none can be used, or where `arguments` are None because nothing says them;
    `problem` says what is wrong with the arguments first, or why the schema is not used; `misfits` are the JSON
    pointers of all that is wrong. `call` is the conversation's own, where it tells of one. `answer` is what a span says
    that the tool returned, which `is_error` where the span failed.
    """

    tool: str
    arguments: Any
    start: int
    span_id: str = ""
    call_id: str = ""
    duration_ms: float | None = None
    error_class: str = ""
    arguments_fit: bool | None = None
    problem: str = ""
    misfits: tuple[str, ...] = ()
    call: Call | None = None
    answer: str | None = None
    is_error: bool = False


def used_tools(trace: TraceReading, registered: Mapping[str, ToolSpec] | None = None) -> list[UsedTool]:
    """Return the calls of a trace, those with spans first as they began, then those without.

    Arguments are checked by the tools that were offered; where none were, by the schema of the tool's own span, else by
    `registered`, the project's tools by their names.
    """
    offered = {tool.name: tool for tool in trace.tools} or {**(registered or {}), **_own_tools(trace)}
    spans = [each for each in trace.spans if each.reading.kind == "tool" and each.reading.tool]
    told, left = _told_of(spans, trace.transcript.calls)
    ran = [_of_span(each, told.get(place), offered) for place, each in enumerate(spans)]
    return [*ran, *_without_spans(trace, left, offered)]


def spans_of_calls(trace: TraceReading, transcript: Transcript) -> list[tuple[ReadSpan, Call | None]]:
    """Return the spans that ran tools, each with the call of a transcript that it ran; None where none tells of it."""
    spans = [each for each in trace.spans if each.reading.kind == "tool" and each.reading.tool]
    told, _ = _told_of(spans, transcript.calls)
    return [(each, told.get(place)) for place, each in enumerate(spans)]


def call_told(trace: TraceReading, span: ReadSpan) -> Call | None:
    """Return the call of the conversation that a tool's span ran; None where the conversation doesn't tell of it."""
    return next((call for each, call in spans_of_calls(trace, trace.transcript) if each is span), None)


def span_ids_of_calls(trace: TraceReading) -> list[str]:
    """Return the id of the span that ran each call of the conversation; empty where no span did."""
    by_call = {id(call): each.span.span_id for each, call in spans_of_calls(trace, trace.transcript) if call}
    return [by_call.get(id(call), "") for call in trace.transcript.calls]


def _own_tools(trace: TraceReading) -> dict[str, ToolSpec]:
    """Return the tools that spans of tools describe."""
    found: dict[str, ToolSpec] = {}
    for each in trace.spans:
        if each.reading.kind == "tool" and each.reading.tools and each.reading.tool not in found:
            tools, _ = tools_in_row(each.reading.tools, "/tools")
            found |= {tool.name: tool for tool in tools or () if isinstance(tool, ToolSpec)}
    return found


def _told_of(spans: Sequence[ReadSpan], calls: Iterable[Call]) -> tuple[dict[int, Call], list[Call]]:
    """Return the conversation's calls by the place of the span that ran each, and those that no span ran.

    A call belongs to the span of its id, else to the first of its tool; each span takes one.
    """
    told: dict[int, Call] = {}
    left = []
    for call in calls:
        free = [(place, each.reading) for place, each in enumerate(spans) if place not in told]
        mine = next((place for place, reading in free if call.id and reading.call_id == call.id), None)
        if mine is None:
            named = (
                place for place, reading in free if reading.tool == call.name and not (reading.call_id and call.id)
            )
            mine = next(named, None)
        if mine is None:
            left.append(call)
        else:
            told[mine] = call
    return told, left


def _arguments(given: object, told: Call | None) -> Any:
    """Return the arguments of a call that a span ran; None where nothing says them.

    A text that is no object says nothing by itself: it may be the only argument, or be cut off. Then the conversation
    says what the model sent.
    """
    if given is not None and not isinstance(given, str):
        return given
    if told is None:
        return None
    return told.text if isinstance(told, MalformedCall) else told.arguments


def _of_span(span: ReadSpan, told: Call | None, offered: Mapping[str, ToolSpec]) -> UsedTool:
    reading = span.reading
    arguments = _arguments(reading.given, told)
    call = ToolCall(reading.tool, arguments if isinstance(arguments, dict) else {}, reading.call_id)
    content = reading.error if reading.error is not None else result_text(reading.made)
    failed = reading.error is not None
    answered = failed or reading.made is not None
    trouble = trouble_in(content or "", is_error=failed, call=call) if answered else None
    fit, problem, misfits = (None, "", ()) if arguments is None else _fit(reading.tool, arguments, offered)
    return UsedTool(
        tool=reading.tool,
        arguments=arguments,
        start=span.span.start,
        span_id=span.span.span_id,
        call_id=reading.call_id or "",
        duration_ms=span.duration_ms,
        error_class=trouble.error_class if trouble else "",
        arguments_fit=fit,
        problem=problem,
        misfits=misfits,
        call=told,
        answer=(content or "") if answered else None,
        is_error=failed,
    )


def _without_spans(trace: TraceReading, left: Iterable[Call], offered: Mapping[str, ToolSpec]) -> Iterator[UsedTool]:
    """Yield the conversation's calls that no span ran."""
    results = {id(result.call): result for result in trace.transcript.results if result.call is not None}
    start = trace.spans[0].span.start if trace.spans else 0
    for call in left:
        if isinstance(call, MalformedCall):
            name = call.name or UNPARSED
            yield UsedTool(name, call.text, start, arguments_fit=False, problem=call.reason, call=call)
            continue
        fit, problem, misfits = _fit(call.name, call.arguments, offered)
        trouble = _trouble(results.get(id(call)))
        yield UsedTool(call.name, call.arguments, start, "", call.id or "", None, trouble, fit, problem, misfits, call)


def _trouble(result: ToolResult | None) -> str:
    if result is None:
        return ""
    trouble = trouble_in(result.content, is_error=result.is_error, call=result.call)
    return trouble.error_class if trouble else ""


def _fit(name: str, arguments: object, offered: Mapping[str, ToolSpec]) -> tuple[bool | None, str, tuple[str, ...]]:
    """Return whether arguments fit, what is wrong first, and the pointers of all that is wrong."""
    tool = offered.get(name)
    if tool is None and len(found := candidates(name, offered.values())) == 1:
        tool = offered[found[0]]
    if tool is None:
        return None, "", ()
    try:
        problems = call_problems(tool, arguments)
    except InvalidDocument as error:
        # The schema itself is bad or costs too much: nothing can be said of the arguments.
        return None, unused_words(tool, error), ()
    if not problems:
        return True, "", ()
    first = f"{problems[0].pointer} {problems[0].message}".strip()
    return False, first, tuple(dict.fromkeys(problem.pointer for problem in problems))
