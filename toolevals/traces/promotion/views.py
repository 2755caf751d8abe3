"""Shows how traces become examples: by a sample, by a schedule, or with a live agent that is asked the same today."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from labeling.errors import InvalidAct
from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.models import Promotion, PromotionSchedule, PromotionState, Trace, Turns
from toolevals.traces.promotion.asking_today import TodayRequest, today_start
from toolevals.traces.promotion.forms import PromotionForm, ScheduleForm, TodayForm
from toolevals.traces.promotion.page import TURNS_SHOWN, asked_words, is_told, made_examples, planned_turns
from toolevals.traces.promotion.schedules import (
    ScheduleRequest,
    schedule_add,
    schedule_remove,
    schedule_switch,
)
from toolevals.traces.promotion.services import (
    PromotionRequest,
    cut_turns,
    promotion_drop,
    promotion_label,
    promotion_make,
    promotion_start,
    promotion_undo,
)
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.models import Job
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest, page_number

_UNDONE = (PromotionState.MADE, PromotionState.MAKING)


@require_http_methods(["GET", "POST"])
def promote(request: ProjectRequest) -> HttpResponse:
    """Ask for the dataset and the sample; by POST, begin the job, with `look` only to show its texts first."""
    trace_filter, trace = TraceFilter.of(request.GET), _trace(request)
    form = PromotionForm(request.POST or None, project=request.project, alone=trace is not None)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        asked = PromotionRequest(
            dataset=said["dataset"],
            wanted=trace_filter.said,
            count=said.get("count") or 1,
            seed=said.get("seed") or 0,
            traces=(trace.pk,) if trace else (),
            turns=said.get("turns") or Turns.EVERY,
            strata=said.get("strata") or ("calls",),
            shows_first="look" in request.POST,
        )
        promotion = promotion_start(request=asked, actor=request.user)
        return redirect("traces:promotion", request.project.slug, promotion.pk)
    context = {"form": form, "filters": trace_filter, "trace": trace}
    return render(request, "traces/promote.html", context, status=422 if form.errors else 200)


def _trace(request: ProjectRequest) -> Trace | None:
    asked = request.GET.get("trace", "")
    try:
        return get_object_or_404(Trace, project=request.project, pk=UUID(asked)) if asked else None
    except ValueError:
        return None


@require_safe
def promotions(request: ProjectRequest) -> HttpResponse:
    """List the samples, the newest first, and the schedules."""
    schedules = PromotionSchedule.objects.in_project(request.project)
    page = page_of(Promotion.objects.in_project(request.project), request.GET.get("before", ""))
    context = {
        "page": page,
        "rows": [(each, asked_words(each, request.user)) for each in page.rows],
        "schedules": [(each, is_told(each, request.user)) for each in schedules],
    }
    return render(request, "traces/promotions.html", context)


@require_safe
def promotion(request: ProjectRequest, promotion: UUID) -> HttpResponse:
    """Show one sample: how far it is, its texts before it is made, and what was made."""
    found = _promotion(request, promotion)
    planned = found.plan.get("new", []) if found.state == PromotionState.DRAWN else []
    pages = max(-(-len(planned) // TURNS_SHOWN), 1)
    page = min(max(page_number(request.GET.get("page", "1")), 1), pages)
    job = Job.objects.filter(pk=found.job_id).with_progress().first()
    context = {
        "promotion": found,
        "asked": asked_words(found, request.user),
        "job": job if job is not None and job.state != "succeeded" else None,
        "planned": len(planned),
        "cut": cut_turns(found),
        "turns": planned_turns(found, page) if planned else [],
        "number": page,
        "pages": pages,
        "examples": made_examples(found) if found.state == PromotionState.MADE else [],
        "may_undo": found.state in _UNDONE and not (job is not None and job.is_open),
    }
    return render(request, "traces/promotion.html", context)


@require_POST
def make(request: ProjectRequest, promotion: UUID) -> HttpResponse:
    """Make the examples of a sample whose texts were shown."""
    return _act(
        request,
        promotion,
        lambda found: promotion_make(promotion=found, actor=request.user, takes_cut="takes_cut" in request.POST),
    )


@require_POST
def drop(request: ProjectRequest, promotion: UUID) -> HttpResponse:
    """Drop a sample that nothing was made of."""
    return _act(request, promotion, lambda found: promotion_drop(promotion=found, actor=request.user))


@require_POST
def undo(request: ProjectRequest, promotion: UUID) -> HttpResponse:
    """Delete the examples of a sample, as long as no one has begun to label them."""
    return _act(request, promotion, lambda found: promotion_undo(promotion=found, actor=request.user))


@require_POST
def label(request: ProjectRequest, promotion: UUID) -> HttpResponse:
    """Make a batch of a sample's examples, once, and go on to label them."""
    found = _promotion(request, promotion)
    try:
        batch = promotion_label(promotion=found, actor=request.user)
    except InvalidAct as error:
        messages.error(request, str(error))
        return redirect("traces:promotion", request.project.slug, found.pk)
    return redirect(f"{reverse('labeling:label', args=[request.project.slug])}?batch={batch.pk}")


def _act(request: ProjectRequest, promotion: UUID, act: Callable[[Promotion], Promotion]) -> HttpResponse:
    found = _promotion(request, promotion)
    try:
        act(found)
    except InvalidAct as error:
        messages.error(request, str(error))
    return redirect("traces:promotion", request.project.slug, found.pk)


def _promotion(request: ProjectRequest, promotion: UUID) -> Promotion:
    rows = Promotion.objects.in_project(request.project).defer(None).select_related("dataset", "actor", "project")
    return get_object_or_404(rows, pk=promotion)


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
