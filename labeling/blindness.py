"""Decide who sees what of other people's work before an example is resolved. Every read of labels goes through here.

- One's own labels, skips and drafts: always.
- Once the revision is resolved, by gold or set aside: every member of the project, the labels of all its rounds.
- Before: only someone who may adjudicate, only when all wanted labels are in and differ or two people have passed the
  example on, and never on a revision that the same person has ever labelled. Then without names and in an order that
  says nothing: see `sides_of`. Projects may let adjudicators decide what they have labelled (`Project.decide_own`, for
  teams of two); from the moment that they may look, their own label no longer changes.
- A revision that was reopened is not resolved: the labels, skips, disputes and remarks of its earlier rounds are hidden
  again from all but their authors, and its earlier gold and the reasons are shown to those alone who might decide (an
  adjudicator who has never labelled it), so that the next round is as blind as the first. Frozen versions keep what
  they hold: what they say was public, and stays so.
- A reviewer's questions about an example are read by adjudicators who may answer them, without a name, before it is
  resolved: see `answerable`. Other reviewers read them once it is.
- Calibration rounds hold resolved examples only, so that they tell nothing about what is still labelled. What others
  said in one, and how it compares with the gold, is shown to those who have answered all of it, or once it is closed.
- A spare label (its author's claim had ended, and no place was left) is seen as a label is, but counts in nothing, and
  who decides sees it only once the revision is resolved. Its author has labelled the revision.
- A person who disputes gold does not decide about it while their dispute is open: see `may_judge`. Nor is anyone
  offered an example to label whose author's question they have opened.
- Owners unlock nothing: what counts is the right to adjudicate and not having labelled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Case, Exists, F, OuterRef, Q, Value, When

from labeling.expectations.meaning import meaning
from toolevals.grading.values.canonical import canonical
from toolevals.json_types import JsonObject
from toolevals.workspace.models import Role, User

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models.expressions import Combinable

    from labeling.models import CalibrationRound, Label, Revision

# Values of `labeling.models.Resolution`: what is resolved, and what waits for an adjudicator.
RESOLVED = ("resolved", "set_aside")
TO_DECIDE = ("disagreed", "passed_on")
OPEN = "open"


def is_resolved(revision: str = "revision") -> Q:
    """Return the condition that a revision is resolved; `revision` is the path of lookups to it, "" from itself."""
    return Q(**{_path(revision, "resolution__in"): RESOLVED})


def visible(user: User, role: Role, *, author: str) -> Q:
    """Return the condition on a row of a revision (a label, a skip, a dispute) under which this person sees it.

    `author` is the row's field that names who wrote it. The role changes nothing: before a revision is resolved,
    no one sees another's row with its author. Adjudicators compare through `sides_of`.
    """
    return Q(**{author: user}) | is_resolved()


def recallable(user: User, role: Role, *, author: str) -> Q:
    """Return the condition on what was once in force (gold, and why it was reopened) under which this person sees it.

    Besides what `visible` says, those see it who might put it in force again.
    """
    if role < Role.ADJUDICATOR:
        return visible(user, role, author=author)
    return visible(user, role, author=author) | ~labelled_by(user, OuterRef("revision"))


def may_recall(revision: Revision, user: User, role: Role) -> bool:
    """Tell what `recallable` does of rows by others, for one loaded revision."""
    if revision.resolution in RESOLVED:
        return True
    return role >= Role.ADJUDICATOR and not _has_labelled(revision, user)


def comparable(user: User, role: Role) -> Q:
    """Return the condition on a label under which this person may compare it with the others of its revision."""
    if role < Role.ADJUDICATOR:
        return is_resolved()
    return is_resolved() | Q(revision__resolution__in=TO_DECIDE) & may_decide(user)


def may_decide(user: User, revision: str = "revision") -> Q:
    """Return the condition that having labelled is not in this adjudicator's way; `revision` as in `is_resolved`."""
    return ~labelled_by(user, OuterRef(revision or "pk")) | Q(
        **{_path(revision, "example__dataset__project__decide_own"): True}
    )


def labelled_by(user: User, revision: Any) -> Q:
    """Return the condition that this person has ever labelled the revision, a label taken back or spare included."""
    from labeling.models import Label, SpareLabel

    kinds = (Label.objects, SpareLabel.objects)
    label, spare = (Q(Exists(rows.filter(revision=revision, reviewer=user))) for rows in kinds)
    return label | spare


def decides_own(revision: Revision, user: User) -> bool:
    """Tell whether this person has labelled the revision and may not decide it for that reason."""
    return not revision.example.dataset.project.decide_own and _has_labelled(revision, user)


def may_judge(user: User) -> Q:
    """Return the condition that a revision, itself, is not resolved with a dispute of this person's open.

    Who says that gold is wrong does not decide whether it is. An import's dispute is the person's who imports.
    """
    from labeling.models import Dispute

    own = Dispute.objects.filter(revision=OuterRef("pk"), actor=user).open()
    return ~is_resolved("") | ~Q(Exists(own))


def judges_own(revision: Revision, user: User) -> bool:
    """Tell whether this person has an open dispute of a resolved revision, and may not decide it for that reason."""
    return revision.resolution in RESOLVED and revision.disputes.open().filter(actor=user).exists()


