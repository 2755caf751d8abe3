"""One example: what it shows, the gold in force, how that came about, and disputing it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from labeling import services
from labeling.blindness import may_see_resolution
from labeling.conversation import read_conversation
from labeling.errors import InvalidAct
from labeling.forms.datasets import DisputeForm
from labeling.models import Dispute, Example, Resolution, Revision
from labeling.views.history import history_of
from labeling.views.workplace import offered
from labeling.wording import expectation_words
from toolevals.grading.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.requests import ProjectRequest


@require_GET
def example(request: ProjectRequest, dataset: str, example: UUID) -> HttpResponse:
    """Show an example; with `?revision=`, one of its earlier revisions."""
    services.settle_due(project=request.project)
    found = _example(request, dataset, example)
    return render(request, "labeling/example.html", _context(request, found, DisputeForm()))


@require_POST
def dispute(request: ProjectRequest, dataset: str, example: UUID) -> HttpResponse:
    """Ask an adjudicator to look at the gold again."""
    found = _example(request, dataset, example)
    form = DisputeForm(request.POST)
    if form.is_valid() and found.current is not None:
        try:
            services.dispute_open(revision=found.current, actor=request.user, reason=form.cleaned_data["reason"])
            return redirect("labeling:example", request.project.slug, found.dataset.slug, found.pk)
        except InvalidAct as error:
            form.add_error(None, str(error))
        except InvalidDocument as error:
            form.add_error("reason", [str(problem) for problem in error.problems])
    return render(request, "labeling/example.html", _context(request, found, form), status=422)


def _example(request: ProjectRequest, dataset: str, pk: UUID) -> Example:
    rows = Example.objects.in_project(request.project).with_content().seen_by(request.user, request.role)
    return get_object_or_404(rows, pk=pk, dataset__slug=dataset)


def _context(request: ProjectRequest, example: Example, form: DisputeForm) -> dict[str, Any]:
    revisions = list(example.revisions.order_by("-number").values_list("number", flat=True))
    revision = _revision(request, example)
    gold = revision.gold
    disputes = Dispute.objects.filter(revision=revision).visible_to(request.user, request.role).open()
    resolution = may_see_resolution(revision, request.user, request.role)
    return {
        "example": example,
        "dataset": example.dataset,
        "revision": revision,
        "revisions": revisions,
        "is_current": revision.pk == example.current_id,
        "status": Resolution(resolution).label,
        "conversation": read_conversation(revision.input),
        "gold": gold,
        "gold_words": expectation_words(gold.expectation) if gold else None,
        "tools": offered(tools_in(revision.tools)),
        "history": history_of(revision, request.user, request.role),
        "disputes": disputes.select_related("actor"),
        "form": form,
        "may_decide": resolution == Resolution.DISAGREED or disputes.exists(),
    }


def _revision(request: ProjectRequest, example: Example) -> Revision:
    number = request.GET.get("revision", "")
    rows = Revision.objects.in_project(request.project).with_content().filter(example=example)
    if number.isascii() and number.isdigit():
        return get_object_or_404(rows, number=int(number[:9]))
    return get_object_or_404(rows, pk=example.current_id)
