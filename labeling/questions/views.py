"""Show questions: the thread about an example, and the list of questions and answers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from labeling.conversation import read_conversation
from labeling.conversation.turns import folded
from labeling.errors import InvalidAct
from labeling.label.answers import parts_asked
from labeling.label.context import offered
from labeling.models import Comment, LabelSlot, Revision, Skip
from labeling.questions import services
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.idempotency.submissions import AlreadyTaken, acknowledged, once
from toolevals.workspace.models import User
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest

THREAD = "labeling/parts/thread.html"
OWN = "own"


@require_GET
def questions(request: ProjectRequest) -> HttpResponse:
    """List what waits for this person's answer, and what they have asked, the newest first."""
    threads = Comment.objects.in_project(request.project).with_example()
    asked = page_of(threads.filter(asker=request.user).threads(), request.GET.get("before", ""))
    answered = set(threads.answered_to(request.user).values_list("pk", flat=True))
    context = {
        "waiting": page_of(threads.unanswered_for(request.user, request.role), request.GET.get("waiting_before", "")),
        "asked": asked,
        "answered": answered,
    }
    return render(request, "labeling/questions.html", context)


@require_GET
def thread(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Show the questions about an example next to it; to a script, the questions alone."""
    revision_row = _revision(request, revision)
    services.question_open(revision=revision_row, actor=request.user)
    if (parts := parts_asked(request, revision_row.input, findable=True)) is not None:
        return parts
    if request.headers.get("HX-Request"):
        return render(request, THREAD, _fragment(request, revision_row))
    return render(request, "labeling/question.html", _page(request, revision_row))


@require_POST
@acknowledged
def comment_add(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Add to a thread, or begin one's own, once however often it is sent; 422 says what is wrong."""
    revision_row = _revision(request, revision)
    services.question_open(revision=revision_row, actor=request.user)
    about = request.POST.get("about", OWN)
    text, problem = request.POST.get(f"comment:{about}", ""), ""
    try:
        asker = _asker(request, revision_row, about)
        with suppress(AlreadyTaken), once(request):
            services.comment_add(revision=revision_row, asker=asker, actor=request.user, text=text)
    except InvalidDocument as error:
        problem = (
            f"Nothing is sent: the text {error.problems[0].message}." if text.strip() else "Write something first."
        )
    except InvalidAct as error:
        problem = str(error)
    if request.headers.get("HX-Request"):
        context = _fragment(request, revision_row) | {"talk_problem": problem}
        return render(request, THREAD, context, status=422 if problem else 200)
    if problem:
        return render(
            request, "labeling/question.html", _page(request, revision_row) | {"talk_problem": problem}, status=422
        )
    return redirect("labeling:thread", request.project.slug, revision_row.pk)


def _asker(request: ProjectRequest, revision: Revision, about: str) -> User:
    """Return whose thread is meant: one's own, or that of a comment which this person may read. Raises Http404."""
    if about == OWN:
        return request.user
    comments = Comment.objects.filter(revision=revision).readable_by(request.user, request.role)
    try:
        asker = get_object_or_404(comments.select_related("asker"), pk=UUID(about)).asker
    except ValueError:
        raise Http404 from None
    if asker is None:
        raise Http404
    return asker


def _revision(request: ProjectRequest, pk: UUID) -> Revision:
    return get_object_or_404(Revision.objects.in_project(request.project).with_content(), pk=pk)


def _held(request: ProjectRequest, revision: Revision) -> LabelSlot | None:
    return LabelSlot.objects.filter(revision=revision).held_by(request.user).first()


def _fragment(request: ProjectRequest, revision: Revision) -> dict[str, Any]:
    held = _held(request, revision)
    skip_url = reverse("labeling:label-skip", args=[request.project.slug, held.pk]) if held else ""
    return {"revision": revision, "skip_url": skip_url}


def _page(request: ProjectRequest, revision: Revision) -> dict[str, Any]:
    """Return what the page of one example's questions shows; with what its asker may do about it now."""
    return {
        "revision": revision,
        "example": revision.example,
        "dataset": revision.example.dataset,
        "conversation": folded(read_conversation(revision.input)),
        "parts_url": reverse("labeling:thread", args=[request.project.slug, revision.pk]),
        "tools": offered(tools_in(revision.tools)),
        "held": _held(request, revision),
        "skip": Skip.objects.filter(revision=revision, reviewer=request.user).standing().first(),
    }
