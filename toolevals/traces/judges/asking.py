"""Puts a trace, or one of its spans, before a judge: the question of a rubric without gold, and its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from toolevals.grading.engine.compiled import CompiledCase, compile_case
from toolevals.grading.engine.grading import grade
from toolevals.grading.files.evaluation_files.content import transcript_of
from toolevals.grading.files.evaluation_files.otlp import is_below
from toolevals.grading.files.evaluation_files.spans import transcript_messages
from toolevals.grading.judging import Briefing, Judgement, JudgementRequest, Judgements, Rubric, needed_judgements
from toolevals.grading.judging.case_judging import grade_judged
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.reading.parsing.content import result_text
from toolevals.grading.values import Expectation, Message, ToolCall
from toolevals.grading.values.verdicts import JudgedVerdict
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.traces.reading.calls import call_told
from toolevals.traces.reading.traces import ReadSpan, TraceReading

# Spans of its kind in one trace that a judge is asked about: the first ones as they began.
MOST_SPANS: Final = 20
# The gates of rubrics that can be asked about without gold, by the kind of span; empty for the whole trace.
GATES_BY_KIND: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("result_used", "tool_failed", "task", "reasoned"),
    "tool": ("open_choice", "task", "reasoned"),
    "model": ("result_used", "task", "reasoned"),
    "agent": ("result_used", "tool_failed", "task", "reasoned"),
}


def spans_of_kind(reading: TraceReading, kind: str) -> list[ReadSpan]:
    """Return the spans of a kind as they began, without those inside a model's call: they tell of it once more."""
    parents = {each.span.span_id: each.span.parent_id for each in reading.spans}
    models = {each.span.span_id: each for each in reading.spans if each.reading.kind == "model"}
    found = [each for each in reading.spans if each.reading.kind == kind]
    outer = [each for each in found if not is_below(each.span.span_id, parents, models)]
    return sorted(outer, key=lambda each: (each.span.start, each.span.span_id))


def spans_asked(reading: TraceReading, kind: str) -> list[str]:
    """Return the ids of the spans that a judge of a kind is asked about; an empty one stands for the whole trace."""
    return [each.span.span_id for each in spans_of_kind(reading, kind)[:MOST_SPANS]] if kind else [""]


def span_reading(reading: TraceReading, span_id: str) -> TraceReading:
    """Return what one span tells: its input is what came before, and it alone is what was done.

    An agent's span tells with all below it. A model's call goes on from the last message of a user: the calls and
    results since then are there, the texts between are not, since spans of their own are asked about them.
    """
    mine = next((each for each in reading.spans if each.span.span_id == span_id), None)
    if mine is None:
        return TraceReading(())
    if mine.reading.kind == "agent":
        parents = {each.span.span_id: each.span.parent_id for each in reading.spans}
        below = [name for name in parents if name == span_id or is_below(name, parents, {span_id: mine})]
        return reading.of_spans(below)
    return _of_model(reading.of_spans([span_id])) if mine.reading.kind == "model" else _of_tool(reading, mine)


def _of_model(alone: TraceReading) -> TraceReading:
    given = _given(alone)
    users = [place for place, message in enumerate(given) if message.get("role") == "user"]
    system = [place for place, message in enumerate(given) if message.get("role") in ("system", "developer")]
    at = (users or system or [-1])[-1] + 1
    since = transcript_messages(given[at:])
    kept = [
        replace(message, content=None) if message.role == "assistant" else message
        for message in since
        if message.calls or message.role != "assistant"
    ]
    return _told(alone, given[:at], [*kept, *alone.transcript.messages])


def _of_tool(reading: TraceReading, mine: ReadSpan) -> TraceReading:
    told, span = call_told(reading, mine), mine.reading
    messages = reading.transcript.messages
    at = next((place for place, each in enumerate(messages) if any(call is told for call in each.calls)), 0)
    if told is None:
        call = ToolCall(span.tool, span.given if isinstance(span.given, dict) else {}, span.call_id or "span")
        done = [Message("assistant", None, (call,))]
    else:
        done = [replace(messages[at], calls=(told,))]
    answers = (each for each in messages[at:] if each.role == "tool" and told is not None and each.call_id == told.id)
    if span.error is not None or span.made is not None:
        words = result_text(span.made) if span.error is None else span.error
        identifier = done[0].calls[0].id
        done.append(Message("tool", words, call_id=identifier, is_error=span.error is not None))
    elif (answer := next(answers, None)) is not None:
        done.append(answer)
    before = [message.to_document() for message in messages[:at]]
    return _told(reading, [*_given(reading), *before], done)


def _given(reading: TraceReading) -> list[JsonObject]:
    messages = reading.given.get("messages")
    return messages if isinstance(messages, list) else []


def _told(reading: TraceReading, given: Sequence[JsonMapping], done: Sequence[Message]) -> TraceReading:
    """Return a reading with another input and other things done; what could not be read stays so."""
    entry = reading.entry
    if entry is None or entry.example is None or entry.trial is None:
        return reading
    example = replace(entry.example, input={**entry.example.input, "messages": list(given)})
    made = transcript_of(done, error=entry.trial.transcript.error)
    return replace(reading, entry=replace(entry, example=example, trial=replace(entry.trial, transcript=made)))


_GOLD: Final = ("expectation",)
NO_CONVERSATION = "Not asked: no span tells of a conversation."


def is_without_gold(rubric: Rubric, kind: str = "") -> bool:
    """Tell whether a rubric asks what can be asked of a trace, or of its spans of a kind: no expected call."""
    return rubric.gate in GATES_BY_KIND[kind] and not any(name in rubric.inputs for name in _GOLD)


@dataclass(frozen=True, slots=True)
class TraceJudging:
    """One trace and one rubric. It is asked as of a case whose label lets any call be."""

    reading: TraceReading
    rubric: Rubric

    @property
    def request(self) -> JudgementRequest | None:
        """The question; None where rules say that there is none, or where it is too long."""
        reading = self.reading
        if reading.entry is None or reading.transcript.error is not None:
            return None
        compiled = self._compiled()
        plain = grade(compiled, reading.transcript)
        return next(iter(needed_judgements(compiled, reading.transcript, plain, self._judgements(None))), None)

    def verdict(self, judgement: Judgement | None) -> JudgedVerdict:
        """Return the verdict in an answer; without one, why there is no question."""
        if self.reading.entry is None:
            return JudgedVerdict(self.rubric.name, self.rubric.version, "unscored", None, NO_CONVERSATION)
        if (error := self.reading.transcript.error) is not None:
            return JudgedVerdict(self.rubric.name, self.rubric.version, "unscored", None, f"Not asked: {error}")
        graded = grade_judged(self._compiled(), self.reading.transcript, self._judgements(judgement))
        return graded.judged[self.rubric.name]

    def _compiled(self) -> CompiledCase:
        return compile_case(Expectation("some_call"), tuple(self.reading.tools))

    def _judgements(self, judgement: Judgement | None) -> Judgements:
        given = self.reading.given
        messages = given.get("messages")
        context = given.get("context")
        briefing = Briefing(
            [self.rubric],
            transcript_in(messages if isinstance(messages, list) else []).messages,
            context if isinstance(context, dict) else {},
        )
        return Judgements.of(briefing, [judgement] if judgement else ())
