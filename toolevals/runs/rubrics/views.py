"""Show the rubrics of a project: write one, and try it on ten cases before it is used."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.grading.judging import SHIPPED
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.files.judge_lists import RUBRICS, rubric_lines
from toolevals.runs.judging.services import rubric_add
from toolevals.runs.models import Rubric, Tryout
from toolevals.runs.rubrics.forms import RubricForm, TryoutForm, rubric_initial
from toolevals.runs.rubrics.results import COLUMNS, tried, tryout_rows
from toolevals.runs.rubrics.services import tryout_begin
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import untrashed
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest


@require_safe
def rubrics(request: ProjectRequest) -> HttpResponse:
    """List the rubrics: those that come with the program, and the project's own with their versions."""
    context = {
        "shipped": SHIPPED.values(),
        "page": page_of(_own(request), request.GET.get("before", "")),
        "tried": page_of(_tryouts(request), request.GET.get("tried_before", ""), 10),
    }
    return render(request, "runs/rubrics.html", context)


@require_safe
def rubrics_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the project's own rubrics, the newest first."""
    return csv_file("rubrics", RUBRICS, rubric_lines(rows_of(_own(request))))


@require_http_methods(["GET", "HEAD", "POST"])
def rubric_new(request: ProjectRequest) -> HttpResponse:
    """Show the form; by POST, try a rubric on ten cases, or keep it, or the next version of one."""
    form = RubricForm(request.POST or None, initial=_begun(request))
    tries = request.POST.get("act") == "try"
    wanted = {name: request.GET[name] for name in ("run", "thumbs") if name in request.GET}
    trial = TryoutForm(request.project, request.POST if tries else None, initial=wanted)
    if request.method == "POST" and form.is_valid() and (not tries or trial.is_valid()):
        try:
            if tries:
                begin_request = trial.request(form.document())
                made = tryout_begin(project=request.project, actor=request.user, request=begin_request)
                return redirect("runs:tryout", request.project.slug, made.pk)
            rubric_add(project=request.project, actor=request.user, document=form.document())
            return redirect("runs:rubrics", request.project.slug)
        except InvalidDocument as error:
            form.add_problems(error)
    refused = request.method == "POST"
    return render(request, "runs/rubric_new.html", {"form": form, "trial": trial}, status=422 if refused else 200)


@require_safe
def tryout(request: ProjectRequest, tryout: UUID) -> HttpResponse:
    """Show what came of trying a rubric."""
    row = _tryout(request, tryout)
    return render(request, "runs/tryout.html", {"tryout": row, "tried": tried(row)})


@require_POST
def tryout_keep(request: ProjectRequest, tryout: UUID) -> HttpResponse:
    """Keep the rubric that was tried, as the next version of its name."""
    row = _tryout(request, tryout)
    try:
        rubric_add(project=request.project, actor=request.user, document=row.document)
    except InvalidDocument as error:
        context = {"tryout": row, "tried": tried(row), "problems": [each.message for each in error.problems]}
        return render(request, "runs/tryout.html", context, status=422)
    return redirect("runs:rubrics", request.project.slug)


@require_safe
def tryout_csv(request: ProjectRequest, tryout: UUID) -> StreamingHttpResponse:
    """Send a line for each question of a try."""
    row = _tryout(request, tryout)
    return csv_file(f"tryout-{row.pk}", COLUMNS, tryout_rows(row))


def _own(request: ProjectRequest) -> Any:
    return Rubric.objects.in_project(request.project).filter(is_shipped=False)


def _begun(request: ProjectRequest) -> dict[str, Any] | None:
    """Return what the form begins with: a rubric that was tried, kept or shipped, if the address names one."""
    if (said := request.GET.get("shipped", "")) in SHIPPED:
        # Its name stays its own.
        return {**rubric_initial(SHIPPED[said].to_document()), "name": f"my_{said}"[:50]}
    for name, rows in (("tryout", _tryouts(request)), ("rubric", Rubric.objects.in_project(request.project))):
        try:
            key = UUID(request.GET.get(name, ""))
        except ValueError:
            continue
        upload: Any = get_object_or_404(rows, pk=key)
        return rubric_initial(upload.document)
    return None


def _tryouts(request: ProjectRequest) -> Any:
    related = "judge", "grading__run", "job"
    return (
        Tryout.objects.filter(untrashed("grading__run"), project=request.project)
        .select_related(*related)
        .order_by("-pk")
    )


def _tryout(request: ProjectRequest, pk: UUID) -> Any:
    return get_object_or_404(_tryouts(request), pk=pk)
