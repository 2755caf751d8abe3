"""Show the label page: claims the next example, shows it, takes the label."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from labeling.errors import CalibrationFirst, InvalidAct
from labeling.label import claims
from labeling.label.answers import conflict, page_or_fragment, parts_asked, sentences
from labeling.label.claims import draft_save, slot_claim, slot_leave, slot_reclaim, slot_release, slot_renew, slot_skip
from labeling.label.context import (
    about_recovery,
    draft_document,
    label_context,
    offered,
    seconds_of,
    seen_suggestion,
    taken_over,
    undo_context,
)
from labeling.label.open_tasks import to_label
from labeling.label.queries import count_answers, own_counts_of_both, own_slot
from labeling.label.scope import EVERYTHING, Scope, end_context, scope_key, scope_of
from labeling.label.services import label_hand_in, label_withdraw, was_handed_out
from labeling.label_form.calls import FieldProblem
from labeling.label_form.panel import panel
from labeling.label_form.reading import read_label
from labeling.models import Label, LabelSlot, Skip, SpareLabel
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.idempotency.submissions import AlreadyTaken, acknowledged, is_taken, once
from toolevals.workspace.models import within
from toolevals.workspace.requests import ProjectRequest


@require_POST
def label_renew(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Hold the example on for someone at work, and what the page holds ahead: `ahead` tells whether it still does.

    Say how many of their questions were answered.
    """
    slot_row = kept_slot(request, slot)
    if isinstance(slot_row, HttpResponse):
        return slot_row
    slot_renew(slot=slot_row, actor=request.user)
    ahead = _ahead(request)
    is_held = ahead is not None and slot_renew(slot=ahead, actor=request.user)
    return JsonResponse({"answers": count_answers(request.project, request.user), "ahead": is_held})


