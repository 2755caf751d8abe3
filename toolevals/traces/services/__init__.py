"""Makes every change of traces."""

from toolevals.traces.services.asking_today import TodayRequest, live_agents, today_runs, today_start
from toolevals.traces.services.judging import traces_judge
from toolevals.traces.services.promoting import (
    PromotionRequest,
    promotion_drop,
    promotion_make,
    promotion_start,
)
from toolevals.traces.services.promotion_drawing import promotion_draw
from toolevals.traces.services.promotion_making import traces_promote
from toolevals.traces.services.promotion_schedules import (
    ScheduleRequest,
    promotions_due,
    schedule_add,
    schedule_remove,
    schedule_switch,
)
from toolevals.traces.services.promotion_undoing import promotion_delete, promotion_undo
from toolevals.traces.services.retention import traces_forget
from toolevals.traces.services.settings import trace_settings_update
from toolevals.traces.services.settling import trace_settle, traces_settle
from toolevals.traces.services.storing import Stored, spans_store
from toolevals.traces.services.trace_hours import trace_hours_count
from toolevals.traces.services.trace_judges import TraceJudgeRequest, trace_judge_set, trace_judges_possible

__all__ = [
    "PromotionRequest",
    "ScheduleRequest",
    "Stored",
    "TodayRequest",
    "TraceJudgeRequest",
    "live_agents",
    "promotion_delete",
    "promotion_draw",
    "promotion_drop",
    "promotion_make",
    "promotion_start",
    "promotion_undo",
    "promotions_due",
    "schedule_add",
    "schedule_remove",
    "schedule_switch",
    "spans_store",
    "today_runs",
    "today_start",
    "trace_hours_count",
    "trace_judge_set",
    "trace_judges_possible",
    "trace_settings_update",
    "trace_settle",
    "traces_forget",
    "traces_judge",
    "traces_promote",
    "traces_settle",
]
