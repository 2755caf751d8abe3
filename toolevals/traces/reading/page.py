"""Tell what the page of one trace shows, with its spans as a waterfall."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from django.db.models import Q

from labeling.conversation import Conversation, read_conversation
from labeling.conversation.lines import pretty
from labeling.conversation.tool_description import ToolReading, tool_reading
from toolevals.grading.judging import SHIPPED, TRACE_SCORES
from toolevals.grading.reading.telemetry.conventions.genai import EVENTS
from toolevals.grading.values import Transcript
from toolevals.grading.values.problems import Problem
from toolevals.grading.values.verdicts import Status
from toolevals.json_types import JsonObject
from toolevals.traces.judges.models import JUDGE_RULE
from toolevals.traces.judges.rules import JudgeRule, TraceQuestionShown, judge_verdicts, open_questions
from toolevals.traces.judges.scores import SCORE_RULES
from toolevals.traces.models import SpanVerdict, Trace
from toolevals.traces.policies.rules import kept_rule
from toolevals.traces.reading.calls import UsedTool, used_tools
from toolevals.traces.reading.chunks import read_chunks, registered_tools, spans_of
from toolevals.traces.reading.rules import BY_NAME, KEPT, POLICY_RULE, Rule, RuleVerdict, verdicts_of
from toolevals.traces.reading.traces import ReadSpan, TraceReading, trace_read

# Problems of reading that a page shows, and traces of one session.
SHOWN = 30
SESSION_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Judged:
    """Shows what a rule says of a span; of a judge, also the snapshot that answered and what that cost, if known."""

    rule: Rule | JudgeRule
    verdict: RuleVerdict
    snapshot: str = ""
    cost: float | None = None

    @property
    def title(self) -> str:
        """Name what the rule asks, marked where a judge says it."""
        return f"{self.rule.title} (judge)" if self.rule.judge else self.rule.title


@dataclass(frozen=True, slots=True)
class TraceScore:
    """One of the four scores of a trace: what a rule and judges say, and questions about it without an answer."""

    title: str
    judged: Sequence[Judged]
    open: Sequence[TraceQuestionShown]

    @property
    def has_judge(self) -> bool:
        """Tell whether a judge gave it, or was to give it."""
        return bool(self.open or any(each.rule.judge for each in self.judged))


@dataclass(frozen=True, slots=True)
class TracePage:
    """One trace: what happened when, what was said, what was offered, and what no one read."""

    reading: TraceReading
    waterfall: Waterfall
    conversation: Conversation
    offered: Sequence[ToolReading]
    used: Sequence[UsedTool]
    verdicts: Sequence[Judged]
    not_judged: Sequence[TraceQuestionShown]
    unread: Sequence[tuple[str, int]]
    # Log records of spans that have not come: name, the span's id, and what they say.
    lone: Sequence[tuple[str, str, str]]
    lone_left_out: int
    problems: Sequence[Problem]
    # What came cut, dropped or changed, each with the id of its span.
    damage: Sequence[tuple[str, Problem]]

    @property
    def by_span(self) -> dict[str, list[Judged]]:
        """The verdicts of each span."""
        judged: dict[str, list[Judged]] = {}
        for each in self.verdicts:
            judged.setdefault(each.verdict.span_id, []).append(each)
        return judged

    @property
    def span_names(self) -> dict[str, str]:
        """The names of the spans by their ids."""
        return {each.span.span_id: each.reading.tool or each.span.name for each in self.reading.spans}

    @property
    def told(self) -> list[tuple[Judged, int]]:
        """Return what the rules say, each with how often: those that passed are counted, others stay by themselves."""
        shown = [each for each in self.verdicts if not _is_score(each.rule)]
        passed = [each for each in shown if each.verdict.status == "passed" and not isinstance(each.rule, JudgeRule)]
        often = Counter(each.rule.name for each in passed)
        first = {each.rule.name: each for each in reversed(passed)}
        others = [(each, 1) for each in shown if each not in passed]
        return others + [(first[name], count) for name, count in often.items()]

    @property
    def scores(self) -> list[TraceScore]:
        """The four scores of the trace as a whole."""
        found = []
        for name in TRACE_SCORES:
            names = (name, f"{JUDGE_RULE}{name}")
            judged = [each for each in self.verdicts if _is_score(each.rule) and each.rule.name in names]
            waiting = [each for each in self.not_judged if _is_score(each.rule) and each.rule.name in names]
            found.append(TraceScore(SHIPPED[name].title, judged, waiting))
        return found

    @property
    def not_told(self) -> list[TraceQuestionShown]:
        """The questions to judges without an answer that are about no score."""
        return [each for each in self.not_judged if not _is_score(each.rule)]

    @property
    def model_ms(self) -> float:
        """The time of the models' calls together."""
        return sum(each.duration_ms for each in self.reading.spans if each.reading.kind == "model")

    @property
    def tools_document(self) -> str:
        """The tools that were offered as a document that a registry publishes, in JSON."""
        return pretty([tool.to_document() for tool in self.reading.tools])

    @property
    def tool_ms(self) -> float:
        """The time of the tools' calls together."""
        return sum(each.duration_ms for each in self.reading.spans if each.reading.kind == "tool")


