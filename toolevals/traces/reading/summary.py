"""Sums a trace up: what lists show of it and find it by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from toolevals.grading.reading.examples import first_words
from toolevals.traces.reading.calls import UsedTool
from toolevals.traces.reading.traces import ReadSpan, TraceReading

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 4_000_000_000 * 10**9


def clean(text: str, length: int) -> str:
    """Return the beginning of a text that a column takes: no database of ours has a NUL, or half of a character."""
    return text[:length].replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def moment(nanoseconds: int) -> datetime:
    """Return a time in nanoseconds since 1970, what is beyond any calendar brought to its end."""
    return _EARLIEST + timedelta(microseconds=min(nanoseconds, _LATEST) // 1000)


# Characters of the request, and of the answer, that are searched.
SEARCHED = 2_000
_TOOLS_NAMED = 30
_WORD = 60
_WORDS = re.compile(r"[^\W_]+")
# Characters of the words that are kept: names, errors, and the beginnings of request and answer.
TEXT_LENGTH = 4_400


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a trace in lists. Times in nanoseconds since 1970; counts None where they were not recorded."""

    name: str
    start: int
    end: int
    model: str
    agent: str
    agent_version: str
    session: str
    user: str
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    calls: int
    failed_calls: int
    tools: tuple[str, ...]
    error_classes: tuple[str, ...]
    error: str
    request: str
    answer: str
    text: str
    is_cut: bool


def summary_of(trace: TraceReading, used: Sequence[UsedTool]) -> Summary:
    """Return the sum of a trace and of the calls in it."""
    root, spans = trace.root, trace.spans
    error = (root.reading.error or "") if root else ""
    request = first_words(trace.given) or ""
    answer = trace.transcript.answer or ""
    models = [each for each in spans if each.reading.kind == "model"]
    tools = tuple(dict.fromkeys(each.tool for each in used))
    name = (root.reading.agent if root and root.reading.kind == "agent" else "") or (root.span.name if root else "")
    errors = [each.reading.error for each in spans if each.reading.error]
    words = [name, *tools, *dict.fromkeys(errors[:10]), request[:SEARCHED], answer[:SEARCHED]]
    return Summary(
        name=name,
        start=min((each.span.start for each in spans), default=0),
        end=max((each.span.end for each in spans), default=0),
        model=_first(each.reading.model for each in models) or _first(each.reading.model for each in spans),
        agent=_first(each.reading.agent for each in _agents_first(spans)),
        agent_version=_first(each.reading.agent_version for each in _agents_first(spans)),
        session=_first(each.reading.session for each in spans),
        user=_first(each.reading.user for each in spans),
        input_tokens=_count(models, "input_tokens"),
        output_tokens=_count(models, "output_tokens"),
        cost=_cost(models or spans),
        calls=len(used),
        failed_calls=sum(1 for each in used if each.error_class not in ("", "empty", "partial")),
        tools=tools[:_TOOLS_NAMED],
        error_classes=tuple(sorted({each.error_class for each in used if each.error_class})),
        error=error,
        request=request,
        answer=answer,
        text=searched(words),
        is_cut=bool(trace.damage),
    )


def searched(texts: Iterable[str]) -> str:
    """Return the words of texts, each once, in lower case, with a space before each: what begins a word is found so."""
    found = dict.fromkeys(word[:_WORD] for text in texts for word in words_of(text))
    return "".join(f" {word}" for word in found)[:TEXT_LENGTH]


def words_of(text: str) -> list[str]:
    """Return the words of a text: letters and digits, in lower case."""
    return _WORDS.findall(text.casefold())


def _agents_first(spans: Sequence[ReadSpan]) -> list[ReadSpan]:
    return sorted(spans, key=lambda each: each.reading.kind != "agent")


def _first(values: Iterable[str]) -> str:
    return next((value for value in values if value), "")


def _count(spans: Iterable[ReadSpan], name: str) -> int | None:
    counts = [count for each in spans if (count := each.reading.usage.get(name)) is not None]
    return round(sum(counts)) if counts else None


def _cost(spans: Iterable[ReadSpan]) -> float | None:
    costs = [each.reading.cost for each in spans if each.reading.cost is not None]
    return float(sum(costs)) if costs else None