def shown_resolution(user: User, role: Role, *, revision: str) -> Combinable:
    """Return the resolution that this person is told: whether labels agree is no one's business but the adjudicator's.

    `revision` is the path of lookups to the revision, "" from itself.
    """
    from labeling.models import Resolution

    field = _path(revision, "resolution")
    resolved = When(is_resolved(revision), then=F(field))
    if role < Role.ADJUDICATOR:
        return Case(resolved, default=Value(Resolution.OPEN.value))
    return Case(resolved, When(may_decide(user, revision), then=F(field)), default=Value(Resolution.OPEN.value))


def is_told(status: str, role: Role) -> bool:
    """Tell whether `shown_resolution` ever tells someone of this role that a revision is in this status."""
    return status == OPEN or status in RESOLVED or role >= Role.ADJUDICATOR


def may_see_resolution(revision: Revision, user: User, role: Role) -> str:
    """Return what `shown_resolution` does, for one loaded revision."""
    from labeling.models import Resolution

    if revision.resolution in RESOLVED:
        return revision.resolution
    if role < Role.ADJUDICATOR or decides_own(revision, user):
        return Resolution.OPEN
    return revision.resolution


def calibration_waits(user: User, calibration: Any) -> Exists:
    """Return the condition that this person has something to answer of a calibration round, itself or an `OuterRef`.

    An example that was reopened rests: no one is asked about it, and what was said of it is hidden, until it is
    resolved again.
    """
    from labeling.models import CalibrationAnswer, CalibrationItem

    said = CalibrationAnswer.objects.filter(item=OuterRef("pk"), reviewer=user)
    return Exists(CalibrationItem.objects.filter(is_resolved(), ~Exists(said), round=calibration))


def comparable_calibration(user: User) -> Q:
    """Return the condition on a calibration answer by anyone under which this person sees it."""
    finished = Q(~calibration_waits(user, OuterRef("item__round")))
    return is_resolved("item__revision") & (Q(item__round__closed_at__isnull=False) | finished)


def may_compare_calibration(calibration: CalibrationRound, user: User) -> bool:
    """Tell whether this person may see the results of a round: it is closed, or they have answered all of it."""
    from labeling.models import CalibrationItem

    left = CalibrationItem.objects.filter(round=calibration).left_for(user)
    return calibration.closed_at is not None or not left.exists()


@dataclass(frozen=True, slots=True)
class Side:
    """A label as an adjudicator sees it: without its author, its id, when it was made or how long it took."""

    expectation: JsonObject | None
    rationale: str
    flagged: bool
    # A LabelAnswer; without an expectation it says why there is none.
    answer: str = "expectation"
    # What its author said first, where that means something else.
    first: Side | None = None


def sides_of(revision: Revision, user: User, role: Role) -> list[Side]:
    """Return the labels in force that this person may compare, unnamed, in an order that is stable and says nothing."""
    from labeling.models import Label

    labels = Label.objects.filter(revision=revision).comparable_by(user, role)
    firsts = {_author(label): label for label in labels.first_of_round() if any(_author(label))}
    sides = [_side(label, firsts.get(_author(label))) for label in labels.in_force()]
    return sorted(sides, key=lambda side: _shuffled(revision, side))


def _author(label: Label) -> tuple[UUID | None, str]:
    return label.reviewer_id, label.external_author


def _side(label: Label, first: Label | None = None) -> Side:
    changed = first is not None and meaning(first.answer, first.expectation) != meaning(label.answer, label.expectation)
    said_first = _side(first) if first is not None and changed else None
    return Side(label.expectation, label.rationale, label.flagged, label.answer, said_first)


def skip_reasons_of(revision: Revision, user: User, role: Role) -> Sequence[str]:
    """Return why people passed on what waits for this person's decision: unnamed, in the order of their words."""
    from labeling.models import Skip

    if role < Role.ADJUDICATOR or revision.resolution not in TO_DECIDE or decides_own(revision, user):
        return []
    return sorted(Skip.objects.filter(revision=revision).standing().values_list("reason", flat=True))


def answerable(user: User, role: Role) -> Q:
    """Return the condition on a comment under which this person reads it unnamed: as one who may answer.

    Questions tell what their author thinks of. So they are for adjudicators who have never labelled the revision and
    hold no claim on it; who answers is not offered it afterwards.
    """
    from labeling.models import LabelSlot, SlotState

    if role < Role.ADJUDICATOR:
        return Q(pk__in=[])
    held = LabelSlot.objects.filter(revision=OuterRef("revision"), reviewer=user, state=SlotState.CLAIMED)
    return ~labelled_by(user, OuterRef("revision")) & ~Q(Exists(held))


def may_answer(revision: Revision, user: User, role: Role) -> bool:
    """Tell what `answerable` does, for one loaded revision."""
    if role < Role.ADJUDICATOR or _has_labelled(revision, user):
        return False
    return not revision.slots.filter(reviewer=user, state="claimed").exists()


def _has_labelled(revision: Revision, user: User) -> bool:
    from labeling.models import Label, SpareLabel

    kinds = (Label.objects, SpareLabel.objects)
    return any(rows.filter(revision=revision, reviewer=user).exists() for rows in kinds)


def _path(revision: str, field: str) -> str:
    return f"{revision}__{field}" if revision else field


def _shuffled(revision: Revision, side: Side) -> bytes:
    """Return a key of a side's place: made of what it says, so that it follows neither time, nor place, nor person."""
    said = [str(revision.pk), side.answer, side.expectation, side.rationale]
    return hashlib.sha256(canonical(said).encode()).digest()
