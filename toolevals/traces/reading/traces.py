"""Reads one trace: each span by its convention, and the conversation that they tell together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.otlp import conversations_in
from toolevals.grading.reading.examples import tools_told_of
from toolevals.grading.reading.telemetry.conventions import reading_of
from toolevals.grading.reading.telemetry.otlp import TelemetrySpan
from toolevals.grading.reading.telemetry.reading import SpanReading
from toolevals.grading.values import ToolSpec, Transcript
from toolevals.grading.values.problems import InvalidDocument, Problem


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A span, and what it says by the convention that it follows."""

    span: TelemetrySpan
    reading: SpanReading

    @property
    def duration_ms(self) -> float:
        """Return what it took, in milliseconds."""
        return (self.span.end - self.span.start) / 1e6


@dataclass(frozen=True, slots=True)
class TraceReading:
    """A trace, read. `entry` holds the input, the tools that were offered and what was done.

    It is None where no span tells of a conversation, or no one can read it: `problems` say why.
    """

    spans: tuple[ReadSpan, ...]
    entry: Entry | None = None
    problems: tuple[Problem, ...] = field(default=())

    @property
    def root(self) -> ReadSpan | None:
        """The span above all others; where it has not come, the first one whose parent is not there."""
        ids = {each.span.span_id for each in self.spans}
        roots = [each for each in self.spans if not each.span.parent_id]
        return next(iter(roots or [each for each in self.spans if each.span.parent_id not in ids]), None)

    @property
    def transcript(self) -> Transcript:
        """Return what the agent did; nothing where no one can read it."""
        trial = self.entry.trial if self.entry else None
        return trial.transcript if trial else Transcript()

    @property
    def damage(self) -> list[tuple[str, Problem]]:
        """Return what came cut, dropped or changed, each with the id of its span."""
        return [(each.span.span_id, problem) for each in self.spans for problem in each.reading.damage]

    @property
    def given(self) -> dict[str, object]:
        """The input of the conversation."""
        return dict(self.entry.example.input) if self.entry and self.entry.example else {}

    @property
    def tools(self) -> list[ToolSpec]:
        """The tools that were offered."""
        tools = self.entry.example.tools if self.entry and self.entry.example else None
        return tools if isinstance(tools, list) else []

    def of_spans(self, identifiers: Collection[str]) -> TraceReading:
        """Return what some of its spans tell by themselves."""
        read = tuple(each for each in self.spans if each.span.span_id in identifiers)
        return TraceReading(read, *_conversation(read))


def trace_read(spans: Iterable[TelemetrySpan]) -> TraceReading:
    """Return what the spans of one trace say."""
    read = tuple(ReadSpan(span, _reading(span)) for span in spans)
    return TraceReading(read, *_conversation(read))


def _reading(span: TelemetrySpan) -> SpanReading:
    try:
        return reading_of(span)
    except InvalidDocument:
        # By the convention it holds a message, which is of another form: its attributes are shown as no one read them.
        return SpanReading("none", "other", unread=tuple(span.attributes))


def _conversation(read: Sequence[ReadSpan]) -> tuple[Entry | None, tuple[Problem, ...]]:
    try:
        spans = [(f"/{each.span.span_id}", each.span, each.reading) for each in read]
        for _, found in conversations_in(spans, tools=tools_told_of):
            if isinstance(found, Entry):
                return found, found.losses
            return None, tuple(found.problems)
    except InvalidDocument as error:
        return None, tuple(error.problems)
    return None, ()
