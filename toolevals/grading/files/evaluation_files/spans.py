"""Reads traces as trees of spans, whichever tracer kept them: what an agent was given, and what it did."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from toolevals.grading.files.evaluation_files.content import content_of, example_of, said_in, transcript_of
from toolevals.grading.files.evaluation_files.entry import Entry, Found, Trial
from toolevals.grading.files.evaluation_files.judging import Answer, Row, judgements_of, merged, noted, tool_names
from toolevals.grading.reading.examples import ExampleRow, tools_in_row
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.reading.parsing.content import result_text
from toolevals.grading.reading.parsing.json_calls import call_of
from toolevals.grading.reading.parsing.text import unheeded, with_text_calls
from toolevals.grading.reading.telemetry.reading import cut_in
from toolevals.grading.values import NOT_WHOLE, Call, Message, ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

ReadTools = Callable[[Any, str], tuple[list[ToolSpec] | str | None, tuple[Problem, ...]]]
SpanKind = Literal["model", "tool", "other"]
_NOT_RECORDED: Final = (
    "is missing: what was asked was not recorded. Many instrumentations leave it out until the capture of content is"
    " switched on"
)
_NOTHING: Final[tuple[object, ...]] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a trace. `given` and `made` are its input and output as kept; `start` sorts spans as they began.

    `pointer` is where it stands in the document, `given_at` and `made_at` where the two stand below it. `example` is
    the id of the example that its trace ran on, `call` the id of the call that a tool's span executed. `is_partial`:
    part of what was done in it may be lost, cut or dropped by the sender; `is_cut`: what it was given is.
    """

    id: str
    trace: str
    parent: str
    kind: SpanKind
    name: str
    given: JsonValue
    made: Any
    start: str
    pointer: str
    given_at: str = "/inputs"
    made_at: str = "/outputs"
    error: str | None = None
    tools: Any = None
    example: str = ""
    call: str = ""
    usage: Mapping[str, float] = field(default_factory=dict)
    losses: tuple[Problem, ...] = ()
    is_partial: bool = False
    is_cut: bool = False
    # What people said of it, and of its whole trace.
    answers: tuple[Answer, ...] = ()
    trace_answers: tuple[Answer, ...] = ()
    # What rows of the file say that is no label, each with its pointer into the document.
    row_losses: tuple[Problem, ...] = ()


def traces_read(spans: Iterable[Span], prefix: str, tools: ReadTools = tools_in_row) -> Iterator[Found]:
    """Yield an entry for each trace, in the order in which they begin in the file: an unlabelled example and its trial.

    The input is what the first model call of the trace was given, or without model calls what the root was given. What
    was done is the conversation of the last model call behind that input, with its answer; where that call did not
    see the first one's input, the answers of all model calls with the results of the tools, and a loss says so.
    `tools` reads the tools that were offered.
    """
    traces: dict[str, list[Span]] = {}
    for span in map(_without_cut, spans):
        traces.setdefault(span.trace or span.id, []).append(span)
    for trace, members in traces.items():
        root = _root(members)
        # The object that holds all of them, where one does, is where the entry stands.
        outer = min((each.pointer for each in members), key=len)
        place = outer if all(_below(each.pointer, outer) is not None for each in members) else root.pointer
        in_order = [_placed(each, place) for each in sorted(members, key=lambda each: each.start)]
        try:
            yield place, _entry(trace, _placed(root, place), in_order, prefix, tools)
        except InvalidDocument as error:
            yield place, error


def _without_cut(span: Span) -> Span:
    """Return a span without an input or output that is JSON and ends in the middle; a tool's result stays text."""
    given, made = cut_in(span.given), cut_in(span.made) if span.kind != "tool" else ""
    losses = [Problem(pointer, wrong) for pointer, wrong in ((span.given_at, given), (span.made_at, made)) if wrong]
    if not losses:
        return span
    return replace(
        span,
        given=None if given else span.given,
        made=None if made else span.made,
        losses=(*span.losses, *losses),
        is_cut=True,
        is_partial=bool(span.is_partial or made or (given and span.kind == "tool")),
    )


def _placed(span: Span, root: str) -> Span:
    """Return a span whose pointers begin at its root's place, where it stands below it."""
    here = _below(span.pointer, root) or ""
    return replace(
        span,
        given_at=here + span.given_at,
        made_at=here + span.made_at,
        losses=(
            *(loss.below(here) for loss in span.losses),
            *(Problem(_below(loss.pointer, root) or loss.pointer, loss.message) for loss in span.row_losses),
        ),
        answers=tuple(replace(each, pointer=_below(each.pointer, root) or each.pointer) for each in span.answers),
        trace_answers=tuple(
            replace(each, pointer=_below(each.pointer, root) or each.pointer) for each in span.trace_answers
        ),
    )


