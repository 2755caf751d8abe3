"""Show one example: its contents, its gold and how that came about; dispute, reopen and restore it.

Labels, decisions, disputes, rounds are shown as far as one may see them, oldest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.adjudicate import services
from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import dispute_open, revision_reopen
from labeling.batches.forms import AssigneeForm, reviewers_of
from labeling.blindness import RESOLVED, TO_DECIDE, decides_own, judges_own, may_recall, may_see_resolution
from labeling.conversation import read_conversation
from labeling.conversation.turns import folded
from labeling.datasets.forms import DecidedByForm, DisputeForm, ReasonForm
from labeling.datasets.services import example_decide_by
from labeling.errors import InvalidAct
from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.label.answers import parts_asked
from labeling.label.context import offered
from labeling.models import (
    Adjudication,
    Comment,
    DatasetVersion,
    Dispute,
    Example,
    Gold,
    GoldSource,
    Label,
    LabelAnswer,
    Resolution,
    Revision,
    SecondLook,
    Skip,
    SpareLabel,
    VersionEntry,
)
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import decided_words
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.mentions.names import text_named
from toolevals.workspace.models import AuditEntry, Role, User
from toolevals.workspace.requests import ProjectRequest, whole_number

SOURCES = {
    GoldSource.AGREED: "Gold by agreement",
    GoldSource.ELSEWHERE: "Gold by labels given elsewhere",
    GoldSource.ADJUDICATED: "decided",
    GoldSource.SECOND_LOOK: "decided, after a reviewer had seen an agent's proposal",
    GoldSource.SINGLE: "Gold by a single label",
    GoldSource.IMPORTED: "Gold imported",
    GoldSource.RESTORED: "restored earlier gold",
}
ELSEWHERE = "given elsewhere and imported: if it was blind is not known"
BY_SOMEONE = frozenset({GoldSource.ADJUDICATED, GoldSource.SECOND_LOOK, GoldSource.RESTORED})


@require_GET
def example(request: ProjectRequest, dataset: str, example: UUID) -> HttpResponse:
    """Show an example; with `?revision=`, one of its earlier revisions, with `?version=`, as a version froze it."""
    settle_due(project=request.project)
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
        return dispute_open(revision=current, actor=request.user, reason=reason)

    return _acted(request, example_row, form, open_dispute, dispute_form=form)


@require_POST
def dispute_assign(request: ProjectRequest, dataset: str, example: UUID, dispute: UUID) -> HttpResponse:
    """Say who should decide a dispute, and until when."""
    example_row = _example(request, dataset, example)
    disputes = Dispute.objects.filter(revision__example=example_row).visible_to(request.user, request.role)
    found = get_object_or_404(disputes, pk=dispute)
    form = AssigneeForm(request.POST, project=request.project)
    if not form.is_valid():
        messages.error(request, "Nothing was assigned: choose an adjudicator, and a day such as 2027-01-31.")
    else:
        try:
            services.dispute_assign(dispute=found, actor=request.user, **form.cleaned_data)
        except InvalidAct as error:
            messages.error(request, str(error))
    return redirect("labeling:example", request.project.slug, dataset, example_row.pk)


@require_POST
def reopen(request: ProjectRequest, dataset: str, example: UUID) -> HttpResponse:
    """Begin another round of labels."""
    example_row = _example(request, dataset, example)
    form = ReasonForm(request.POST, prefix="reopen")

    def begin(reason: str) -> object:
        current = get_object_or_404(Revision, pk=example_row.current_id)
        return revision_reopen(revision=current, actor=request.user, reason=reason)

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
        example_decide_by(example=example_row, actor=request.user, decided_by=form.cleaned_data["decided_by"])
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
        "disputes": disputes.select_related("actor", "assignee"),
        "adjudicators": reviewers_of(request.project, Role.ADJUDICATOR),
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


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: when, who (may be no one), what, and what was expected and why."""

    at: datetime
    who: str
    what: str
    words: ExpectationWords | None = None
    why: str = ""
    seconds: float = 0
    withdrawn: bool = False
    # What else is to be known, such as the guideline of the time.
    notes: tuple[str, ...] = ()
    # Gold that can be put in force again by this reader.
    gold: UUID | None = None
    in_force: bool = False
    # The number of the round that begins with it.
    begins: int = 0


def history_of(revision: Revision, user: User, role: Role) -> list[Event]:
    """Return the events of a revision that this person may see."""
    # Every read is in order of creation, and the sort is stable: events of one moment keep their order.
    events = [
        *_labels(revision, user, role),
        *_spares(revision, user, role),
        *_looks(revision, user),
        *_golds(revision, user, role),
        *_set_aside(revision, user, role),
        *_skips(revision, user, role),
        *_disputes(revision, user, role),
        *_comments(revision, user, role),
        *_acts(revision, user, role),
    ]
    return sorted(events, key=lambda event: event.at)


