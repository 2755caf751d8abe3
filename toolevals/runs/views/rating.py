"""Rating a judge's cases: one after the other, without its answers and without the others'."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from toolevals.grading.judging import Rubric
from toolevals.grading.problems import InvalidDocument
from toolevals.runs.judging.calibration_forms import RatingForm, choices_of
from toolevals.runs.judging.shown_questions import shown_question
from toolevals.runs.models import CalibratedCase, Rating
from toolevals.runs.services import case_rate
from toolevals.runs.views.calibrations import calibration_of
from toolevals.workspace.requests import ProjectRequest, is_by_script
from toolevals.workspace.views.acknowledgement import acknowledged

# What a key does -> the keys.
KEYMAP = (("The values, the best first", ("1", "2", "3")), ("Cannot tell", ("0",)), ("A note", ("N",)))


@require_http_methods(["GET", "HEAD", "POST"])
@acknowledged
def rate(request: ProjectRequest, calibration: UUID) -> HttpResponse:
    """Show the next case that this person may rate; by POST, keep a rating and go on.

    A script is told where to go on; 422 what is wrong, 409 that the rating comes too late.
    """
    found = calibration_of(request, calibration)
    if request.method != "POST":
        return _shown(request, found, found.cases.left_for(request.user).first(), RatingForm())
    case, form = _case(found, request.POST.get("case", "")), RatingForm(request.POST)
    if case is None:
        return _too_late(request, found, "That is no case of this calibration.", to="runs:calibration")
    if not form.is_valid():
        return _refused(request, found, case, form)
    try:
        case_rate(case=case, actor=request.user, **form.cleaned_data)
    except InvalidDocument as error:
        problem = error.problems[0]
        if problem.pointer == "/value":
            form.add_error("value", f"The value {problem.message}.")
            return _refused(request, found, case, form)
        return _too_late(request, found, problem.message, to="runs:rate")
    url = reverse("runs:rate", args=[request.project.slug, found.pk])
    return HttpResponse(headers={"HX-Push-Url": url}) if is_by_script(request) else redirect(url)


def _refused(request: ProjectRequest, calibration: Any, case: CalibratedCase, form: RatingForm) -> HttpResponse:
    if not is_by_script(request):
        return _shown(request, calibration, case, form, status=422)
    problems = [{"field": name, "message": text} for name, texts in form.errors.items() for text in texts]
    return JsonResponse({"problems": problems}, status=422)


def _too_late(request: ProjectRequest, calibration: Any, words: str, *, to: str) -> HttpResponse:
    url = reverse(to, args=[request.project.slug, calibration.pk])
    if is_by_script(request):
        return JsonResponse({"message": words, "url": url}, status=409)
    messages.error(request, words)
    return redirect(url)


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
    }
    return render(request, "runs/rate.html", context, status=status)


def _case(calibration: Any, named: str) -> CalibratedCase | None:
    try:
        pk = UUID(named)
    except ValueError:
        return None
    rows = CalibratedCase.objects.ratable().select_related("calibration__judge__rubric", "calibration__judge__project")
    return rows.filter(calibration=calibration, pk=pk).first()
