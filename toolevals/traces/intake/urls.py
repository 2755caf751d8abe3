"""Lists the addresses that take traces and logs. Their paths are OTLP's: senders add them to their endpoint."""

from __future__ import annotations

from django.urls import path

from toolevals.traces.intake import views as intake

app_name = "traces-intake"
urlpatterns = [
    path("traces", intake.traces, name="traces"),
    path("logs", intake.logs, name="logs"),
]
