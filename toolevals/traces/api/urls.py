"""The REST interface of `toolevals.traces`, below a project."""

from __future__ import annotations

from django.urls import path

from toolevals.traces.api import views

app_name = "traces-api"
urlpatterns = [
    path("traces/", views.Traces.as_view(), name="traces"),
    path("traces/tools/", views.Tools.as_view(), name="tools"),
    path("traces/<uuid:trace>/", views.TraceDetail.as_view(), name="trace"),
]
