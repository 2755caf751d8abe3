"""Makes and changes the schedules that make examples of new traces."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from toolevals.traces.filters import TraceFilter
from toolevals.traces.models import PromotionSchedule
from toolevals.traces.promotion_forms import ScheduleForm
from toolevals.traces.services.promotion_schedules import (
    ScheduleRequest,
    schedule_add,
    schedule_remove,
    schedule_switch,
)
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def schedule_new(request: ProjectRequest) -> HttpResponse:
    """Ask when, how many and of which dataset; the address says of which traces. By POST, begin."""
    trace_filter = TraceFilter.of(request.GET)
    form = ScheduleForm(request.POST or None, project=request.project)
    if request.method == "POST" and form.is_valid():
        schedule_add(request=ScheduleRequest(wanted=trace_filter.said, **form.cleaned_data), actor=request.user)
        messages.info(request, "Examples are made on this schedule from now on.")
        return redirect("traces:promotions", request.project.slug)
    said = {name: value for name, value in trace_filter.said.items() if name not in ("since", "until")}
    return render(request, "traces/schedule.html", {"form": form, "said": said}, status=422 if form.errors else 200)


@require_POST
def schedule_act(request: ProjectRequest, schedule: UUID) -> HttpResponse:
    """Switch a schedule on or off, or remove it, as the button says."""
    found = get_object_or_404(PromotionSchedule.objects.in_project(request.project), pk=schedule)
    if request.POST.get("act") == "remove":
        schedule_remove(schedule=found, actor=request.user)
        messages.info(request, "The schedule is removed. What it has made stays.")
    elif request.POST.get("act") in ("on", "off"):
        schedule_switch(schedule=found, actor=request.user, is_on=request.POST["act"] == "on")
    return redirect("traces:promotions", request.project.slug)
