"""Show the adjudication page: what people differ in, side by side, and the decision."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from labeling.adjudicate.label_columns import Sides, sides_for
from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import (
    OWN_DISPUTE,
    adjudication_decide,
    adjudication_set_aside,
    adjudication_withdraw,
    dispute_settle,
)
from labeling.blindness import judges_own
from labeling.conversation import read_conversation
from labeling.conversation.turns import folded
from labeling.errors import InvalidAct
from labeling.examples.models import RevisionQuerySet
from labeling.expectations.comparison import BOTH, LEFT, RIGHT, Comparison, Part, compare_answers, merged
from labeling.expectations.reading import ONLY_BEGUN, PHRASES, is_only_begun
from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.guidelines.blocks import guideline_blocks
from labeling.label.answers import conflict, go_to, page_or_fragment, parts_asked, sentences
from labeling.label.claims import draft_save
from labeling.label.context import draft_document, fields_of, offered, seconds_of
from labeling.label.views import problem_list
from labeling.label_form.calls import FieldProblem
from labeling.label_form.form_from_expectation import empty_form, form_of
from labeling.label_form.panel import panel
from labeling.label_form.reading import Entered, read_form, read_json
from labeling.models import Adjudication, Dispute, Draft, LabelAnswer, Revision
from labeling.questions.services import question_open
from labeling.second_looks.bias import second_look_remarks
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.idempotency.submissions import AlreadyTaken, acknowledged, is_taken, once
from toolevals.workspace.models import within
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest

PAGE = "labeling/adjudicate.html"
MAIN = "labeling/parts/adjudicate_main.html"
DECIDED = "Another person has decided this example meanwhile."


EXPECTATION = LabelAnswer.EXPECTATION.value


@require_GET
def adjudicate(request: ProjectRequest) -> HttpResponse:
    """Go to the first example that waits for a decision; with `?list`, list them, or with `&assigned=me` one's own."""
    waiting = Revision.objects.to_adjudicate(request.project, request.user)
    if "list" in request.GET:
        mine = request.GET.get("assigned") == "me"
        if mine:
            waiting = waiting.filter(pk__in=Dispute.objects.filter(assignee=request.user).open().values("revision"))
        page = page_of(waiting.order_by(), request.GET.get("before", ""))
        return render(
            request, "labeling/adjudicate_list.html", {"page": page, "total": waiting.count(), "is_mine": mine}
        )
    return _next(request, after=request.GET.get("after", ""))


