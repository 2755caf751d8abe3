"""The label page: claims the next example, shows it, takes the label."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from labeling import services
from labeling.at_hand import count_answers, own_counts, own_slot
from labeling.errors import CalibrationFirst, InvalidAct
from labeling.forms.panel import panel
from labeling.forms.reading import FieldProblem, read_label
from labeling.home import waiting
from labeling.models import Label, LabelSlot, Skip
from labeling.progress import handed_in_today
from labeling.suggestions import seen_suggestion, taken_over
from labeling.views.answers import conflict, page_or_fragment, sentences
from labeling.views.scope import EVERYTHING, Scope, scope_of
from labeling.views.workplace import about_recovery, draft_document, label_context, offered, seconds_of, undo_context
from labeling.waiting import to_calibrate, to_label
from toolevals.grading.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.navigation import counted
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.services.submissions import AlreadyTaken
from toolevals.workspace.views.acknowledgement import acknowledged, is_taken, once

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
        found = _work_slot(request, slot)
    except InvalidAct as error:
        raise PermissionDenied(str(error)) from None
    if found is None:
        return redirect("labeling:label", request.project.slug)
    services.slot_renew(slot=found, actor=request.user)
    return page_or_fragment(request, page=PAGE, fragment=MAIN, context=label_context(request, found))


@require_POST
def label_panel(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Return the pane of arguments for what is entered: after choosing a tool or a matcher, or turning to JSON."""
    found = _own_slot(request, slot)
    if found is None:
        raise Http404
    tools = tools_in(found.revision.tools)
    is_recovery = about_recovery(found.revision)
    data = taken_over(request, found.revision, tools) or request.POST
    pane = panel(data, tools, to=request.POST.get("to", ""), is_recovery=is_recovery)
    url = reverse("labeling:label-panel", args=[request.project.slug, found.pk])
    return render(
        request, "labeling/parts/panel.html", {"panel": pane, "panel_url": url, "tools": offered(tools), "slot": found}
    )


