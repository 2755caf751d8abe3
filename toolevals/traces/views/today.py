"""Ask a live agent what production was asked, and show both."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.filters import TraceFilter
from toolevals.traces.promotion_forms import TodayForm
from toolevals.traces.services.asking_today import TodayRequest, today_start
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def today(request: ProjectRequest) -> HttpResponse:
    """Ask for agent and dataset; the address says of which traces. By POST, begin the job and show how far it is."""
    trace_filter = TraceFilter.of(request.GET)
    form = TodayForm(request.POST or None, project=request.project)
    if request.method == "POST" and form.is_valid():
        today_request = TodayRequest(wanted=trace_filter.said, **form.cleaned_data)
        try:
            job = today_start(request=today_request, actor=request.user, role=request.role)
            return redirect("workspace:job", request.project.slug, job.pk)
        except InvalidDocument as error:
            form.add_error(error.problems[0].pointer.removeprefix("/"), f"It {error.problems[0].message}.")
    context = {
        "form": form,
        "said": trace_filter.said,
        "has_agents": form.fields["agent"].queryset.exists(),  # type: ignore[attr-defined]
        "has_examples": form.fields["dataset"].queryset.exists(),  # type: ignore[attr-defined]
    }
    return render(request, "traces/today.html", context, status=422 if form.errors else 200)