@require_GET
def adjudicate_revision(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Show what the sides of one example differ in; one that is decided is shown on its own page."""
    waiting_revision = _waiting(request, revision)
    if waiting_revision is None:
        return redirect(_elsewhere(request, revision))
    if (parts := parts_asked(request, waiting_revision.input, pickable="afresh" in request.GET)) is not None:
        return parts
    return _show(request, waiting_revision)


@require_POST
def adjudicate_outcome(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Return the gold so far for what is chosen, or its JSON to edit."""
    found, sides = _found(request, revision)
    result = outcome(request.POST, sides, tools_in(found.tools), to=request.POST.get("to", ""))
    context = {"outcome": result, "outcome_url": _url(request, "outcome", found), "afresh": "afresh" in request.POST}
    return render(request, "labeling/parts/outcome.html", context)


@require_POST
def adjudicate_panel(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Return the pane of arguments of a decision that is started afresh."""
    found, _ = _found(request, revision)
    tools = tools_in(found.tools)
    pane = panel(request.POST, tools, to=request.POST.get("to", ""))
    context = {"panel": pane, "panel_url": _url(request, "panel", found)}
    return render(request, "labeling/parts/panel.html", context)


@require_POST
@acknowledged
def adjudicate_draft(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Keep what is decided so far."""
    found, sides = _still_waiting(request, revision)
    if found is None or sides is None:
        return _gone(request, revision)
    draft = draft_save(revision=found, actor=request.user, document=draft_document(request.POST))
    problems = problem_list(_problems(request, decided(request.POST, sides, tools_in(found.tools))))
    return JsonResponse({"saved_at": draft.saved_at.isoformat(), "problems": problems})


@require_POST
@acknowledged
def adjudicate_decide(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Put the decision in force and go on to the next example; a decision sent twice is made once."""
    if is_taken(request):
        return _next(request, after=str(revision))
    found, sides = _still_waiting(request, revision)
    if found is None or sides is None:
        return _gone(request, revision)
    if request.POST.get("of", sides.token) != sides.token:
        return conflict("The labels have changed since you looked.", url=_url(request, "revision", found))
    decision = decided(request.POST, sides, tools_in(found.tools))
    if problems := _problems(request, decision):
        return _refused(request, found, problems)
    try:
        with once(request):
            made = _decide(request, found, decision)
    except AlreadyTaken:
        return _next(request, after=str(found.pk))
    except InvalidDocument as error:
        return _refused(request, found, [FieldProblem("", words) for words in sentences(error.problems)])
    except InvalidAct as error:
        return conflict(str(error), url=_elsewhere(request, revision))
    what = "Decided" if decision.expectation is not None else "Set aside"
    return _next(
        request,
        after=str(found.pk),
        toast=f"{what} {found.example.external_id}.",
        toast_url=_example_url(request, found),
        undo_url=reverse("labeling:adjudicate-undo", args=[request.project.slug, made]),
        undo_seconds=request.project.undo_seconds,
    )


@require_POST
@acknowledged
def adjudicate_undo(request: ProjectRequest, adjudication: UUID) -> HttpResponse:
    """Take back what one has just decided, and show it again."""
    own = Adjudication.objects.filter(within(request.project, "revision__example__dataset"), adjudicator=request.user)
    made = get_object_or_404(own, pk=adjudication)
    try:
        adjudication_withdraw(adjudication=made, actor=request.user)
    except InvalidAct as error:
        return conflict(str(error), url=_elsewhere(request, made.revision_id))
    waiting_revision = _waiting(request, made.revision_id)
    return (
        _show(request, waiting_revision) if waiting_revision else go_to(request, _elsewhere(request, made.revision_id))
    )


@require_POST
@acknowledged
def adjudicate_keep(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Settle a dispute and leave the gold as it is."""
    if is_taken(request):
        return _next(request, after=str(revision))
    found, sides = _found(request, revision)
    if sides.dispute is None:
        raise Http404
    try:
        with suppress(AlreadyTaken), once(request):
            dispute_settle(dispute=sides.dispute, actor=request.user)
    except InvalidAct as error:
        return conflict(str(error), url=_elsewhere(request, revision))
    toast = f"Kept {found.example.external_id} as it is."
    return _next(request, after=str(found.pk), toast=toast, toast_url=_example_url(request, found))


def _decide(request: ProjectRequest, revision: Revision, decision: Decision) -> UUID:
    """Store a decision; return its adjudication's id."""
    shared: Any = {
        "revision": revision,
        "actor": request.user,
        "rationale": request.POST["rationale"],
        "seconds": seconds_of(request.POST),
    }
    if decision.answer != LabelAnswer.EXPECTATION:
        return UUID(str(adjudication_set_aside(answer=decision.answer, **shared).pk))
    return UUID(str(adjudication_decide(expectation=decision.expectation, **shared).adjudication_id))


def _problems(request: ProjectRequest, decision: Decision) -> list[FieldProblem]:
    problems = list(decision.problems)
    if not request.POST.get("rationale", "").strip():
        problems.append(FieldProblem("rationale", "Say why: both reviewers will read it."))
    elif is_only_begun(request.POST["rationale"]):
        problems.append(FieldProblem("rationale", f"This {ONLY_BEGUN}."))
    return problems


def _waiting(request: ProjectRequest, pk: UUID) -> Revision | None:
    return Revision.objects.to_adjudicate(request.project, request.user).filter(pk=pk).first()


def _found(request: ProjectRequest, pk: UUID) -> tuple[Revision, Sides]:
    found, sides = _still_waiting(request, pk)
    if found is None or sides is None:
        raise Http404
    return found, sides


def _still_waiting(request: ProjectRequest, pk: UUID) -> tuple[Revision | None, Sides | None]:
    waiting_revision = _waiting(request, pk)
    return waiting_revision, _sides(request, waiting_revision, request.POST) if waiting_revision else None


def _gone(request: ProjectRequest, pk: UUID) -> HttpResponse:
    """Say why this person cannot decide a revision now. Raises Http404."""
    own = judges_own(get_object_or_404(Revision.objects.in_project(request.project), pk=pk), request.user)
    return conflict(OWN_DISPUTE if own else DECIDED, url=_elsewhere(request, pk))


def _sides(request: ProjectRequest, revision: Revision, parameters: Mapping[str, str]) -> Sides | None:
    return sides_for(revision, request.user, request.role, parameters=parameters)


def _next(request: ProjectRequest, *, after: str = "", **context: Any) -> HttpResponse:
    """Show the first example that waits after one that was decided or left for later, else the first of all."""
    settle_due(project=request.project)
    waiting = Revision.objects.to_adjudicate(request.project, request.user)
    following = _later(waiting, after) or waiting.first()
    if following is not None:
        return _show(request, following, **context)
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
    context |= _context(request, revision)
    return page_or_fragment(request, page=PAGE, fragment=MAIN, context=context, url="" if here else url)


def _context(request: ProjectRequest, revision: Revision) -> dict[str, Any]:
    question_open(revision=revision, actor=request.user)
    draft = Draft.objects.filter(revision=revision, user=request.user).first()
    data = fields_of(draft.document) if draft else empty_form()
    asked = {name: request.GET.get(name, data.get(name, "")) for name in ("left", "right")}
    sides = _sides(request, revision, asked)
    if sides is None:
        raise Http404
    tools = tools_in(revision.tools)
    afresh = "afresh" in request.GET or sides.left is None
    result = outcome(data, sides, tools)
    waiting = Revision.objects.to_adjudicate(request.project, request.user)
    return {
        "revision": revision,
        "example": revision.example,
        "conversation": folded(read_conversation(revision.input)),
        "parts_url": _url(request, "revision", revision) + ("?afresh=1" if afresh else ""),
        "ask": "What should the agent do next?",
        "sides": sides,
        "comparison": comparison_of(sides),
        "looks": second_look_remarks(revision, request.user, request.role),
        "outcome": result,
        "outcome_url": _url(request, "outcome", revision),
        "afresh": afresh,
        "panel": panel(entered_afresh(data, sides, tools) if afresh else empty_form(), tools),
        "panel_url": _url(request, "panel", revision),
        "tools": offered(tools),
        "place": waiting.filter(pk__lte=revision.pk).count(),
        "total": waiting.count(),
        "phrases": PHRASES,
        "rationale": data.get("rationale", ""),
        "seconds": data.get("seconds", "0"),
        "saved_at": draft.saved_at if draft else None,
        "guideline": guideline_blocks(revision.example.dataset.guideline),
        "dataset": revision.example.dataset,
        "show_guide": "guide" in request.GET,
    }


def _refused(request: ProjectRequest, revision: Revision, problems: list[FieldProblem]) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return JsonResponse({"problems": problem_list(problems)}, status=422)
    draft_save(revision=revision, actor=request.user, document=draft_document(request.POST))
    context = _context(request, revision) | {"problems": problems}
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


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision so far: an answer and its expectation, and what is wrong with it or still open."""

    answer: str
    expectation: dict[str, Any] | None
    problems: tuple[FieldProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenPart:
    """A part that differs, and the side chosen: "left", "right", "both" or ""."""

    part: Part
    chosen: str
    number: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The gold so far; `aside` says why there will be none."""

    mode: str
    parts: tuple[ChosenPart, ...]
    words: ExpectationWords | None
    problems: tuple[str, ...]
    json: str = ""
    aside: str = ""

    @property
    def open(self) -> int:
        return sum(not part.chosen for part in self.parts) if self.mode == "sides" else 0

    @property
    def decided(self) -> int:
        return len(self.parts) - self.open

    @property
    def aside_words(self) -> str:
        return str(LabelAnswer(self.aside).label) if self.aside else ""


def comparison_of(sides: Sides) -> Comparison:
    """Return what the two columns shown differ in; nothing where there is but one."""
    if sides.left is None or sides.right is None:
        return Comparison((), ())
    return compare_answers(sides.left, sides.right)


def outcome(data: QueryDict, sides: Sides, tools: Sequence[ToolSpec], *, to: str = "") -> Outcome:
    """Return the gold so far for what is chosen or edited; `to` turns to "json", "aside" or back to "sides"."""
    parts = _parts(data, sides)
    mode = to or data.get("mode", "")
    if mode == "aside":
        return Outcome("aside", parts, None, (), aside=_aside(data))
    if mode == "json" and data.get("mode") == "json":
        entered = read_json(data.get("json", ""))
        return _told("json", parts, entered.document, tools, text=data.get("json", ""), found=entered.problems)
    so_far = _chosen(parts, sides)
    if so_far.expectation is None:
        # Taken from a side that says there is no gold: nothing to write down as JSON but a beginning.
        return Outcome("json", parts, None, (), "{}") if mode == "json" else _none(parts, so_far)
    text = _pretty(so_far.expectation) if mode == "json" else ""
    return _told("json" if mode == "json" else "sides", parts, so_far.expectation, tools, text=text)


def decided(data: QueryDict, sides: Sides, tools: Sequence[ToolSpec]) -> Decision:
    """Return what was decided: chosen from the sides, edited as JSON, entered in the form, or set aside."""
    mode = data.get("mode", "")
    if mode == "aside":
        return Decision(_aside(data), None)
    if mode == "sides" and sides.left is not None:
        parts = _parts(data, sides)
        if missing := sum(not part.chosen for part in parts):
            words = "difference is" if missing == 1 else "differences are"
            return Decision(EXPECTATION, None, (FieldProblem("", f"{missing} {words} still open."),))
        return _chosen(parts, sides)
    entered: Entered = read_json(data.get("json", "")) if mode == "json" else read_form(data, tools)
    return Decision(EXPECTATION, entered.document, tuple(entered.problems))


def entered_afresh(data: QueryDict, sides: Sides, tools: Sequence[ToolSpec]) -> QueryDict:
    """Return what the form of a decision begins with: what was entered in it, else the gold so far."""
    if data.get("mode") not in ("sides", "aside") and data:
        return data
    if not any(name.startswith("choice:") for name in data):
        return empty_form()
    so_far = decided(data, sides, tools).expectation
    return form_of(so_far, tools) if so_far is not None else empty_form()


def _aside(data: QueryDict) -> str:
    said = data.get("aside", "")
    return said if said in LabelAnswer.values and said != EXPECTATION else LabelAnswer.AMBIGUOUS.value


def _parts(data: QueryDict, sides: Sides) -> tuple[ChosenPart, ...]:
    found = []
    is_same = data.get("of", sides.token) == sides.token
    for number, part in enumerate(comparison_of(sides).differing):
        chosen = data.get(f"choice:{part.path}", "") if is_same else ""
        known = chosen in (LEFT, RIGHT) or (chosen == BOTH and part.may_be_both)
        found.append(ChosenPart(part, chosen if known else "", number))
    return tuple(found)


def _chosen(parts: Sequence[ChosenPart], sides: Sides) -> Decision:
    """Return the sides put together; where nothing is chosen yet, the left one stands in."""
    left, right = sides.left, sides.right
    if left is None:
        return Decision(EXPECTATION, None)
    if right is None or not parts:
        return Decision(left.answer, left.expectation)
    chosen = {one.part.path: one.chosen for one in parts if one.chosen}
    if left.expectation is None or right.expectation is None:
        taken = right if chosen.get("") == RIGHT else left
        return Decision(taken.answer, taken.expectation)
    return Decision(EXPECTATION, merged(left.expectation, right.expectation, chosen))


def _none(parts: tuple[ChosenPart, ...], so_far: Decision) -> Outcome:
    return Outcome("sides", parts, None, (), aside=so_far.answer if so_far.answer != EXPECTATION else "")


def _pretty(document: dict[str, Any]) -> str:
    """Return an expectation as JSON, in the order of its normal form where it has one."""
    with suppress(InvalidDocument):
        document = Expectation.from_document(document).to_document()
    return json.dumps(document, ensure_ascii=False, indent=2)


def _told(
    mode: str,
    parts: tuple[ChosenPart, ...],
    document: dict[str, Any] | None,
    tools: Sequence[ToolSpec],
    *,
    text: str,
    found: Sequence[FieldProblem] = (),
) -> Outcome:
    problems = [problem.message for problem in found]
    words = None
    if document is not None:
        try:
            expectation = Expectation.from_document(document)
        except InvalidDocument as error:
            problems += [str(problem) for problem in error.problems]
        else:
            words = expectation_words(expectation.to_document())
            problems += [str(problem) for problem in expectation_problems(expectation, tools)]
    return Outcome(mode, parts, words, tuple(problems), text)