def _labels(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    labels = Label.objects.filter(revision=revision).visible_to(user, role).select_related("reviewer").order_by("pk")
    for label in labels:
        notes = [f"guideline {label.guideline}"] if label.guideline else []
        if label.suggestion is not None:
            notes.append("a model's suggestion was shown")
        if label.flagged:
            notes.append("flagged")
        if label.external_author:
            notes.append(ELSEWHERE)
        yield Event(
            label.created_at,
            label.author_name,
            _said(label),
            expectation_words(label.expectation) if label.expectation is not None else None,
            label.rationale,
            label.seconds,
            withdrawn=label.withdrawn_at is not None,
            notes=tuple(notes),
        )


def _spares(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    spares = SpareLabel.objects.filter(revision=revision).visible_to(user, role).select_related("reviewer")
    for spare in spares.order_by("pk"):
        words = expectation_words(spare.expectation) if spare.expectation is not None else None
        what = "labelled" if words else f"answered: {LabelAnswer(spare.answer).label}"
        notes = ["saved as a spare label: others had already labelled the example. It is not counted"]
        if spare.guideline:
            notes.append(f"guideline {spare.guideline}")
        yield Event(
            spare.created_at,
            _name(spare.reviewer),
            what,
            words,
            spare.rationale,
            spare.seconds,
            notes=tuple(notes),
        )


def _looks(revision: Revision, user: User) -> Iterator[Event]:
    looks = SecondLook.objects.filter(revision=revision).exclude(answer="").select_related("reviewer", "proposal__plan")
    if revision.resolution not in RESOLVED:
        looks = looks.filter(reviewer=user)
    for look in looks.order_by("pk"):
        plan = look.proposal.plan
        is_told = look.proposal.is_planted and plan.ended_at is not None
        yield Event(
            look.answered_at or look.shown_at,
            _name(look.reviewer),
            f"{look.get_answer_display()}, after seeing an agent",
            expectation_words(look.proposal.expectation),
            look.remark,
            notes=("it was wrong on purpose",) if is_told else (),
        )


def _said(label: Label) -> str:
    if label.expectation is not None:
        return "labelled" if label.is_first else "changed the label"
    how = "answered" if label.is_first else "changed the label"
    return f"{how}: {LabelAnswer(label.answer).label}"


def _golds(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    may_restore = role >= Role.ADJUDICATOR and not decides_own(revision, user)
    for gold in Gold.objects.history_of(revision).visible_to(user, role).order_by("pk"):
        source = GoldSource(gold.source)
        made = gold.adjudication
        in_force = revision.gold_id == gold.pk
        yield Event(
            gold.created_at,
            _name(gold.actor) if source in BY_SOMEONE else "",
            SOURCES[source],
            expectation_words(gold.expectation),
            gold.rationale if source in BY_SOMEONE or source == GoldSource.IMPORTED else "",
            made.seconds if made else 0,
            withdrawn=made is not None and made.withdrawn_at is not None,
            gold=gold.pk if may_restore and not in_force else None,
            in_force=in_force,
        )


def _set_aside(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    if not may_recall(revision, user, role):
        return
    made = Adjudication.objects.filter(revision=revision).exclude(answer=LabelAnswer.EXPECTATION)
    for one in made.select_related("adjudicator").order_by("pk"):
        yield Event(
            one.created_at,
            _name(one.adjudicator),
            f"set it aside: {LabelAnswer(one.answer).label}",
            why=one.rationale,
            seconds=one.seconds,
            withdrawn=one.withdrawn_at is not None,
        )


def _skips(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    skips = list(
        Skip.objects.filter(revision=revision).visible_to(user, role).select_related("reviewer").order_by("pk")
    )
    # Reopening ends skips too; that is not taking them back.
    undone = set(
        AuditEntry.objects.filter(verb="skip_undo", target_id__in=[skip.pk for skip in skips]).values_list(
            "target_id", flat=True
        )
    )
    for skip in skips:
        yield Event(skip.created_at, _name(skip.reviewer), "skipped", why=skip.reason, withdrawn=skip.pk in undone)


def _disputes(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    disputes = Dispute.objects.filter(revision=revision).visible_to(user, role).select_related("actor")
    for dispute in disputes.order_by("pk"):
        words = expectation_words(dispute.expectation) if dispute.expectation else None
        what = "disputed it" if dispute.actor else "An import disputed it"
        yield Event(dispute.created_at, _name(dispute.actor), what, words, dispute.reason)
        if dispute.settled_at:
            yield Event(dispute.settled_at, "", "The dispute was settled")


def _comments(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    comments = Comment.objects.filter(revision=revision).visible_to(user, role).select_related("author")
    for comment in comments.order_by("pk"):
        if comment.external_author:
            yield Event(comment.created_at, comment.external_author, "noted", why=comment.text, notes=(ELSEWHERE,))
            continue
        what = "asked" if comment.author_id == comment.asker_id else "answered"
        yield Event(comment.created_at, _name(comment.author), what, why=text_named(comment.text))


def _acts(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    """Return what only the audit log tells: reopenings, and what was set aside by agreement."""
    may_know = may_recall(revision, user, role)
    acts = AuditEntry.objects.filter(target_id=revision.pk, verb__in=[services.REOPENED, "revision_settle"])
    for act in acts.select_related("actor").order_by("pk"):
        if act.verb == services.REOPENED:
            why = act.detail.get("reason", "") if may_know or act.actor_id == user.pk else ""
            begins = int(act.detail.get("round", 0))
            yield Event(act.at, _name(act.actor), "reopened labelling", why=str(why), begins=begins)
        elif may_know:
            yield Event(act.at, "", "Set aside by agreement")


def _name(user: User | None) -> str:
    return user.name if user else ""
