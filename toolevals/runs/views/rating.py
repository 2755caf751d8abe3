"""Rate a judge's cases: one after the other, without its answers and without the others'."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from toolevals.grading.judging import Rubric
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.judging.calibration_forms import RatingForm, choices_of
from toolevals.runs.judging.shown_questions import shown_question
from toolevals.runs.models import CalibratedCase, Rating
from toolevals.runs.services.calibrating import case_rate
from toolevals.runs.views.calibrations import calibration_of
from toolevals.runs.views.one_by_one import case_named, refused, taken, too_late
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.acknowledgement import acknowledged

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
        return too_late(request, "That is no case of this calibration.", reverse("runs:calibration", args=arguments))

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
