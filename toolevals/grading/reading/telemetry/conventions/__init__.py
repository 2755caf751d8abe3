"""Lists the conventions that spans follow in one table: a mapper for each, chosen by what a span holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from toolevals.grading.reading.telemetry.conventions import frameworks, genai, logfire, openinference, openllmetry
from toolevals.grading.reading.telemetry.otlp import TelemetrySpan
from toolevals.grading.reading.telemetry.reading import (
    NUL_SHOWN,
    Attributes,
    SpanReading,
    is_partial,
    without_nul,
)
from toolevals.grading.values.problems import Problem, pointer_to


@dataclass(frozen=True, slots=True)
class Convention:
    """One convention: its name, what people call it, and how its spans are told and read."""

    name: str
    title: str
    signs: Callable[[Attributes], bool]
    read: Callable[[Attributes], SpanReading]


# In the order in which a span is shown to them: those of one framework first, the general ones last.
CONVENTIONS: tuple[Convention, ...] = (
    Convention(frameworks.AI_SDK, "AI SDK", frameworks.signs_ai_sdk, frameworks.read_ai_sdk),
    Convention(frameworks.ADK, "Google ADK", frameworks.signs_adk, frameworks.read_adk),
    Convention(frameworks.LANGSMITH, "LangSmith", frameworks.signs_langsmith, frameworks.read_langsmith),
    Convention(logfire.NAME, "Logfire", logfire.signs, logfire.read),
    Convention(openinference.NAME, "OpenInference", openinference.signs, openinference.read),
    Convention(openllmetry.NAME, "OpenLLMetry", openllmetry.signs, openllmetry.read),
    Convention(genai.NAME, "OpenTelemetry GenAI", genai.signs, genai.read),
)
# A span of no convention, such as that of a web request.
NONE = "none"


def reading_of(span: TelemetrySpan) -> SpanReading:
    """Return what a span says, with the names of its attributes that no reader knows, and what came damaged."""
    clean, nul = _without_nul(span)
    attributes = Attributes(clean)
    convention = next((each for each in CONVENTIONS if each.signs(attributes)), None)
    found = convention.read(attributes) if convention else SpanReading(NONE, "other")
    found = replace(found, unread=attributes.unread(), damage=(*attributes.damage(), *nul))
    return replace(found, is_partial=is_partial(found, span))


def _without_nul(span: TelemetrySpan) -> tuple[TelemetrySpan, list[Problem]]:
    """Return a span with what stands for NUL in its texts, and where it stood; the same span where they hold none."""
    attributes = without_nul(span.attributes)
    events = tuple(replace(each, attributes=without_nul(each.attributes)) for each in span.events)
    if attributes == span.attributes and events == span.events:
        return span, []
    changed = [("attributes", name) for name, value in span.attributes.items() if attributes.get(name) != value]
    changed += [("events", event.name) for event, clean in zip(span.events, events, strict=True) if event != clean]
    problems = [Problem(pointer_to(path), NUL_SHOWN) for path in changed]
    return replace(span, attributes=attributes, events=events), problems
