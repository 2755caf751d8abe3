"""Show second looks at an agent's proposals: one example after the other, and one's earlier answers."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from labeling.conversation import read_conversation
from labeling.conversation.turns import folded
from labeling.errors import InvalidAct
from labeling.expectations.comparison import answer_words
from labeling.expectations.wording import expectation_words
from labeling.label.answers import parts_asked
from labeling.models import LookAnswer, LookProposal, SecondLook
from labeling.second_looks import services
from labeling.second_looks.pending_second_looks import look_due, looks_due, proposal_or_404
from toolevals.workspace.models import within
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest


@require_GET
def second_looks(request: ProjectRequest) -> HttpResponse:
    """Go to the first second look that waits; where none does, list what this person has answered."""
    waiting = looks_due(request.project, request.user)
    if waiting and "answered" not in request.GET:
        return redirect("labeling:second-look", request.project.slug, waiting[0].proposal.pk)
    looks = SecondLook.objects.answered_by(request.user).filter(within(request.project, "proposal__plan__dataset"))
    looks = looks.select_related("revision__example__dataset", "proposal__plan", "label")
    page = page_of(looks, request.GET.get("before", ""))
    rows = [
        {"look": look, "own": answer_words(look.label), "proposed": expectation_words(look.proposal.expectation)}
        for look in page.rows
    ]
    return render(request, "labeling/second_looks.html", {"page": page, "rows": rows, "waiting": len(waiting)})


@require_GET
def second_look(request: ProjectRequest, look: UUID) -> HttpResponse:
    """Show one proposal next to one's own label."""
    return _show(request, proposal_or_404(request.project, look))


@require_POST
def second_look_answer(request: ProjectRequest, look: UUID) -> HttpResponse:
    """Take the answer and go on to the next."""
    proposal_row = proposal_or_404(request.project, look)
    opened = get_object_or_404(SecondLook, proposal=proposal_row, reviewer=request.user)
    answer = request.POST.get("answer", "")
    if answer not in LookAnswer.values:
        return _show(request, proposal_row, problem="Choose whether to keep your label or accept the proposal.")
    try:
        services.second_look_answer(
            look=opened, actor=request.user, answer=answer, remark=request.POST.get("remark", "")
        )
    except InvalidAct as error:
        return render(request, "labeling/second_look_gone.html", {"words": str(error)}, status=409)
    return redirect("labeling:second-looks", request.project.slug)


def _show(request: ProjectRequest, proposal: LookProposal, *, problem: str = "") -> HttpResponse:
    due = look_due(request.project, request.user, proposal)
    if due is None:
        if SecondLook.objects.filter(proposal=proposal, reviewer=request.user).exists():
            return redirect("labeling:second-looks", request.project.slug)
        raise Http404
    services.second_look_open(due=due, actor=request.user)
    revision, label = due.proposal.revision, due.label
    if (parts := parts_asked(request, revision.input, findable=True)) is not None:
        return parts
    context = {
        "look": due,
        "example": revision.example,
        "dataset": proposal.plan.dataset,
        "conversation": folded(read_conversation(revision.input)),
        "parts_url": reverse("labeling:second-look", args=[request.project.slug, proposal.pk]),
        "ask": "What should the agent do next?",
        "own": expectation_words(label.expectation) if label.expectation is not None else None,
        "own_words": answer_words(label),
        "proposed": expectation_words(due.proposal.expectation),
        "remark": request.POST.get("remark", ""),
        "problem": problem,
    }
    return render(request, "labeling/second_look.html", context, status=422 if problem else 200)
