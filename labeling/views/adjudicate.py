"""The adjudication page: what people differ in, side by side, and the decision."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from labeling import services
from labeling.conversation import read_conversation
from labeling.errors import InvalidAct
from labeling.forms.panel import empty_form, panel
from labeling.forms.reading import Entered, FieldProblem
from labeling.guideline import guideline_blocks
from labeling.models import Draft, Revision
from labeling.querysets.examples import RevisionQuerySet
from labeling.views.answers import conflict, page_or_fragment, sentences
from labeling.views.deciding import Sides, decided, outcome, sides_for
from labeling.views.label import problem_list
from labeling.views.workplace import draft_document, fields_of, offered, seconds_of
from labeling.wording import summary
from toolevals.grading.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest

PAGE = "labeling/adjudicate.html"
MAIN = "labeling/parts/adjudicate_main.html"


@require_GET
def adjudicate(request: ProjectRequest) -> HttpResponse:
    """Go to the first example that waits for a decision; with `?list`, list them."""
    waiting = Revision.objects.to_adjudicate(request.project, request.user)
    if "list" in request.GET:
        page = page_of(waiting.order_by(), request.GET.get("before", ""))
        return render(request, "labeling/adjudicate_list.html", {"page": page, "total": waiting.count()})
    return _next(request, after=request.GET.get("after", ""))


@require_GET
def adjudicate_revision(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Show what the sides of one example differ in; one that is decided is shown on its own page."""
    found = _waiting(request, revision)
    if found is None:
        return redirect(_elsewhere(request, revision))
    return _show(request, found)


