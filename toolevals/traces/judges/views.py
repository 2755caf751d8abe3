"""Shows which judges are asked about traces, within which budget, and how that goes today."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Judge
from toolevals.traces.judges.forms import TraceJudgeChangeForm, TraceJudgeForm, TraceScoresForm
from toolevals.traces.judges.scores import SHARE, score_judges, trace_scores_use
from toolevals.traces.judges.services import trace_judge_set
from toolevals.traces.lists import JUDGES_OF_TRACES, judge_of_traces_lines
from toolevals.traces.models import TraceJudge
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "HEAD", "POST"])
def judges(request: ProjectRequest) -> HttpResponse:
    """List them with what they were asked today; by POST, have one more asked."""
    form = TraceJudgeForm(request.POST or None, project=request.project)
    if request.method == "POST" and form.is_valid() and _is_set(request, form.cleaned_data["judge"], form):
        return redirect("traces:judges", request.project.slug)
    return _judges_page(request, form, TraceScoresForm(project=request.project))


@require_POST
def scores(request: ProjectRequest) -> HttpResponse:
    """Have each of the four scores given that no judge gives so far."""
    form = TraceScoresForm(request.POST, project=request.project)
    if form.is_valid():
        try:
            asked = trace_scores_use(project=request.project, actor=request.user, like=form.cleaned_data["judge"])
        except InvalidDocument as error:
            form.add_problems(error)
        else:
            words = f"{len(asked)} scores are given from now on." if asked else "Every score has a judge already."
            messages.info(request, words)
            return redirect("traces:judges", request.project.slug)
    return _judges_page(request, TraceJudgeForm(project=request.project), form)


def _judges_page(request: ProjectRequest, form: TraceJudgeForm, scores_form: TraceScoresForm) -> HttpResponse:
    given = score_judges(TraceJudge.objects.in_project(request.project))
    context = {
        "form": form,
        "scores_form": scores_form,
        "scores": given,
        "scores_missing": sum(each.judge is None for each in given),
        "share": SHARE,
        "judges": TraceJudge.objects.in_project(request.project).with_today(),
    }
    return render(request, "traces/judges.html", context, status=422 if form.errors or scores_form.errors else 200)


@require_safe
def judges_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same table."""
    rows = TraceJudge.objects.in_project(request.project).with_today()
    return csv_file("judges-of-traces", JUDGES_OF_TRACES, judge_of_traces_lines(rows))


@require_http_methods(["GET", "HEAD", "POST"])
def judge(request: ProjectRequest, trace_judge: UUID) -> HttpResponse:
    """Show how one is asked; by POST, change it."""
    row = get_object_or_404(TraceJudge.objects.in_project(request.project), judge=trace_judge)
    form = TraceJudgeChangeForm(request.POST or None, initial=TraceJudgeChangeForm.values(row))
    if request.method == "POST" and form.is_valid() and _is_set(request, row.judge, form):
        return redirect("traces:judges", request.project.slug)
    return render(request, "traces/judge.html", {"form": form, "trace_judge": row}, status=422 if form.errors else 200)


def _is_set(request: ProjectRequest, judge: Judge, form: TraceJudgeChangeForm) -> bool:
    try:
        trace_judge_set(project=request.project, actor=request.user, judge=judge, request=form.request())
    except InvalidDocument as error:
        form.add_problems(error)
        return False
    messages.info(request, "Saved. It holds for traces that come from now on.")
    return True
