"""Show a judge's page, its calibrations, and the results of each."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.grading.judging import Rubric
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.drift.results import counts_of
from toolevals.runs.judge_calibrations.forms import CalibrationForm, JudgeSettingsForm, RatingForm, choices_of
from toolevals.runs.judge_calibrations.reading import ThumbCounts, Wanted, case_page, figures_of, gradings_judged_by
from toolevals.runs.judge_calibrations.results import SETS, progress_of, results_of
from toolevals.runs.judge_calibrations.services import calibration_begin, calibration_close, case_rate
from toolevals.runs.judge_calibrations.tables import COLUMNS, rating_rows
from toolevals.runs.judging.blindness import names_raters, shows_results
from toolevals.runs.judging.forms import problem_texts
from toolevals.runs.judging.judge_reliability import standings_of
from toolevals.runs.judging.services import judge_change
from toolevals.runs.judging.shown_questions import shown_question
from toolevals.runs.models import CalibratedCase, DriftCheck, Judge, JudgeCalibration, ProbeCheck, Rating
from toolevals.runs.one_by_one import case_named, refused, taken, too_late
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.idempotency.submissions import acknowledged
from toolevals.workspace.models import Role
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "HEAD", "POST"])
def judge(request: ProjectRequest, judge: UUID) -> HttpResponse:
    """Show a judge: how far it can be trusted, calibrations and checks; by POST, change what may change of it."""
    found = _judge(request, judge)
    form = JudgeSettingsForm(request.POST) if request.method == "POST" else JudgeSettingsForm.of(found)
    if request.method == "POST" and form.is_valid():
        try:
            judge_change(judge=found, actor=request.user, **form.changes())
            return redirect("runs:judge", request.project.slug, found.pk)
        except InvalidDocument as error:
            form.add_error(None, list(problem_texts(error)))
    rows = JudgeCalibration.objects.in_project(request.project).filter(
        judge__rubric=found.rubric_id, judge__model=found.model
    )
    page = page_of(rows.with_progress(), request.GET.get("before", ""), 20)
    checks = DriftCheck.objects.in_project(request.project).of_judge(found).with_spending()
    drifts = page_of(checks, request.GET.get("drift_before", ""), 20)
    context = {
        "judge": found,
        "standing": standings_of([found])[found.pk],
        "thumbs": ThumbCounts.of(found),
        "form": form,
        "page": page,
        "rows": [(row, figures_of(row)) for row in page.rows],
        "probe_checks": page_of(
            ProbeCheck.objects.in_project(request.project).of_judge(found).with_spending(),
            request.GET.get("probes_before", ""),
            10,
        ),
        "drifts": drifts,
        "drift_rows": [(check, counts_of(check)) for check in drifts.rows],
    }
    return render(request, "runs/judge.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def calibration_new(request: ProjectRequest, judge: UUID) -> HttpResponse:
    """Show the form; by POST, draw the cases of a calibration."""
    judge_row = _judge(request, judge)
    begun = {name: request.GET[name] for name in ("grading", "thumbs") if name in request.GET}
    form = CalibrationForm(judge_row, gradings_judged_by(judge_row), request.POST or None, initial=begun)
    if request.method == "POST" and form.is_valid():
        try:
            made = calibration_begin(request=form.request(), actor=request.user)
            return redirect("runs:calibration", request.project.slug, made.pk)
        except InvalidDocument as error:
            form.add_problems(error)
    context = {"judge": judge_row, "form": form}
    return render(request, "runs/calibration_new.html", context, status=422 if form.errors else 200)


@require_safe
def calibration(request: ProjectRequest, calibration: UUID) -> HttpResponse:
    """Show how far a calibration is; once it is closed, what came of it."""
    row = calibration_of(request, calibration)
    context: dict[str, Any] = {
        "calibration": row,
        "judge": row.judge,
        "own": Rating.objects.filter(case__calibration=row, rater=request.user).count(),
        "left": row.cases.left_for(request.user).count() if request.role >= Role.REVIEWER else 0,
        "wanted_ratings": row.size * row.raters,
        "lost": row.cases.filter(questions=[]).count(),
        "people": progress_of(row) if names_raters(request.role) else (),
        "named": names_raters(request.role),
        "may_rate": request.role >= Role.REVIEWER,
    }
    if shows_results(row):
        choice = Wanted.read(request.GET)
        results = results_of(row, choice.chosen)
        context |= {
            "results": results,
            "standing": standings_of([row.judge])[row.judge_id],
            "wanted": choice,
            "sets": SETS if row.cases.filter(by_thumb=True).exists() else SETS[:2],
            "thumbs": ThumbCounts.of(row.judge),
            "listed": case_page(results.cases, choice, request.GET.get("page", "")),
        }
    return render(request, "runs/calibration.html", context)


@require_POST
def calibration_end(request: ProjectRequest, calibration: UUID) -> HttpResponse:
    """Close a calibration with the ratings that it has."""
    row = calibration_of(request, calibration)
    try:
        calibration_close(calibration=row, actor=request.user)
    except InvalidDocument as error:
        messages.error(request, error.problems[0].message)
    return redirect("runs:calibration", request.project.slug, row.pk)


@require_safe
def calibration_csv(request: ProjectRequest, calibration: UUID) -> StreamingHttpResponse:
    """Send a line for each rating that this person may see."""
    row = calibration_of(request, calibration)
    rows = rating_rows(row, request.user, request.role)
    return csv_file(f"calibration-{row.pk}", COLUMNS, rows)


def calibration_of(request: ProjectRequest, pk: UUID) -> Any:
    """Return a calibration of the project with its progress. Raises Http404."""
    rows = JudgeCalibration.objects.in_project(request.project).with_progress()
    return get_object_or_404(rows, pk=pk)


def _judge(request: ProjectRequest, pk: UUID) -> Any:
    return get_object_or_404(Judge.objects.in_project(request.project).select_related("project"), pk=pk)


# What a key does -> the keys.
KEYMAP = (("The values, the best first", ("1", "2", "3")), ("Cannot tell", ("0",)), ("A note", ("N",)))


@require_http_methods(["GET", "HEAD", "POST"])
@acknowledged
def rate(request: ProjectRequest, calibration: UUID) -> HttpResponse:
    """Show the next case that this person may rate; by POST, keep a rating and go on.

    A script is told where to go on; 422 what is wrong, 409 that the rating comes too late.
    """
    row = calibration_of(request, calibration)
    if request.method != "POST":
        return _shown(request, row, row.cases.left_for(request.user).first(), RatingForm())
    arguments = [request.project.slug, row.pk]
    rows = CalibratedCase.objects.ratable().select_related("calibration__judge__rubric", "calibration__judge__project")
    case, form = case_named(rows.filter(calibration=row), request.POST.get("case")), RatingForm(request.POST)
    if case is None:
        return too_late(request, "That is not a case of this calibration.", reverse("runs:calibration", args=arguments))

    def again() -> HttpResponse:
        return _shown(request, row, case, form, status=422)

    if not form.is_valid():
        return refused(request, form, again)
    try:
        case_rate(case=case, actor=request.user, **form.cleaned_data)
    except InvalidDocument as error:
        problem = error.problems[0]
        if problem.pointer == "/value":
            form.add_error("value", f"The value {problem.message}.")
            return refused(request, form, again)
        return too_late(request, problem.message, reverse("runs:rate", args=arguments))
    return taken(request, reverse("runs:rate", args=arguments))


def _shown(
    request: ProjectRequest, calibration: Any, case: CalibratedCase | None, form: RatingForm, status: int = 200
) -> HttpResponse:
    if case is None:
        return redirect("runs:calibration", request.project.slug, calibration.pk)
    rubric = Rubric.from_document(calibration.judge.rubric.document)
    own = Rating.objects.filter(case__calibration=calibration, rater=request.user).count()
    context = {
        "calibration": calibration,
        "case": case,
        "rubric": rubric,
        "questions": [shown_question(inputs) for inputs in case.questions],
        "choices": choices_of(rubric.scale) if rubric.scale.values else (),
        "form": form,
        "own": own,
        "of": own + calibration.cases.left_for(request.user).count(),
        "keymap": KEYMAP,
        "address": reverse("runs:rate", args=[request.project.slug, calibration.pk]),
        "whole_url": reverse("runs:calibration", args=[request.project.slug, calibration.pk]),
        "late_title": "This rating could not be taken",
    }
    return render(request, "runs/rate.html", context, status=status)