def _is_score(rule: Rule | JudgeRule) -> bool:
    """Tell whether a rule gives one of the four scores of a whole trace."""
    return rule.name in SCORE_RULES and not rule.kind


def trace_page(trace: Trace) -> TracePage:
    """Return what the page shows of a trace, read again from its spans."""
    chunks = read_chunks(trace)
    reading = trace_read(chunks.spans)
    used = used_tools(reading, registered_tools(trace.project))
    return TracePage(
        reading=reading,
        waterfall=waterfall_of(reading),
        conversation=read_conversation(whole_conversation(reading)),
        offered=[tool_reading(tool) for tool in reading.tools],
        used=used,
        verdicts=[
            *(Judged(BY_NAME[each.rule], each) for each in verdicts_of(reading, used) if each.rule not in KEPT),
            *kept_verdicts(trace),
            *judged_of(trace),
        ],
        not_judged=open_questions(trace, reading),
        unread=sorted(_unread(reading).items()),
        lone=[
            (each.event.name or "(no name)", each.span_id, pretty(dict(each.event.attributes)))
            for each in chunks.lone[:SHOWN]
        ],
        lone_left_out=max(len(chunks.lone) - SHOWN, 0),
        problems=[
            each
            for each in reading.problems
            if not each.pointer.startswith("/attributes/") and each not in {problem for _, problem in reading.damage}
        ][:SHOWN],
        damage=reading.damage[:SHOWN],
    )


def kept_verdicts(trace: Trace) -> list[Judged]:
    """Return what limits and policies said when the trace was summed up: they may be others since."""
    kept = SpanVerdict.objects.filter(Q(rule__in=KEPT) | Q(rule__startswith=POLICY_RULE), trace=trace, judge=None)
    return [Judged(BY_NAME.get(each.rule) or kept_rule(each), _rule_verdict(each)) for each in kept.order_by("number")]


def _unread(reading: TraceReading) -> Counter[str]:
    """Return the attributes that no reader knows, and the events and log records, each with how often it came."""
    found = Counter(name for each in reading.spans for name in each.reading.unread)
    names = (event.name for each in reading.spans for event in each.span.events)
    found.update(f"event {name or '(no name)'}" for name in names if name not in EVENTS)
    return found


def judged_of(trace: Trace) -> list[Judged]:
    """Return what judges said of a trace."""
    return [Judged(rule, _rule_verdict(each), each.snapshot, each.judge_cost) for rule, each in judge_verdicts(trace)]


def _rule_verdict(kept: SpanVerdict) -> RuleVerdict:
    return RuleVerdict(kept.rule, kept.span_id, cast("Status", kept.status), kept.value, kept.reason, kept.version)


def whole_conversation(reading: TraceReading) -> JsonObject:
    """Return what was given and what was done as one conversation."""
    given = reading.given
    messages = given.get("messages")
    return {
        **given,
        "messages": [*(messages if isinstance(messages, list) else ()), *_done(reading.transcript)],
    }


def _done(transcript: Transcript) -> list[JsonObject]:
    documents = [message.thought_document() for message in transcript.messages]
    said = {document.get("content") for document in documents}
    if transcript.answer and transcript.answer not in said:
        documents.append({"role": "assistant", "content": transcript.answer})
    return documents


@dataclass(frozen=True, slots=True)
class SpanPage:
    """One span: what judges said of it, its attributes, each with whether someone read it, its events, its process."""

    read: ReadSpan
    judged: Sequence[Judged]
    attributes: Sequence[tuple[str, str, bool]]
    events: Sequence[tuple[str, str]]
    resource: str


