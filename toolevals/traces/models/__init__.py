"""Store what agents send from production, and what is made of it."""

from toolevals.traces.intake.models import SpanChunk, ToolUse, Trace, TraceSettings
from toolevals.traces.judges.models import (
    QuestionState,
    SpanKind,
    SpanVerdict,
    TraceJudge,
    TraceJudgeDay,
    TraceQuestion,
)
from toolevals.traces.policies.models import TracePolicy
from toolevals.traces.production.models import TraceHour
from toolevals.traces.promotion.models import (
    Period,
    Promotion,
    PromotionSchedule,
    PromotionState,
    TraceExample,
    Turns,
)

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
    "TracePolicy",
    "TraceQuestion",
    "TraceSettings",
    "Turns",
]
