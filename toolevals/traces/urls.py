"""Pages of `toolevals.traces`."""

from __future__ import annotations

from django.urls import path

from toolevals.traces.views import promoting, settings, tools, traces

app_name = "traces"
urlpatterns = [
    path("traces/", traces.traces, name="traces"),
    path("traces.csv", traces.traces_csv, name="traces-csv"),
    path("traces/promote/", promoting.promote, name="promote"),
    path("traces/settings/", settings.trace_settings, name="settings"),
    path("traces/tools/", tools.tools, name="tools"),
    path("traces/tools.csv", tools.tools_csv, name="tools-csv"),
    path("traces/<uuid:trace>/", traces.trace, name="trace"),
    path("traces/<uuid:trace>/spans/<slug:span>/", traces.span, name="span"),
]