def _below(pointer: str, root: str) -> str | None:
    """Return a pointer as seen from a place in the document; None where it does not stand below it."""
    return pointer.removeprefix(root) if pointer == root or pointer.startswith(f"{root}/") else None


def _root(members: Sequence[Span]) -> Span:
    ids = {span.id for span in members}
    return next((span for span in members if not span.parent or span.parent not in ids), members[0])


def _entry(trace: str, root: Span, members: Sequence[Span], prefix: str, read: ReadTools) -> Entry:
    members = _as_calls(members)
    models = [span for span in members if span.kind == "model"]
    first = models[0] if models else root
    left: list[Problem] = []
    content = _given(first, left)
    tools, losses = _tools(members, root, read)
    messages, more = _done(content, models, root, members, left)
    more = (*dict.fromkeys(left), *more)
    identifier = next((span.example for span in members if span.example), "") or trace
    every = (*losses, *more, *(loss for span in members for loss in span.losses))
    example = example_of(identifier, prefix, content, tools=tools, losses=every)
    usage: dict[str, float] = {}
    for span in models:
        for name, count in span.usage.items():
            usage[name] = usage.get(name, 0) + count
    messages = _with_errors(messages, members)
    error = None if messages else root.error
    if partial := [span for span in members if span.is_partial and (span.kind == "model" or not models)]:
        error = f"{NOT_WHOLE}: the span {partial[0].id} came cut."
    elif models and models[-1].made is None and models[-1].error is None:
        error = f"{NOT_WHOLE}: the last model call, the span {models[-1].id}, has no output."
    made = transcript_of(messages, usage=usage, error=error)
    offered = tools if isinstance(tools, list) else None
    transcript = with_text_calls(made, offered)
    every = (*every, *(Problem("", f"{loss.what}: left out") for loss in unheeded(transcript, offered, "")))
    trial = Trial(example.external_id, transcript, content)
    judged_example = _judged(example, root, members, transcript.messages)
    return Entry(judged_example, trial, (*every, *judged_example.losses[len(example.losses) :]))


def _as_calls(members: Sequence[Span]) -> list[Span]:
    """Return the members, each call of a model once: empty spans, and spans around or within a call, are no calls.

    A span that holds one call of a model tells of that call and counts; one that holds several is a loop around them.
    """
    parents = {span.id: span.parent for span in members}
    models = {span.id for span in members if span.kind == "model"}
    empty = {span.id for span in members if span.id in models and span.given in _NOTHING and span.made in _NOTHING}
    empty -= {span.id for span in members if span.is_cut or span.is_partial or span.error is not None}
    within: dict[str, list[str]] = {}
    for name in models - empty:
        outer = parents[name]
        seen = {name}
        while outer in parents and outer not in seen and outer not in models - empty:
            seen.add(outer)
            outer = parents[outer]
        if outer in models - empty and outer != name:
            within.setdefault(outer, []).append(name)
    no_calls = empty | {name for name, inner in within.items() if len(inner) > 1}
    no_calls |= {inner[0] for inner in within.values() if len(inner) == 1}
    return [replace(span, kind="other") if span.id in no_calls else span for span in members]


def _judged(example: ExampleRow, root: Span, members: Sequence[Span], messages: Sequence[Message]) -> ExampleRow:
    """Return the example with what people said of its trace, or of the model call that made all of its calls.

    What is said of another step is a note: a label is of all that should be called.
    """
    called = _calls_of(messages)
    for span in members:
        own = messages if span.id == root.id else None
        if span.answers and span.kind == "model":
            made = with_text_calls(transcript_of(said_in(span.made, span.made_at)), None).messages
            own = made if _calls_of(made) == called else None
        for answers, judged in ((span.answers, own), (span.trace_answers, messages)):
            said, losses = (
                noted(answers, "is about one step of several")
                if judged is None
                else judgements_of(answers, judged, tool_names(example.tools))
            )
            example = merged(example, replace(example, judgements=said))
            example = replace(example, losses=(*example.losses, *losses))
    return example


