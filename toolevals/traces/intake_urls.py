"""The address that takes traces. Its path is OTLP's: senders add it to the endpoint that they are given."""

from __future__ import annotations

from django.urls import path

from toolevals.traces.views import intake

app_name = "traces-intake"
urlpatterns = [path("traces", intake.traces, name="traces")]