def span_page(trace: Trace, span_id: str) -> SpanPage | None:
    """Return what the page of a span shows; None where the trace has no such span."""
    found = next((each for each in spans_of(trace) if each.span_id == span_id), None)
    if found is None:
        return None
    read = trace_read([found]).spans[0]
    unread = set(read.reading.unread)
    return SpanPage(
        read=read,
        judged=[each for each in judged_of(trace) if each.rule.kind and each.verdict.span_id == span_id],
        attributes=[(name, _shown(value), name not in unread) for name, value in sorted(found.attributes.items())],
        events=[(event.name, pretty(dict(event.attributes))) for event in found.events],
        resource=pretty(dict(found.resource)),
    )


def _shown(value: object) -> str:
    return value if isinstance(value, str) else pretty(value) or json.dumps(value)


# Lines of a page; a trace may have more spans.
MOST_LINES: Final = 500
# Deeper lines are not moved further to the right.
_DEEPEST: Final = 8
_STEPS: Final = (1, 2, 5)
_TICKS: Final = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One span. `left` and `width` are shares of the whole time in percent."""

    read: ReadSpan
    depth: int
    left: float
    width: float

    @property
    def kind(self) -> str:
        """The kind of step in one word."""
        kind = self.read.reading.kind
        return (self.read.reading.step.lower() or "step") if kind == "other" else kind

    @property
    def name(self) -> str:
        """Return what is done: a tool's name, else the span's."""
        return self.read.reading.tool or self.read.span.name or "(no name)"

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Tokens in and out; None where they are not counted."""
        usage = self.read.reading.usage
        if not usage:
            return None
        return round(usage.get("input_tokens", 0)), round(usage.get("output_tokens", 0))


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The lines of a trace, and the marks of the time line: place in percent, and seconds."""

    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, str], ...]
    left_out: int


def waterfall_of(trace: TraceReading) -> Waterfall:
    """Return the lines of a trace, each span below its parent in the order in which they began."""
    spans = trace.spans
    start = min((each.span.start for each in spans), default=0)
    whole = max(max((each.span.end for each in spans), default=0) - start, 1)
    lines = tuple(
        Line(
            each,
            min(depth, _DEEPEST),
            round(100 * (each.span.start - start) / whole, 3),
            round(max(100 * (each.span.end - each.span.start) / whole, 0.3), 3),
        )
        for each, depth in _ordered(spans)
    )
    return Waterfall(lines[:MOST_LINES], _ticks(whole / 1e9), max(len(lines) - MOST_LINES, 0))


def _ordered(spans: Sequence[ReadSpan]) -> Iterator[tuple[ReadSpan, int]]:
    """Yield each span once, those whose parents are not there, or are their own ancestors, among the first."""
    ids = {each.span.span_id for each in spans}
    children: dict[str, list[ReadSpan]] = {}
    for each in spans:
        parent = each.span.parent_id if each.span.parent_id in ids else ""
        children.setdefault(parent, []).append(each)
    seen: set[str] = set()
    yield from _below("", children, seen)
    for each in spans:
        if each.span.span_id not in seen:
            seen.add(each.span.span_id)
            yield each, 0
            yield from _below(each.span.span_id, children, seen, 1)


def _below(
    parent: str, children: Mapping[str, Sequence[ReadSpan]], seen: set[str], depth: int = 0
) -> Iterator[tuple[ReadSpan, int]]:
    # Without recursion: a hostile trace is as deep as it has spans.
    waiting = [(each, depth) for each in reversed(children.get(parent, ()))]
    while waiting:
        each, at = waiting.pop()
        if each.span.span_id in seen:
            continue
        seen.add(each.span.span_id)
        yield each, at
        waiting += [(child, at + 1) for child in reversed(children.get(each.span.span_id, ()))]


def _ticks(seconds: float) -> tuple[tuple[float, str], ...]:
    """Return a handful of round times from 0 to the end."""
    size = 1e-6
    while all(seconds / (size * step) > _TICKS for step in _STEPS):
        size *= 10
    step = next(size * each for each in _STEPS if seconds / (size * each) <= _TICKS)
    return tuple(
        (round(100 * number * step / seconds, 2), _words(number * step))
        for number in range(_TICKS + 1)
        if number * step < seconds
    )


def _words(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 or not seconds else f"{seconds * 1000:g} ms"
