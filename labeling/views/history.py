"""How an example's gold came about: labels, decisions, disputes, as far as one may see them, oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from labeling.models import Dispute, Gold, GoldSource, Label, Revision, Skip
from labeling.wording import ExpectationWords, expectation_words
from toolevals.workspace.models import Role, User

SOURCES = {
    GoldSource.AGREED: "Gold by agreement",
    GoldSource.ADJUDICATED: "decided",
    GoldSource.SINGLE: "Gold by a single label",
    GoldSource.IMPORTED: "Gold imported",
}


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: when, who (may be nobody), what, and what was expected and why."""

    at: datetime
    who: str
    what: str
    words: ExpectationWords | None = None
    why: str = ""
    seconds: float = 0
    withdrawn: bool = False


def history_of(revision: Revision, user: User, role: Role) -> list[Event]:
    """Return the events of a revision that this person may see."""
    events = [*_labels(revision, user, role), *_golds(revision), *_others(revision, user, role)]
    return sorted(events, key=lambda event: event.at)


def _labels(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    labels = Label.objects.filter(revision=revision).visible_to(user, role).select_related("reviewer")
    for label in labels:
        yield Event(
            label.created_at,
            _name(label.reviewer),
            "labelled",
            expectation_words(label.expectation),
            label.rationale,
            label.seconds,
            withdrawn=label.withdrawn_at is not None,
        )


def _golds(revision: Revision) -> Iterator[Event]:
    for gold in Gold.objects.history_of(revision):
        decided = gold.source == GoldSource.ADJUDICATED
        yield Event(
            gold.created_at,
            _name(gold.actor) if decided else "",
            SOURCES[GoldSource(gold.source)],
            expectation_words(gold.expectation),
            gold.rationale if decided or gold.source == GoldSource.IMPORTED else "",
            gold.adjudication.seconds if gold.adjudication else 0,
        )


def _others(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    for skip in Skip.objects.filter(revision=revision).visible_to(user, role).standing().select_related("reviewer"):
        yield Event(skip.created_at, _name(skip.reviewer), "skipped", why=skip.reason)
    for dispute in Dispute.objects.filter(revision=revision).visible_to(user, role).select_related("actor"):
        words = expectation_words(dispute.expectation) if dispute.expectation else None
        what = "disputed the gold" if dispute.actor else "An import disputed the gold"
        yield Event(dispute.created_at, _name(dispute.actor), what, words, dispute.reason)
        if dispute.settled_at:
            yield Event(dispute.settled_at, "", "The dispute was settled")


def _name(user: User | None) -> str:
    return user.name if user else ""