@require_POST
def adjudicate_outcome(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Return the gold so far for what is chosen, or its JSON to edit."""
    found, sides = _found(request, revision)
    result = outcome(request.POST, sides, tools_in(found.tools), to=request.POST.get("to", ""))
    return render(
        request, "labeling/parts/outcome.html", {"outcome": result, "outcome_url": _url(request, "outcome", found)}
    )


@require_POST
def adjudicate_panel(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Return the pane of arguments of a decision that is started afresh."""
    found, _ = _found(request, revision)
    tools = tools_in(found.tools)
    context = {
        "panel": panel(request.POST, tools, to=request.POST.get("to", "")),
        "panel_url": _url(request, "panel", found),
    }
    return render(request, "labeling/parts/panel.html", context)


@require_POST
def adjudicate_draft(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Keep what is decided so far."""
    found = _waiting(request, revision)
    sides = sides_for(request, found) if found else None
    if found is None or sides is None:
        return conflict("Somebody has decided this example meanwhile.", url=_elsewhere(request, revision))
    draft = services.draft_save(revision=found, actor=request.user, document=draft_document(request.POST))
    problems = problem_list(_problems(request, decided(request.POST, sides, tools_in(found.tools))))
    return JsonResponse({"saved_at": draft.saved_at.isoformat(), "problems": problems})


@require_POST
def adjudicate_decide(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Put the decision in force and go on to the next example."""
    found = _waiting(request, revision)
    sides = sides_for(request, found) if found else None
    if found is None or sides is None:
        return conflict("Somebody has decided this example meanwhile.", url=_elsewhere(request, revision))
    entered = decided(request.POST, sides, tools_in(found.tools))
    if problems := _problems(request, entered):
        return _refused(request, found, problems)
    try:
        services.adjudication_decide(
            revision=found,
            actor=request.user,
            expectation=entered.document,
            rationale=request.POST["rationale"],
            seconds=seconds_of(request.POST),
        )
    except InvalidDocument as error:
        return _refused(request, found, [FieldProblem("", words) for words in sentences(error.problems)])
    except InvalidAct as error:
        return conflict(str(error), url=_elsewhere(request, revision))
    return _next(request, after=str(found.pk), toast=f"Decided {found.example.external_id}.", toast_about=found)


@require_POST
def adjudicate_keep(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Settle a dispute and leave the gold as it is."""
    found, sides = _found(request, revision)
    if sides.dispute is None:
        raise Http404
    try:
        services.dispute_settle(dispute=sides.dispute, actor=request.user)
    except InvalidAct as error:
        return conflict(str(error), url=_elsewhere(request, revision))
    return _next(
        request, after=str(found.pk), toast=f"Kept the gold of {found.example.external_id}.", toast_about=found
    )


def _problems(request: ProjectRequest, entered: Entered) -> list[FieldProblem]:
    problems = list(entered.problems)
    if not request.POST.get("rationale", "").strip():
        problems.append(FieldProblem("rationale", "Say why: both reviewers will read it."))
    return problems


def _waiting(request: ProjectRequest, pk: UUID) -> Revision | None:
    return Revision.objects.to_adjudicate(request.project, request.user).filter(pk=pk).first()


def _found(request: ProjectRequest, pk: UUID) -> tuple[Revision, Sides]:
    found = _waiting(request, pk)
    sides = sides_for(request, found) if found else None
    if found is None or sides is None:
        raise Http404
    return found, sides


def _next(
    request: ProjectRequest, *, after: str = "", toast: str = "", toast_about: Revision | None = None
) -> HttpResponse:
    """Show the first example that waits after one that was decided or left for later, else the first of all."""
    services.settle_due(project=request.project)
    waiting = Revision.objects.to_adjudicate(request.project, request.user)
    found = _later(waiting, after) or waiting.first()
    context: dict[str, Any] = {"toast": toast}
    if toast_about is not None:
        context["toast_url"] = _example_url(request, toast_about)
    if found is not None:
        return _show(request, found, **context)
    return page_or_fragment(
        request,
        page="labeling/adjudicate_done.html",
        fragment="labeling/parts/adjudicate_done_main.html",
        context=context,
        url=reverse("labeling:adjudicate", args=[request.project.slug]) if request.method == "POST" else "",
    )


def _later(waiting: RevisionQuerySet, after: str) -> Revision | None:
    try:
        return waiting.filter(pk__gt=UUID(after)).first()
    except ValueError:
        return None


def _show(request: ProjectRequest, revision: Revision, **context: Any) -> HttpResponse:
    url = reverse("labeling:adjudicate-revision", args=[request.project.slug, revision.pk])
    here = request.path == url
    if not here and not request.headers.get("HX-Request"):
        return redirect(url)
    sides = sides_for(request, revision)
    if sides is None:
        raise Http404
    context |= _context(request, revision, sides)
    return page_or_fragment(request, page=PAGE, fragment=MAIN, context=context, url="" if here else url)


def _context(request: ProjectRequest, revision: Revision, sides: Sides) -> dict[str, Any]:
    draft = Draft.objects.filter(revision=revision, user=request.user).first()
    data = fields_of(draft.document) if draft else empty_form()
    tools = tools_in(revision.tools)
    afresh = "afresh" in request.GET
    waiting = Revision.objects.to_adjudicate(request.project, request.user)
    entered = data if data.get("mode") != "sides" else empty_form()
    return {
        "revision": revision,
        "example": revision.example,
        "conversation": read_conversation(revision.input),
        "ask": "What should the agent do next?",
        "sides": sides,
        "comparison": sides.comparison,
        "outcome": outcome(data, sides, tools),
        "outcome_url": _url(request, "outcome", revision),
        "afresh": afresh,
        "panel": panel(entered if afresh else empty_form(), tools),
        "panel_url": _url(request, "panel", revision),
        "tools": offered(tools),
        "place": waiting.filter(pk__lte=revision.pk).count(),
        "total": waiting.count(),
        "rationale": data.get("rationale", ""),
        "seconds": data.get("seconds", "0"),
        "saved_at": draft.saved_at if draft else None,
        "guideline": guideline_blocks(revision.example.dataset.guideline),
        "dataset": revision.example.dataset,
        "show_guide": "guide" in request.GET,
        "in_force": summary(revision.gold.expectation) if revision.gold else "",
    }


def _refused(request: ProjectRequest, revision: Revision, problems: list[FieldProblem]) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return JsonResponse({"problems": problem_list(problems)}, status=422)
    services.draft_save(revision=revision, actor=request.user, document=draft_document(request.POST))
    sides = sides_for(request, revision)
    if sides is None:
        raise Http404
    context = _context(request, revision, sides) | {"problems": problems}
    return render(request, PAGE, context, status=422)


def _url(request: ProjectRequest, act: str, revision: Revision) -> str:
    return reverse(f"labeling:adjudicate-{act}", args=[request.project.slug, revision.pk])


def _elsewhere(request: ProjectRequest, pk: UUID) -> str:
    """Return the example's page where there is one in the project. Raises Http404."""
    revision = Revision.objects.in_project(request.project).with_content().filter(pk=pk).first()
    if revision is None:
        raise Http404
    return _example_url(request, revision)


def _example_url(request: ProjectRequest, revision: Revision) -> str:
    example = revision.example
    return reverse("labeling:example", args=[request.project.slug, example.dataset.slug, example.pk])
