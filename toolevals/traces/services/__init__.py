"""Everything that changes traces."""

from toolevals.traces.services.promoting import (
    PromotionRequest,
    promotion_draw,
    promotion_start,
    traces_promote,
)
from toolevals.traces.services.retention import traces_forget
from toolevals.traces.services.settings import trace_settings_update
from toolevals.traces.services.settling import trace_settle, traces_settle
from toolevals.traces.services.storing import Stored, spans_store
from toolevals.traces.services.tool_hours import tool_hours_count

__all__ = [
    "PromotionRequest",
    "Stored",
    "promotion_draw",
    "promotion_start",
    "spans_store",
    "tool_hours_count",
    "trace_settings_update",
    "trace_settle",
    "traces_forget",
    "traces_promote",
    "traces_settle",
]