def with_rows(spans: Sequence[Span], rows: Sequence[Row]) -> list[Span]:
    """Return the spans, each with what rows of the file say of it; what is said of no span is a loss of the first."""
    made = {span.id: span for span in spans}
    traces = {span.trace: span.id for span in reversed(spans)}
    lost: list[Problem] = []
    for row in rows:
        span = next((made[each] for each in row.about if each in made), None)
        whole = None if span else next((made[traces[each]] for each in row.about if each in traces), None)
        if row.loss is not None:
            lost.append(row.loss)
        elif row.answer is not None and span is not None:
            made[span.id] = replace(span, answers=(*span.answers, row.answer))
        elif row.answer is not None and whole is not None:
            made[whole.id] = replace(whole, trace_answers=(*whole.trace_answers, row.answer))
        elif row.answer is not None:
            what = next(filter(None, row.about), "nothing")
            lost.append(Problem(row.answer.pointer, f"{row.answer.name} is about {what}, which is not here: left out"))
    found = [made[span.id] for span in spans]
    if found and lost:
        found[0] = replace(found[0], row_losses=tuple(lost))
    return found


def _calls_of(messages: Sequence[Message]) -> list[Call]:
    """Return the calls of messages without their ids."""
    return [replace(call, id=None) for message in messages for call in message.calls]


def _given(span: Span, left: list[Problem] | None = None) -> JsonObject:
    """Return the input that a span was given; no message where it came cut. Raises InvalidDocument."""
    if span.given is None and (span.is_cut or span.is_partial):
        return {"messages": []}
    if span.kind == "tool":
        # A tool was given its arguments, which no one asked.
        if left is not None:
            left.append(Problem(span.given_at, _NOT_RECORDED))
        return {"messages": []}
    if span.given is None:
        raise InvalidDocument.at(span.given_at, _NOT_RECORDED)
    return content_of(span.given, span.given_at, left)


def _with_errors(messages: Sequence[Message], members: Sequence[Span]) -> list[Message]:
    """Return the messages, those of tools marked as errors where the span that executed their call failed.

    An agent may use an id twice: then the spans of that id belong to its answers in order.
    """
    failed: dict[str, deque[bool]] = {}
    for span in members:
        if span.kind == "tool" and span.call:
            failed.setdefault(span.call, deque()).append(span.error is not None)
    ran = [failed.get(each.call_id or "") if each.role == "tool" else None for each in messages]
    return [
        replace(each, is_error=True) if mine and mine.popleft() else each
        for each, mine in zip(messages, ran, strict=True)
    ]


def _tools(members: Sequence[Span], root: Span, read: ReadTools) -> tuple[Any, tuple[Problem, ...]]:
    for span in (*members, root):
        if span.tools:
            return read(span.tools, f"{span.given_at}/tools")
    return None, ()


def _done(
    content: JsonMapping, models: Sequence[Span], root: Span, members: Sequence[Span], left: list[Problem]
) -> tuple[list[Message], tuple[Problem, ...]]:
    if not models:
        return _without_models(root, members)
    given = content["messages"]
    last = models[-1]
    seen = _given(last, left)["messages"] if last is not models[0] else given
    said = said_in(last.made, last.made_at, left)
    if last is models[0] or (given and seen[: len(given)] == given):
        between = transcript_messages(seen[len(given) :])
        return [*between, *said], ()
    joined: list[Message] = []
    for span in members:
        if span.kind == "model":
            joined += said_in(span.made, span.made_at, left)
        elif span.kind == "tool":
            joined.append(_result(span, joined))
    loss = Problem("", "its model calls do not share one conversation: all messages are listed in order of the calls")
    return joined, (loss,)


def transcript_messages(documents: Sequence[JsonObject]) -> tuple[Message, ...]:
    """Return messages from their normal form."""
    return transcript_in(list(documents), "native").messages if documents else ()


def _result(span: Span, before: Sequence[Message]) -> Message:
    """Return a tool's answer, put to the earliest call of its name that no message has answered."""
    answered = {message.call_id for message in before if message.role == "tool"}
    calls = (call for message in before for call in message.calls if call.name == span.name)
    identifier = next((call.id for call in calls if call.id and call.id not in answered), None)
    return Message("tool", span.error or result_text(span.made), call_id=identifier, is_error=span.error is not None)


def _without_models(root: Span, members: Sequence[Span]) -> tuple[list[Message], tuple[Problem, ...]]:
    messages: list[Message] = []
    for number, span in enumerate(span for span in members if span.kind == "tool"):
        known = {each.id for message in messages for each in message.calls}
        own = span.call if span.call not in known else ""
        call = call_of(span.name, span.given, own or f"span-{number + 1}", shown_as=span.name)
        messages += [Message("assistant", None, (call,)), replace(_result(span, ()), call_id=call.id)]
    # What a tool answered is its result, and not the agent's answer.
    said = said_in(root.made, root.made_at) if root.kind != "tool" else ()
    if not messages:
        return list(said), ()
    loss = Problem("", "the trace has no model calls: the calls are those that tools ran, one after another")
    return [*messages, *(message for message in said[-1:] if message.role == "assistant" and not message.calls)], (
        loss,
    )
