"""Start a run of an agent that is asked: first its estimated cost, then the run."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from toolevals.agents.connectors import CONNECTORS, DEFAULT
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.live.estimate import Estimate, estimate_of
from toolevals.runs.live.forms import LiveForm
from toolevals.runs.runs.requesting import live_request_read, run_request_live
from toolevals.runs.runs.views import initial_of
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "HEAD", "POST"])
def live(request: ProjectRequest) -> HttpResponse:
    """Show the form; by POST, what the run takes at least, and once that was seen, start it."""
    form = LiveForm(request.project, _connector(request), request.POST or None, initial=initial_of(request))
    estimate = None
    if request.method == "POST" and form.is_valid():
        try:
            if "start" in request.POST:
                run = run_request_live(project=request.project, actor=request.user, request=form.request())
                return redirect("reports:run", request.project.slug, run.number)
            estimate = _estimate(form)
        except InvalidDocument as error:
            form.add_problems(error)
    context = {
        "form": form,
        "connectors": CONNECTORS,
        "estimate": estimate,
        "experiments": form.experiments,
        "has_versions": form.fields["dataset_version"].queryset.exists(),  # type: ignore[attr-defined]
    }
    return render(request, "runs/live.html", context, status=422 if form.errors else 200)


def _estimate(form: LiveForm) -> Estimate:
    asked = form.request()
    _, settings = live_request_read(asked)
    return estimate_of(asked.dataset_version, asked.conversations, form.about, settings.prices)


def _connector(request: ProjectRequest) -> str:
    """Return the connector that the address names; the table's default where it names none that there is."""
    named = request.GET.get("connector", "")
    return named if named in CONNECTORS else DEFAULT