@require_POST
def label_leave(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Let the claim end soon: the page was closed, or left for another."""
    for slots in (slot_of(request, slot), _ahead(request)):
        if slots is not None:
            slot_leave(slot=slots, actor=request.user)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@require_POST
def label_release(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Give the example back to the queue; the draft stays for when it comes again."""
    for slots in (slot_of(request, slot), _ahead(request)):
        if slots is not None:
            slot_release(slot=slots, actor=request.user)
    return redirect("labeling:datasets", request.project.slug)


def slot_of(request: ProjectRequest, pk: UUID) -> LabelSlot | None:
    """Return this person's slot, None where it is not theirs."""
    return own_slot(request.project, pk, request.user)


def _ahead(request: ProjectRequest) -> LabelSlot | None:
    """Return the slot of this person that the page says it holds ahead of time."""
    try:
        return slot_of(request, UUID(request.POST.get("ahead", "")))
    except ValueError:
        return None


def work_slot(request: ProjectRequest, pk: UUID) -> LabelSlot | None:
    """Return the slot if it is this person's; where their claim ran out on what they had begun, one claimed again.

    Raises InvalidAct where they have opened another's question about its example meanwhile.
    """
    slot_row = slot_of(request, pk)
    if slot_row is not None:
        return slot_row
    lost = LabelSlot.objects.in_project(request.project).with_content().wanted_by(request.user).filter(pk=pk).first()
    return slot_reclaim(slot=lost, actor=request.user) if lost is not None else None


def handed_out(request: ProjectRequest, pk: UUID) -> LabelSlot | HttpResponse:
    """Return what `kept_slot` does, and a slot too that this person had claimed and others have now."""
    kept = kept_slot(request, pk)
    if isinstance(kept, LabelSlot):
        return kept
    lost = LabelSlot.objects.in_project(request.project).with_content().filter(pk=pk).first()
    return lost if lost is not None and was_handed_out(lost, request.user) else kept


def kept_slot(request: ProjectRequest, pk: UUID) -> LabelSlot | HttpResponse:
    """Return what `work_slot` does; where the slot is not this person's any more, the answer that says so."""
    try:
        return work_slot(request, pk) or claim_lost(request)
    except InvalidAct as error:
        return conflict(str(error), url=label_url(request))


def claim_lost(request: ProjectRequest) -> HttpResponse:
    """Say that others have the example now, and what becomes of a label that is handed in all the same."""
    words = (
        "Your claim has expired and another person has this example now. You can still submit; your label is "
        "then saved as a spare label."
    )
    return conflict(words, url=label_url(request))


def slot_url(request: ProjectRequest, pk: UUID) -> str:
    """Return the address of a slot's page."""
    return reverse("labeling:label-slot", args=[request.project.slug, pk])


def label_url(request: ProjectRequest) -> str:
    """Return the address that hands out the next example."""
    return reverse("labeling:label", args=[request.project.slug])


PAGE = "labeling/label.html"
MAIN = "labeling/parts/label_main.html"


@require_GET
def label_next(request: ProjectRequest) -> HttpResponse:
    """Claim the next example and go to it; say so where there is none."""
    return _next(request, request.GET)


@require_GET
def label_slot(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Show one slot's example to the person who holds it, or who has labelled it."""
    try:
        slot_row = work_slot(request, slot)
    except InvalidAct as error:
        raise PermissionDenied(str(error)) from None
    if slot_row is None:
        return redirect("labeling:label", request.project.slug)
    if (parts := parts_asked(request, slot_row.revision.input, pickable=True, findable=True)) is not None:
        return parts
    slot_renew(slot=slot_row, actor=request.user)
    return page_or_fragment(request, page=PAGE, fragment=MAIN, context=label_context(request, slot_row))


@require_POST
def label_panel(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Return the pane of arguments for what is entered: after choosing a tool or a matcher, or turning to JSON."""
    slot_row = slot_of(request, slot)
    if slot_row is None:
        raise Http404
    tools = tools_in(slot_row.revision.tools)
    is_recovery = about_recovery(slot_row.revision)
    data = taken_over(request, slot_row.revision, tools) or request.POST
    pane = panel(data, tools, to=request.POST.get("to", ""), is_recovery=is_recovery)
    url = reverse("labeling:label-panel", args=[request.project.slug, slot_row.pk])
    return render(
        request,
        "labeling/parts/panel.html",
        {"panel": pane, "panel_url": url, "tools": offered(tools), "slot": slot_row},
    )


@require_POST
@acknowledged
def label_draft(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Keep what is entered, and say what is wrong with it so far."""
    slot_row = kept_slot(request, slot)
    if isinstance(slot_row, HttpResponse):
        return slot_row
    draft = draft_save(revision=slot_row.revision, actor=request.user, document=draft_document(request.POST))
    problems = read_label(request.POST, tools_in(slot_row.revision.tools)).problems
    return JsonResponse({"saved_at": draft.saved_at.isoformat(), "problems": problem_list(problems)})


@require_POST
@acknowledged
def label_submit(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Take the label and go on to the next example; 422 says what is wrong, 409 that it cannot be changed any more.

    A label whose claim has ended takes another place of the example, or is kept as a spare label.
    """
    slot_row = handed_out(request, slot)
    if isinstance(slot_row, HttpResponse):
        return slot_row
    entered = read_label(request.POST, tools_in(slot_row.revision.tools))
    if not entered.is_valid:
        return _refused(request, slot_row, entered.problems)
    try:
        label = label_hand_in(
            slot=slot_row,
            actor=request.user,
            expectation=entered.document,
            answer=entered.answer,
            rationale=request.POST.get("rationale", ""),
            flagged=bool(request.POST.get("flagged")),
            seconds=seconds_of(request.POST),
            suggestion=seen_suggestion(request, slot_row.revision),
        )
    except InvalidDocument as error:
        return _refused(request, slot_row, tuple(FieldProblem("", words) for words in sentences(error.problems)))
    except InvalidAct as error:
        return conflict(str(error), url=_example_url(request, slot_row))
    return _next(request, request.POST, undo=label)


@require_POST
@acknowledged
def label_skip(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Pass the example on, with a reason, and go on to the next; a skip that is sent twice is one."""
    if is_taken(request):
        return _next(request, request.POST)
    slot_row = slot_of(request, slot)
    if slot_row is None:
        return claim_lost(request)
    reason = ". ".join(part.strip() for part in request.POST.getlist("reason") if part.strip())
    try:
        with once(request):
            skip = slot_skip(slot=slot_row, actor=request.user, reason=reason)
    except AlreadyTaken:
        return _next(request, request.POST)
    except InvalidAct as error:
        return conflict(str(error), url=_example_url(request, slot_row))
    return _next(request, request.POST, undo=skip)


@require_POST
@acknowledged
def label_ahead(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Claim the next example for a person at work on this one, for the page to keep; 204 where there is none."""
    found, place = slot_of(request, slot), scope_of(request, request.POST)
    if found is None:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    try:
        ahead = slot_claim(
            dataset_or_project=place.dataset or request.project, actor=request.user, batch=place.batch, beside=found
        )
    except CalibrationFirst:
        ahead = None
    return _show(request, ahead, scope=place) if ahead is not None else HttpResponse(status=HTTPStatus.NO_CONTENT)


@require_POST
@acknowledged
def label_undo(request: ProjectRequest, label: UUID) -> HttpResponse:
    """Take one's label back and show its example again, as it was."""
    labels = Label.objects.in_project(request.project).filter(reviewer=request.user)
    label_row = get_object_or_404(labels.select_related("revision__example"), pk=label)
    try:
        slot = label_withdraw(label=label_row, actor=request.user)
    except InvalidAct as error:
        return conflict(str(error), url=slot_url(request, label_row.slot_id))
    return _show(request, slot)


@require_POST
@acknowledged
def skip_undo(request: ProjectRequest, skip: UUID) -> HttpResponse:
    """Take one's skip back and show the example again, if a place is free."""
    skips = Skip.objects.filter(within(request.project, "revision__example__dataset"), reviewer=request.user)
    skip_row = get_object_or_404(skips.select_related("revision__example__dataset__project"), pk=skip)
    try:
        slot = claims.skip_undo(skip=skip_row, actor=request.user)
    except InvalidAct as error:
        return conflict(str(error), url=label_url(request))
    if slot is None:
        return conflict("Others have labelled this example meanwhile.", url=label_url(request))
    return _show(request, slot)


def problem_list(problems: Iterable[FieldProblem]) -> list[dict[str, str]]:
    """Return problems as the page's script takes them."""
    return [{"field": problem.field, "message": problem.message} for problem in problems]


def _next(request: ProjectRequest, scope: QueryDict, *, undo: Label | SpareLabel | Skip | None = None) -> HttpResponse:
    """Claim the next example of the batch or the dataset that the person works on, else of the project, and show it."""
    # Mostly they go on in the dataset of what they have just done.
    here = undo.revision.example.dataset if undo is not None else None
    place, first = Scope(here) if here and here.slug == scope_key(scope) else scope_of(request, scope), None
    try:
        slot = slot_claim(dataset_or_project=place.dataset or request.project, actor=request.user, batch=place.batch)
    except CalibrationFirst as error:
        slot, first = None, error.calibration
    if slot is not None:
        return _show(request, slot, scope=place, undo=undo)
    context = end_context(request, place, first) | undo_context(request, undo)
    url = label_url(request) + place.query if request.method == "POST" else ""
    return page_or_fragment(
        request,
        page="labeling/label_done.html",
        fragment="labeling/parts/label_done_main.html",
        context=context,
        url=url,
    )


def _show(
    request: ProjectRequest,
    slot: LabelSlot,
    *,
    scope: Scope = EVERYTHING,
    undo: Label | SpareLabel | Skip | None = None,
) -> HttpResponse:
    url = slot_url(request, slot.pk) + scope.query
    if not request.headers.get("HX-Request"):
        return redirect(url)
    in_dataset, in_project = own_counts_of_both(slot.revision.example.dataset, request.user)
    left = to_label(request.project, request.user, in_project)
    context = label_context(request, slot, undo=undo, counts=in_dataset) | {"scope": scope.key, "waiting": left}
    return page_or_fragment(request, page=PAGE, fragment=MAIN, context=context, url=url)


def _refused(request: ProjectRequest, slot: LabelSlot, problems: tuple[FieldProblem, ...]) -> HttpResponse:
    """Say what is wrong with a label: to the script as data, else on the page, with everything still entered."""
    if request.headers.get("HX-Request"):
        return JsonResponse({"problems": problem_list(problems)}, status=422)
    draft_save(revision=slot.revision, actor=request.user, document=draft_document(request.POST))
    context = label_context(request, slot)
    context["panel"] = panel(
        request.POST,
        tools_in(slot.revision.tools),
        show_problems=True,
        is_recovery=about_recovery(slot.revision),
    )
    return render(request, PAGE, context, status=422)


def _example_url(request: ProjectRequest, slot: LabelSlot) -> str:
    example = slot.revision.example
    return reverse("labeling:example", args=[request.project.slug, example.dataset.slug, example.pk])
