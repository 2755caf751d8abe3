"""Store what agents send from production, and what is made of it."""

from toolevals.traces.models.promotions import TraceExample
from toolevals.traces.models.settings import TraceSettings
from toolevals.traces.models.spans import Span, SpanChunk
from toolevals.traces.models.tool_uses import ToolUse
from toolevals.traces.models.traces import Trace
from toolevals.traces.models.verdicts import SpanVerdict

__all__ = ["Span", "SpanChunk", "SpanVerdict", "ToolUse", "Trace", "TraceExample", "TraceSettings"]
