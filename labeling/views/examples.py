"""Show one example: its contents, its gold and the history of that; dispute, reopen and restore it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling import services
from labeling.blindness import RESOLVED, TO_DECIDE, judges_own, may_see_resolution
from labeling.conversation import read_conversation
from labeling.conversation.folding import folded
from labeling.errors import InvalidAct
from labeling.expectations.wording import expectation_words
from labeling.forms.datasets import DecidedByForm, DisputeForm, ReasonForm
from labeling.models import (
    DatasetVersion,
    Dispute,
    Example,
    Gold,
    LabelAnswer,
    Resolution,
    Revision,
    VersionEntry,
)
from labeling.views.conversation_parts import parts_asked
from labeling.views.history import history_of
from labeling.views.label_context import offered
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import decided_words
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.requests import ProjectRequest, whole_number


@require_GET
def example(request: ProjectRequest, dataset: str, example: UUID) -> HttpResponse:
    """Show an example; with `?revision=`, one of its earlier revisions, with `?version=`, as a version froze it."""
    services.settle_due(project=request.project)
    example_row = _example(request, dataset, example)
    context = _context(request, example_row)
    return parts_asked(request, context["revision"].input) or render(request, "labeling/example.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def dispute(request: ProjectRequest, dataset: str, example: UUID) -> HttpResponse:
    """Ask an adjudicator to look at the gold again; by GET, the page with `?reason=` filled in."""
    example_row = _example(request, dataset, example)
    if request.method != "POST":
        reason = request.GET.get("reason", "")[: DisputeForm.MOST]
        return render(
            request,
            "labeling/example.html",
            _context(request, example_row, dispute_form=DisputeForm(initial={"reason": reason})),
        )
    form = DisputeForm(request.POST)

    def open_dispute(reason: str) -> object:
        current = get_object_or_404(Revision, pk=example_row.current_id)
        return services.dispute_open(revision=current, actor=request.user, reason=reason)

    return _acted(request, example_row, form, open_dispute, dispute_form=form)


@require_POST
def reopen(request: ProjectRequest, dataset: str, example: UUID) -> HttpResponse:
    """Begin another round of labels."""
    example_row = _example(request, dataset, example)
    form = ReasonForm(request.POST, prefix="reopen")

    def begin(reason: str) -> object:
        current = get_object_or_404(Revision, pk=example_row.current_id)
        return services.revision_reopen(revision=current, actor=request.user, reason=reason)

    return _acted(request, example_row, form, begin, reopen_form=form)


@require_POST
def gold_restore(request: ProjectRequest, dataset: str, example: UUID, gold: UUID) -> HttpResponse:
    """Put earlier gold in force again."""
    example_row = _example(request, dataset, example)
    golds = Gold.objects.filter(revision__example=example_row).visible_to(request.user, request.role)
    earlier = get_object_or_404(golds, pk=gold)
    form = ReasonForm(request.POST)
    return _acted(
        request,
        example_row,
        form,
        lambda reason: services.gold_restore(gold=earlier, actor=request.user, reason=reason),
        restoring=earlier.pk,
        restore_form=form,
    )


@require_POST
def decided_by(request: ProjectRequest, dataset: str, example: UUID) -> HttpResponse:
    """Say what decides an example."""
    example_row = _example(request, dataset, example)
    form = DecidedByForm(request.POST)
    if form.is_valid():
        services.example_decide_by(example=example_row, actor=request.user, decided_by=form.cleaned_data["decided_by"])
        return redirect("labeling:example", request.project.slug, example_row.dataset.slug, example_row.pk)
    return render(request, "labeling/example.html", _context(request, example_row, decided_by_form=form), status=422)


def _acted(
    request: ProjectRequest, example: Example, form: Any, act: Callable[[str], object], **shown: Any
) -> HttpResponse:
    """Do what a form with a reason asks for; show the page again where that cannot be."""
    if form.is_valid():
        try:
            act(form.cleaned_data["reason"])
            return redirect("labeling:example", request.project.slug, example.dataset.slug, example.pk)
        except InvalidAct as error:
            form.add_error(None, str(error))
        except InvalidDocument as error:
            form.add_error("reason", [str(problem) for problem in error.problems])
    return render(request, "labeling/example.html", _context(request, example, **shown), status=422)


def _example(request: ProjectRequest, dataset: str, pk: UUID) -> Example:
    rows = Example.objects.in_project(request.project).with_content().seen_by(request.user, request.role)
    return get_object_or_404(rows, pk=pk, dataset__slug=dataset)


def _page_url(request: ProjectRequest, example: Example) -> str:
    return reverse("labeling:example", args=[request.project.slug, example.dataset.slug, example.pk])


def _shown_by(request: ProjectRequest) -> str:
    """Return what of the query says which revision is shown."""
    return urlencode({name: request.GET[name] for name in ("revision", "version") if name in request.GET})


def _context(request: ProjectRequest, example: Example, **shown: Any) -> dict[str, Any]:
    revisions = list(example.revisions.order_by("-number").values_list("number", flat=True))
    revision = _revision(request, example)
    frozen = _frozen(request, example)
    revision, gold = (frozen.revision, frozen.gold) if frozen else (revision, revision.gold)
    disputes = Dispute.objects.filter(revision=revision).visible_to(request.user, request.role).open().order_by("-pk")
    resolution = may_see_resolution(revision, request.user, request.role)
    is_current = revision.pk == example.current_id
    return {
        "example": example,
        "dataset": example.dataset,
        "revision": revision,
        "revisions": revisions,
        "is_current": is_current,
        "frozen": frozen.version if frozen else None,
        "status": Resolution(resolution).label,
        "conversation": folded(read_conversation(revision.input)),
        "parts_url": f"{_page_url(request, example)}?{_shown_by(request)}",
        "gold": gold,
        "gold_words": expectation_words(gold.expectation) if gold else None,
        "set_aside": LabelAnswer(revision.set_aside_as).label if resolution == Resolution.SET_ASIDE else "",
        "tools": offered(tools_in(revision.tools)),
        "history": history_of(revision, request.user, request.role),
        "disputes": disputes.select_related("actor"),
        "dispute_form": DisputeForm(),
        "reopen_form": ReasonForm(prefix="reopen"),
        "restore_form": ReasonForm(),
        "decided_by": decided_words(frozen.decided_by if frozen else example.decided_by or example.dataset.decided_by),
        "decided_by_form": DecidedByForm(initial={"decided_by": example.decided_by}),
        "may_dispute": is_current and resolution in RESOLVED,
        "may_reopen": is_current and resolution in (*RESOLVED, *TO_DECIDE),
        "may_decide": resolution in TO_DECIDE
        or (resolution in RESOLVED and disputes.exists() and not judges_own(revision, request.user)),
        **shown,
    }


def _frozen(request: ProjectRequest, example: Example) -> VersionEntry | None:
    """Return the example as the frozen version holds it that the address names, if it names one."""
    name = request.GET.get("version", "")
    if not name:
        return None
    version = DatasetVersion.objects.filter(dataset=example.dataset_id).called(name)
    rows = VersionEntry.objects.select_related(
        "version", "gold", "revision__example__dataset__project", "revision__gold"
    )
    return get_object_or_404(rows.select_related("revision__tools"), version=version, revision__example=example)


def _revision(request: ProjectRequest, example: Example) -> Revision:
    number = whole_number(request.GET.get("revision", ""))
    rows = Revision.objects.in_project(request.project).with_content().filter(example=example)
    if number is not None:
        return get_object_or_404(rows, number=number)
    return get_object_or_404(rows, pk=example.current_id)
