"""Pages of `toolevals.runs`."""

from __future__ import annotations

from django.urls import path

from toolevals.runs.views import live, new, runs, subjects

app_name = "runs"
urlpatterns = [
    path("runs/", runs.runs, name="runs"),
    path("runs/new/", new.new, name="new"),
    path("runs/live/", live.live, name="live"),
    path("runs/upload/", new.upload, name="upload"),
    path("runs/<int:number>/cancel/", runs.cancel, name="run-cancel"),
    path("runs/<int:number>/pause/", runs.pause, name="run-pause"),
    path("runs/<int:number>/resume/", runs.resume, name="run-resume"),
    path("runs/<int:number>/retry/", runs.retry, name="run-retry"),
    path("runs/<int:number>/regrade/", runs.regrade, name="run-regrade"),
    path("subjects/", subjects.subjects, name="subjects"),
    path("experiments/", subjects.experiments, name="experiments"),
]
