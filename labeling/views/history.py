"""Show how an example's gold came about.

Labels, decisions, disputes, rounds, as far as one may see them, oldest first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from labeling.blindness import RESOLVED, decides_own, may_recall
from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.models import (
    Adjudication,
    Comment,
    Dispute,
    Gold,
    GoldSource,
    Label,
    LabelAnswer,
    Revision,
    SecondLook,
    Skip,
    SpareLabel,
)
from labeling.services import reopening
from toolevals.workspace.models import AuditEntry, Role, User

SOURCES = {
    GoldSource.AGREED: "Gold by agreement",
    GoldSource.ADJUDICATED: "decided",
    GoldSource.SECOND_LOOK: "decided, after a reviewer had seen an agent's proposal",
    GoldSource.SINGLE: "Gold by a single label",
    GoldSource.IMPORTED: "Gold imported",
    GoldSource.RESTORED: "restored earlier gold",
}
BY_SOMEONE = frozenset({GoldSource.ADJUDICATED, GoldSource.SECOND_LOOK, GoldSource.RESTORED})


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
        yield Event(
            label.created_at,
            _name(label.reviewer),
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
        notes = ["kept as a spare label: others had the example meanwhile. It counts in no figure"]
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
        what = "asked" if comment.author_id == comment.asker_id else "answered"
        yield Event(comment.created_at, _name(comment.author), what, why=comment.text)


def _acts(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    """Return what only the audit log tells: reopenings, and what was set aside by agreement."""
    may_know = may_recall(revision, user, role)
    acts = AuditEntry.objects.filter(target_id=revision.pk, verb__in=[reopening.VERB, "revision_settle"])
    for act in acts.select_related("actor").order_by("pk"):
        if act.verb == reopening.VERB:
            why = act.detail.get("reason", "") if may_know or act.actor_id == user.pk else ""
            begins = int(act.detail.get("round", 0))
            yield Event(act.at, _name(act.actor), "reopened labelling", why=str(why), begins=begins)
        elif may_know:
            yield Event(act.at, "", "Set aside by agreement")


def _name(user: User | None) -> str:
    return user.name if user else ""
