"""Show calibration rounds: the list, open and close one, label its examples one after the other, and its results.

The answers to one example are compared with its gold, part by part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.blindness import may_compare_calibration
from labeling.calibration_rounds import services
from labeling.calibration_rounds.forms import CalibrationForm
from labeling.calibration_rounds.results import (
    COLUMNS,
    ItemResult,
    Split,
    answer_rows,
    finished_counts,
    progress_in,
    results_of,
)
from labeling.calibration_rounds.services import calibration_answer, proposed_names
from labeling.conversation import read_conversation
from labeling.conversation.turns import folded, snippet
from labeling.errors import InvalidAct
from labeling.expectations.comparison import Comparison, compare_answers
from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.label.answers import conflict, go_to, page_or_fragment, parts_asked, sentences
from labeling.label.claims import draft_save
from labeling.label.context import (
    Started,
    about_recovery,
    draft_document,
    drafted,
    offered,
    seconds_of,
    work_context,
)
from labeling.label.open_tasks import to_calibrate
from labeling.label.views import problem_list
from labeling.label_form.calls import FieldProblem
from labeling.label_form.form_from_expectation import empty_form
from labeling.label_form.panel import panel
from labeling.label_form.reading import read_label
from labeling.models import CalibrationItem, CalibrationRound, Dataset
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.idempotency.submissions import acknowledged
from toolevals.workspace.models import Role, within
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest

PAGE = "labeling/calibrate.html"
MAIN = "labeling/parts/calibrate_main.html"


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


@require_GET
def calibrate_next(request: ProjectRequest, dataset: str, calibration: UUID) -> HttpResponse:
    """Go to the next example of a round that this person has not answered; to the results after the last."""
    rows = CalibrationRound.objects.in_project(request.project).select_related("dataset")
    return _next(request, get_object_or_404(rows, dataset__slug=dataset, pk=calibration))


@require_GET
def calibrate_item(request: ProjectRequest, dataset: str, calibration: UUID, item: UUID) -> HttpResponse:
    """Show one example of a round to someone who has still to answer it."""
    item_row = _open_item(request, dataset, calibration, item)
    if item_row is None:
        return redirect("labeling:calibrate", request.project.slug, dataset, calibration)
    if (parts := parts_asked(request, item_row.revision.input, pickable=True, findable=True)) is not None:
        return parts
    return page_or_fragment(request, page=PAGE, fragment=MAIN, context=_context(request, item_row))


@require_POST
def calibrate_panel(request: ProjectRequest, dataset: str, calibration: UUID, item: UUID) -> HttpResponse:
    """Return the pane of arguments for what is entered, as the label page does."""
    item_row = _item(request, dataset, calibration, item)
    tools = tools_in(item_row.revision.tools)
    pane = panel(
        request.POST,
        tools,
        to=request.POST.get("to", ""),
        is_recovery=about_recovery(item_row.revision),
    )
    context = {"panel": pane, "panel_url": _url(request, item_row, "calibrate-panel"), "tools": offered(tools)}
    return render(request, "labeling/parts/panel.html", context)


@require_POST
@acknowledged
def calibrate_draft(request: ProjectRequest, dataset: str, calibration: UUID, item: UUID) -> HttpResponse:
    """Keep what is entered, and say what is wrong with it so far."""
    item_row = _open_item(request, dataset, calibration, item)
    if item_row is None:
        words = "You have already answered this example, or the round continues without it."
        return conflict(words, url=_round_url(request, dataset, calibration))
    draft = draft_save(revision=item_row.revision, actor=request.user, document=draft_document(request.POST))
    problems = read_label(request.POST, tools_in(item_row.revision.tools)).problems
    return JsonResponse({"saved_at": draft.saved_at.isoformat(), "problems": problem_list(problems)})


@require_POST
@acknowledged
def calibrate_submit(request: ProjectRequest, dataset: str, calibration: UUID, item: UUID) -> HttpResponse:
    """Take the answer and go on; 422 says what is wrong with it, 409 that it comes too late."""
    item_row = _item(request, dataset, calibration, item)
    entered = read_label(request.POST, tools_in(item_row.revision.tools))
    if not entered.is_valid:
        return _refused(request, item_row, entered.problems)
    try:
        calibration_answer(
            item=item_row,
            actor=request.user,
            expectation=entered.document,
            answer=entered.answer,
            rationale=request.POST.get("rationale", ""),
            seconds=seconds_of(request.POST),
        )
    except InvalidDocument as error:
        return _refused(request, item_row, tuple(FieldProblem("", words) for words in sentences(error.problems)))
    except InvalidAct as error:
        return conflict(str(error), url=_round_url(request, dataset, calibration))
    return _next(request, item_row.round)


def _next(request: ProjectRequest, calibration: CalibrationRound) -> HttpResponse:
    items = CalibrationItem.objects.filter(round=calibration)
    item = None if calibration.closed_at else items.left_for(request.user).with_content().first()
    done_url = _round_url(request, calibration.dataset.slug, calibration.pk)
    if item is None:
        return go_to(request, done_url)
    url = _url(request, item, "calibrate-item")
    if not request.headers.get("HX-Request"):
        return redirect(url)
    return page_or_fragment(request, page=PAGE, fragment=MAIN, context=_context(request, item), url=url)


def _context(request: ProjectRequest, item: CalibrationItem) -> dict[str, Any]:
    # Not what they once said of it as a label: this is answered afresh.
    started = drafted(item.revision, request.user) or Started(empty_form())
    items = CalibrationItem.objects.filter(round=item.round_id).asked()
    return {
        **work_context(request, item.revision, started, panel_url=_url(request, item, "calibrate-panel")),
        "item": item,
        "calibration": item.round,
        "done": items.answered_by(request.user).count(),
        "total": items.count(),
        "draft_url": _url(request, item, "calibrate-draft"),
        "submit_url": _url(request, item, "calibrate-submit"),
    }


def _refused(request: ProjectRequest, item: CalibrationItem, problems: tuple[FieldProblem, ...]) -> HttpResponse:
    """Say what is wrong: to the script as data, else on the page, with everything still entered."""
    if request.headers.get("HX-Request"):
        return JsonResponse({"problems": problem_list(problems)}, status=422)
    context = _context(request, item)
    context["panel"] = panel(
        request.POST,
        tools_in(item.revision.tools),
        show_problems=True,
        is_recovery=about_recovery(item.revision),
    )
    return render(request, PAGE, context | {"rationale": request.POST.get("rationale", "")}, status=422)


def _item(request: ProjectRequest, dataset: str, calibration: UUID, pk: UUID) -> CalibrationItem:
    rows = CalibrationItem.objects.filter(
        within(request.project, "round__dataset"), round__dataset__slug=dataset, round=calibration
    )
    return get_object_or_404(rows.with_content(), pk=pk)


def _open_item(request: ProjectRequest, dataset: str, calibration: UUID, pk: UUID) -> CalibrationItem | None:
    """Return the item where this person may still answer it. Raises Http404 where there is none such."""
    item_row = _item(request, dataset, calibration, pk)
    if item_row.round.closed_at is not None:
        return None
    return CalibrationItem.objects.left_for(request.user).with_content().filter(pk=item_row.pk).first()


def _url(request: ProjectRequest, item: CalibrationItem, name: str) -> str:
    dataset = item.revision.example.dataset.slug
    return reverse(f"labeling:{name}", args=[request.project.slug, dataset, item.round_id, item.pk])


def _round_url(request: ProjectRequest, dataset: str, calibration: UUID) -> str:
    return reverse("labeling:calibration", args=[request.project.slug, dataset, calibration])
