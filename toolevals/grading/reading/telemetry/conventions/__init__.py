"""Lists the conventions that spans follow in one table: a mapper for each, chosen by what a span holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from toolevals.grading.reading.telemetry.conventions import frameworks, genai, openinference, openllmetry
from toolevals.grading.reading.telemetry.reading import Attributes, SpanReading
from toolevals.grading.reading.telemetry.spans import TelemetrySpan


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
    Convention(openinference.NAME, "OpenInference", openinference.signs, openinference.read),
    Convention(openllmetry.NAME, "OpenLLMetry", openllmetry.signs, openllmetry.read),
    Convention(genai.NAME, "OpenTelemetry GenAI", genai.signs, genai.read),
)
# A span of no convention, such as that of a web request.
NONE = "none"


def reading_of(span: TelemetrySpan) -> SpanReading:
    """Return what a span says, with the names of its attributes that no reader knows."""
    attributes = Attributes(span)
    for convention in CONVENTIONS:
        if convention.signs(attributes):
            return replace(convention.read(attributes), unread=attributes.unread())
    return SpanReading(NONE, "other", unread=attributes.unread())
