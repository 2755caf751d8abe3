"""Lays out a trace's spans as lines of a table: each below its parent, with a bar on the time line of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from toolevals.traces.reading.traces import ReadSpan, TraceReading

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
