"""Hold the example that one labels, and the next one: whose it is, until when, and the message where it is lost."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from labeling.errors import InvalidAct
from labeling.label.answers import conflict
from labeling.label.services import was_handed_out
from labeling.models import LabelSlot
from labeling.queue.label_page_queries import count_answers, own_slot
from labeling.services.slots import slot_leave, slot_reclaim, slot_release, slot_renew
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
        "Your claim on this example ran out and it went to someone else. "
        "If you hand your label in all the same, it is kept as a spare label."
    )
    return conflict(words, url=label_url(request))


def slot_url(request: ProjectRequest, pk: UUID) -> str:
    """Return the address of a slot's page."""
    return reverse("labeling:label-slot", args=[request.project.slug, pk])


def label_url(request: ProjectRequest) -> str:
    """Return the address that hands out the next example."""
    return reverse("labeling:label", args=[request.project.slug])
