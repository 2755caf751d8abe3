"""Show a calibration round: the screen of the label page, one example of the round after the other."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from labeling import services
from labeling.errors import InvalidAct
from labeling.forms.panel import empty_form, panel
from labeling.forms.reading import FieldProblem, read_label
from labeling.models import CalibrationItem, CalibrationRound
from labeling.views.answers import conflict, go_to, page_or_fragment, sentences
from labeling.views.conversation_parts import parts_asked
from labeling.views.label import problem_list
from labeling.views.label_context import (
    Started,
    about_recovery,
    draft_document,
    drafted,
    offered,
    seconds_of,
    work_context,
)
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.idempotency.submissions import acknowledged
from toolevals.workspace.models import within
from toolevals.workspace.requests import ProjectRequest

PAGE = "labeling/calibrate.html"
MAIN = "labeling/parts/calibrate_main.html"


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
        words = "You have answered this example, or the round goes on without it."
        return conflict(words, url=_round_url(request, dataset, calibration))
    draft = services.draft_save(revision=item_row.revision, actor=request.user, document=draft_document(request.POST))
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
        services.calibration_answer(
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
