"""Store what agents send from production, and what is made of it."""

from toolevals.traces.models.judges import (
    QuestionState,
    SpanKind,
    SpanVerdict,
    TraceJudge,
    TraceJudgeDay,
    TraceQuestion,
)
from toolevals.traces.models.promotions import (
    Period,
    Promotion,
    PromotionSchedule,
    PromotionState,
    TraceExample,
    Turns,
)
from toolevals.traces.models.settings import TraceSettings
from toolevals.traces.models.trace_hours import TraceHour
from toolevals.traces.models.traces import SpanChunk, ToolUse, Trace

__all__ = [
    "Period",
    "Promotion",
    "PromotionSchedule",
    "PromotionState",
    "QuestionState",
    "SpanChunk",
    "SpanKind",
    "SpanVerdict",
    "ToolUse",
    "Trace",
    "TraceExample",
    "TraceHour",
    "TraceJudge",
    "TraceJudgeDay",
    "TraceQuestion",
    "TraceSettings",
    "Turns",
]