@require_POST
@acknowledged
def label_draft(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Keep what is entered, and say what is wrong with it so far."""
    found = _kept_slot(request, slot)
    if isinstance(found, HttpResponse):
        return found
    draft = services.draft_save(revision=found.revision, actor=request.user, document=draft_document(request.POST))
    problems = read_label(request.POST, tools_in(found.revision.tools)).problems
    return JsonResponse({"saved_at": draft.saved_at.isoformat(), "problems": problem_list(problems)})


@require_POST
@acknowledged
def label_submit(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Take the label and go on to the next example; 422 says what is wrong, 409 that it comes too late."""
    found = _kept_slot(request, slot)
    if isinstance(found, HttpResponse):
        return found
    entered = read_label(request.POST, tools_in(found.revision.tools))
    if not entered.is_valid:
        return _refused(request, found, entered.problems)
    try:
        label = services.label_submit(
            slot=found,
            actor=request.user,
            expectation=entered.document,
            answer=entered.answer,
            rationale=request.POST.get("rationale", ""),
            flagged=bool(request.POST.get("flagged")),
            seconds=seconds_of(request.POST),
            suggestion=seen_suggestion(request, found.revision),
        )
    except InvalidDocument as error:
        return _refused(request, found, tuple(FieldProblem("", words) for words in sentences(error.problems)))
    except InvalidAct as error:
        return conflict(str(error), url=_example_url(request, found))
    return _next(request, request.POST, undo=label)


@require_POST
@acknowledged
def label_skip(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Pass the example on, with a reason, and go on to the next; a skip that is sent twice is one."""
    if is_taken(request):
        return _next(request, request.POST)
    found = _own_slot(request, slot)
    if found is None:
        return _claim_lost(request)
    reason = ". ".join(part.strip() for part in request.POST.getlist("reason") if part.strip())
    try:
        with once(request):
            skip = services.slot_skip(slot=found, actor=request.user, reason=reason)
    except AlreadyTaken:
        return _next(request, request.POST)
    except InvalidAct as error:
        return conflict(str(error), url=_example_url(request, found))
    return _next(request, request.POST, undo=skip)


@require_POST
@acknowledged
def label_ahead(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Claim the next example for a person at work on this one, for the page to keep; 204 where there is none."""
    found, place = _own_slot(request, slot), scope_of(request, request.POST)
    if found is None:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    try:
        ahead = services.slot_claim(
            dataset_or_project=place.dataset or request.project, actor=request.user, batch=place.batch, beside=found
        )
    except CalibrationFirst:
        ahead = None
    return _show(request, ahead, scope=place) if ahead is not None else HttpResponse(status=HTTPStatus.NO_CONTENT)


@require_POST
def label_renew(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Hold the example on for somebody at work, and what the page holds ahead: `ahead` tells whether it still does.

    Say how many of their questions were answered.
    """
    found = _kept_slot(request, slot)
    if isinstance(found, HttpResponse):
        return found
    services.slot_renew(slot=found, actor=request.user)
    ahead = _ahead(request)
    is_held = ahead is not None and services.slot_renew(slot=ahead, actor=request.user)
    return JsonResponse({"answers": count_answers(request.project, request.user), "ahead": is_held})


@require_POST
def label_leave(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Let the claim end soon: the page was closed, or left for another."""
    for found in (_own_slot(request, slot), _ahead(request)):
        if found is not None:
            services.slot_leave(slot=found, actor=request.user)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@require_POST
def label_release(request: ProjectRequest, slot: UUID) -> HttpResponse:
    """Give the example back to the queue; the draft stays for when it comes again."""
    for found in (_own_slot(request, slot), _ahead(request)):
        if found is not None:
            services.slot_release(slot=found, actor=request.user)
    return redirect("labeling:datasets", request.project.slug)


@require_POST
@acknowledged
def label_undo(request: ProjectRequest, label: UUID) -> HttpResponse:
    """Take one's label back and show its example again, as it was."""
    labels = Label.objects.in_project(request.project).filter(reviewer=request.user)
    found = get_object_or_404(labels.select_related("revision__example"), pk=label)
    try:
        slot = services.label_withdraw(label=found, actor=request.user)
    except InvalidAct as error:
        return conflict(str(error), url=_slot_url(request, found.slot_id))
    return _show(request, slot)


@require_POST
@acknowledged
def skip_undo(request: ProjectRequest, skip: UUID) -> HttpResponse:
    """Take one's skip back and show the example again, if a place is free."""
    skips = Skip.objects.filter(reviewer=request.user, revision__example__dataset__project=request.project)
    found = get_object_or_404(skips.select_related("revision__example__dataset__project"), pk=skip)
    try:
        slot = services.skip_undo(skip=found, actor=request.user)
    except InvalidAct as error:
        return conflict(str(error), url=_label_url(request))
    if slot is None:
        return conflict("Others have labelled this example meanwhile.", url=_label_url(request))
    return _show(request, slot)


def problem_list(problems: Iterable[FieldProblem]) -> list[dict[str, str]]:
    """Return problems as the page's script takes them."""
    return [{"field": problem.field, "message": problem.message} for problem in problems]


def _own_slot(request: ProjectRequest, pk: UUID) -> LabelSlot | None:
    return own_slot(request.project, pk, request.user)


def _ahead(request: ProjectRequest) -> LabelSlot | None:
    """Return the slot of this person that the page says it holds ahead of time."""
    try:
        return _own_slot(request, UUID(request.POST.get("ahead", "")))
    except ValueError:
        return None


def _work_slot(request: ProjectRequest, pk: UUID) -> LabelSlot | None:
    """Return the slot if it is this person's; where their claim ran out on what they had begun, one claimed again.

    Raises InvalidAct where they have opened another's question about its example meanwhile.
    """
    found = _own_slot(request, pk)
    if found is not None:
        return found
    lost = LabelSlot.objects.in_project(request.project).with_content().wanted_by(request.user).filter(pk=pk).first()
    return services.slot_reclaim(slot=lost, actor=request.user) if lost is not None else None


def _kept_slot(request: ProjectRequest, pk: UUID) -> LabelSlot | HttpResponse:
    """Return what `_work_slot` does; where the slot is not this person's any more, the answer that says so."""
    try:
        return _work_slot(request, pk) or _claim_lost(request)
    except InvalidAct as error:
        return conflict(str(error), url=_label_url(request))


def _next(request: ProjectRequest, scope: QueryDict, *, undo: Label | Skip | None = None) -> HttpResponse:
    """Claim the next example of the batch or the dataset that the person works on, else of the project, and show it."""
    place, first = scope_of(request, scope), None
    try:
        slot = services.slot_claim(
            dataset_or_project=place.dataset or request.project, actor=request.user, batch=place.batch
        )
    except CalibrationFirst as error:
        slot, first = None, error.calibration
    if slot is not None:
        return _show(request, slot, scope=place, undo=undo)
    context = {
        "place": place,
        "handed_in": own_counts(place.dataset or request.project, request.user)[1],
        "today": handed_in_today(place.dataset or request.project, request.user),
        "next": [each for each in waiting(request.project, request.role, counted(request)) if each.count],
        "left": 0 if first else counted(request)["to_label"],
        "first": first,
        "calibration": to_calibrate(request.project, request.user),
        "scope": place.key,
        **undo_context(request, undo),
    }
    url = _label_url(request) + place.query if request.method == "POST" else ""
    return page_or_fragment(
        request,
        page="labeling/label_done.html",
        fragment="labeling/parts/label_done_main.html",
        context=context,
        url=url,
    )


def _show(
    request: ProjectRequest, slot: LabelSlot, *, scope: Scope = EVERYTHING, undo: Label | Skip | None = None
) -> HttpResponse:
    url = _slot_url(request, slot.pk) + scope.query
    if not request.headers.get("HX-Request"):
        return redirect(url)
    left = to_label(request.project, request.user)
    context = label_context(request, slot, undo=undo) | {"scope": scope.key, "waiting": left}
    return page_or_fragment(request, page=PAGE, fragment=MAIN, context=context, url=url)


def _refused(request: ProjectRequest, slot: LabelSlot, problems: tuple[FieldProblem, ...]) -> HttpResponse:
    """Say what is wrong with a label: to the script as data, else on the page, with everything still entered."""
    if request.headers.get("HX-Request"):
        return JsonResponse({"problems": problem_list(problems)}, status=422)
    services.draft_save(revision=slot.revision, actor=request.user, document=draft_document(request.POST))
    context = label_context(request, slot)
    context["panel"] = panel(
        request.POST,
        tools_in(slot.revision.tools),
        show_problems=True,
        is_recovery=about_recovery(slot.revision),
    )
    return render(request, PAGE, context, status=422)


def _claim_lost(request: ProjectRequest) -> HttpResponse:
    return conflict("Your claim on this example ran out and it went to someone else.", url=_label_url(request))


def _slot_url(request: ProjectRequest, pk: UUID) -> str:
    return reverse("labeling:label-slot", args=[request.project.slug, pk])


def _label_url(request: ProjectRequest) -> str:
    return reverse("labeling:label", args=[request.project.slug])


def _example_url(request: ProjectRequest, slot: LabelSlot) -> str:
    example = slot.revision.example
    return reverse("labeling:example", args=[request.project.slug, example.dataset.slug, example.pk])
