"""Lists the addresses of the pages of `toolevals.traces`."""

from __future__ import annotations

from django.urls import path

from toolevals.traces.intake import views as intake
from toolevals.traces.judges import views as judges
from toolevals.traces.policies import views as policies
from toolevals.traces.production import views as production
from toolevals.traces.promotion import views as promotion
from toolevals.traces.reading import views as reading

app_name = "traces"
urlpatterns = [
    path("traces/", reading.traces, name="traces"),
    path("traces.csv", reading.traces_csv, name="traces-csv"),
    path("traces/verdicts.csv", production.verdicts_csv, name="verdicts-csv"),
    path("traces/verdicts.jsonl", production.verdicts_jsonl, name="verdicts-jsonl"),
    path("traces/promote/", promotion.promote, name="promote"),
    path("traces/examples/", promotion.promotions, name="promotions"),
    path("traces/examples/schedule/", promotion.schedule_new, name="schedule-new"),
    path("traces/examples/schedules/<uuid:schedule>/", promotion.schedule_act, name="schedule"),
    path("traces/examples/<uuid:promotion>/", promotion.promotion, name="promotion"),
    path("traces/examples/<uuid:promotion>/make/", promotion.make, name="promotion-make"),
    path("traces/examples/<uuid:promotion>/drop/", promotion.drop, name="promotion-drop"),
    path("traces/examples/<uuid:promotion>/undo/", promotion.undo, name="promotion-undo"),
    path("traces/examples/<uuid:promotion>/label/", promotion.label, name="promotion-label"),
    path("traces/today/", promotion.today, name="today"),
    path("traces/settings/", intake.trace_settings, name="settings"),
    path("traces/judges/", judges.judges, name="judges"),
    path("traces/judges.csv", judges.judges_csv, name="judges-csv"),
    path("traces/judges/scores/", judges.scores, name="scores"),
    path("traces/judges/<uuid:trace_judge>/", judges.judge, name="judge"),
    path("traces/policies/", policies.policies, name="policies"),
    path("traces/policies.csv", policies.policies_csv, name="policies-csv"),
    path("traces/costs/", production.costs, name="costs"),
    path("traces/costs.csv", production.costs_csv, name="costs-csv"),
    path("traces/rules/", production.rules, name="rules"),
    path("traces/rules.csv", production.rules_csv, name="rules-csv"),
    path("traces/tools/", production.tools, name="tools"),
    path("traces/tools.csv", production.tools_csv, name="tools-csv"),
    path("traces/tools/changes.csv", production.tool_changes_csv, name="tool-changes-csv"),
    path("traces/<uuid:trace>/", reading.trace, name="trace"),
    path("traces/<uuid:trace>/spans/<slug:span>/", reading.span, name="span"),
]
