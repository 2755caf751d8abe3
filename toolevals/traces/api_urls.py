"""Lists the addresses of `toolevals.traces` in the REST interface, below a project."""

from __future__ import annotations

from django.urls import path

from toolevals.traces.judges import api as judges
from toolevals.traces.policies import api as policies
from toolevals.traces.production import api as production
from toolevals.traces.promotion import api as promotions
from toolevals.traces.reading import api as reading

app_name = "traces-api"
urlpatterns = [
    path("traces/", reading.Traces.as_view(), name="traces"),
    path("traces/tools/", production.Tools.as_view(), name="tools"),
    path("traces/tools/changes/", production.ToolChanges.as_view(), name="tool-changes"),
    path("traces/costs/", production.Costs.as_view(), name="costs"),
    path("traces/rules/", production.Rules.as_view(), name="rules"),
    path("traces/judges/", judges.TraceJudges.as_view(), name="judges"),
    path("traces/judges/scores/", judges.TraceScores.as_view(), name="scores"),
    path("traces/judges/<uuid:trace_judge>/", judges.TraceJudgeDetail.as_view(), name="judge"),
    path("traces/policies/", policies.TracePolicies.as_view(), name="policies"),
    path("traces/verdicts/", production.Verdicts.as_view(), name="verdicts"),
    path("traces/promotions/", promotions.Promotions.as_view(), name="promotions"),
    path("traces/promotions/<uuid:promotion>/", promotions.PromotionDetail.as_view(), name="promotion"),
    path("traces/promotions/<uuid:promotion>/make/", promotions.PromotionMake.as_view(), name="promotion-make"),
    path("traces/promotions/<uuid:promotion>/drop/", promotions.PromotionDrop.as_view(), name="promotion-drop"),
    path("traces/promotions/<uuid:promotion>/undo/", promotions.PromotionUndo.as_view(), name="promotion-undo"),
    path("traces/today/", promotions.Today.as_view(), name="today"),
    path("traces/schedules/", promotions.Schedules.as_view(), name="schedules"),
    path("traces/schedules/<uuid:schedule>/", promotions.ScheduleDetail.as_view(), name="schedule"),
    path("traces/<uuid:trace>/", reading.TraceDetail.as_view(), name="trace"),
]
