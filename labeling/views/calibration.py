"""Show calibration rounds: the list, open and close one, its results, and one example's answers side by side.

The answers to one example are compared with its gold, part by part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.blindness import may_compare_calibration
from labeling.calibration.choosing import proposed_names
from labeling.calibration.export import COLUMNS, answer_rows
from labeling.calibration.progress import finished_counts, progress_in
from labeling.calibration.results import ItemResult, Split, results_of
from labeling.conversation import read_conversation
from labeling.conversation.folding import folded
from labeling.conversation.input_text import snippet
from labeling.errors import InvalidAct
from labeling.expectations.comparison import Comparison, compare_answers
from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.forms.calibration import CalibrationForm
from labeling.models import CalibrationRound, Dataset
from labeling.queue.waiting import to_calibrate
from labeling.services import calibration as services
from labeling.views.conversation_parts import parts_asked
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Role
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """Answers of one meaning; `comparison` has the answer on the left and the gold on the right."""

    letter: str
    split: Split
    words: ExpectationWords | None
    comparison: Comparison | None


def compared(result: ItemResult) -> list[ComparedAnswer]:
    """Return the answers to an example, lettered; those that mean what the gold does are not compared with it."""
    return [
        ComparedAnswer(
            letter=_letter(place),
            split=split,
            words=expectation_words(split.said.expectation) if split.said.expectation else None,
            comparison=None if split.is_gold else compare_answers(split.said, result.gold),
        )
        for place, split in enumerate(result.splits)
    ]


def _letter(place: int) -> str:
    """Return A to Z, then A2, B2 and so on."""
    turn, letter = divmod(place, 26)
    return chr(ord("A") + letter) + (str(turn + 1) if turn else "")


@require_http_methods(["GET", "POST"])
def calibrations(request: ProjectRequest, dataset: str) -> HttpResponse:
    """List a dataset's rounds; by POST, by adjudicators, open one, or only fill a proposal into the form."""
    dataset_row = _dataset(request, dataset)
    form = CalibrationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if "propose" in request.POST:
            form = form.proposing(
                proposed_names(dataset_row, form.cleaned_data["size"], seed=form.cleaned_data["name"])
            )
        else:
            try:
                opened = services.calibration_open(dataset=dataset_row, actor=request.user, **form.cleaned_data)
                return redirect("labeling:calibration", request.project.slug, dataset_row.slug, opened.pk)
            except InvalidAct as error:
                form.add_error(None, str(error))
            except InvalidDocument as error:
                form.add_error(None, [problem.message for problem in error.problems])
    rounds = dataset_row.calibrations.with_progress(request.user).select_related("actor")
    page = page_of(rounds, request.GET.get("before", ""))
    may_own = request.role >= Role.OWNER
    finished = finished_counts(page.rows, dataset_row.project) if may_own else {}
    context = {
        "dataset": dataset_row,
        "here": "calibration",
        "form": form,
        "page": page,
        "rows": [(one, finished.get(one.pk)) for one in page.rows],
        "may_own": may_own,
    }
    return render(request, "labeling/calibrations.html", context, status=422 if form.errors else 200)


@require_GET
def calibration_waiting(request: ProjectRequest) -> HttpResponse:
    """Go to the round that waits for the person who asks."""
    waiting = to_calibrate(request.project, request.user)
    if waiting is None:
        messages.info(request, "No calibration round waits for you.")
        return redirect("labeling:datasets", request.project.slug)
    return redirect("labeling:calibration", request.project.slug, waiting.dataset.slug, waiting.pk)


@require_GET
def calibration(request: ProjectRequest, dataset: str, calibration: UUID) -> HttpResponse:
    """Show how far a round is, and, to those who have answered it or once it is closed, what came of it."""
    round_row = _round(request, dataset, calibration)
    progress = progress_in(round_row, request.user, request.role)
    context: dict[str, Any] = {
        "dataset": round_row.dataset,
        "here": "calibration",
        "calibration": round_row,
        "progress": progress,
        "left": [one for one in progress if not one.is_finished],
        "may_own": request.role >= Role.OWNER,
    }
    if may_compare_calibration(round_row, request.user):
        results = results_of(round_row, request.user, request.role)
        context["results"] = results
        context["rows"] = [(one, snippet(one.item.revision.input)) for one in results.items]
    return render(request, "labeling/calibration.html", context)


@require_POST
def calibration_close(request: ProjectRequest, dataset: str, calibration: UUID) -> HttpResponse:
    """End a round."""
    round_row = services.calibration_close(calibration=_round(request, dataset, calibration), actor=request.user)
    return redirect("labeling:calibration", request.project.slug, round_row.dataset.slug, round_row.pk)


@require_GET
def calibration_csv(request: ProjectRequest, dataset: str, calibration: UUID) -> HttpResponseBase:
    """Send every answer that the results show, a line each."""
    round_row = _round(request, dataset, calibration)
    try:
        rows = list(answer_rows(round_row, request.user, request.role))
    except InvalidAct as error:
        return _first_answer(request, round_row, error)
    return csv_file(f"{round_row.dataset.slug}-calibration", COLUMNS, rows)


@require_GET
def calibration_item(request: ProjectRequest, dataset: str, calibration: UUID, item: UUID) -> HttpResponse:
    """Show what was said of one example, part by part next to the gold."""
    round_row = _round(request, dataset, calibration)
    try:
        results = results_of(round_row, request.user, request.role)
    except InvalidAct as error:
        return _first_answer(request, round_row, error)
    places = {one.item.pk: place for place, one in enumerate(results.items)}
    if item not in places:
        raise Http404
    place = places[item]
    result = results.items[place]
    revision = result.item.revision
    if (parts := parts_asked(request, revision.input)) is not None:
        return parts
    context = {
        "dataset": round_row.dataset,
        "calibration": round_row,
        "result": result,
        "compared": compared(result),
        "gold": revision.gold,
        "gold_words": expectation_words(revision.gold.expectation) if revision.gold else None,
        "example": revision.example,
        "conversation": folded(read_conversation(revision.input)),
        "parts_url": request.path,
        "place": place + 1,
        "total": len(results.items),
        "before": results.items[place - 1].item.pk if place else None,
        "after": results.items[place + 1].item.pk if place + 1 < len(results.items) else None,
    }
    return render(request, "labeling/calibration_item.html", context)


def _first_answer(request: ProjectRequest, calibration: CalibrationRound, error: InvalidAct) -> HttpResponse:
    messages.info(request, str(error))
    return redirect("labeling:calibration", request.project.slug, calibration.dataset.slug, calibration.pk)


def _dataset(request: ProjectRequest, slug: str) -> Dataset:
    rows = Dataset.objects.in_project(request.project).select_related("project", "default_tools__registry")
    return get_object_or_404(rows, slug=slug)


def _round(request: ProjectRequest, dataset: str, pk: UUID) -> CalibrationRound:
    rows = CalibrationRound.objects.in_project(request.project).with_progress(request.user)
    content = rows.select_related("dataset__project", "dataset__default_tools__registry", "actor")
    return get_object_or_404(content, dataset__slug=dataset, pk=pk)
