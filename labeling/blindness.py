"""Who sees what of other people's work before an example is resolved. Every read of labels goes through here.

- One's own labels, skips and drafts: always.
- Once the revision is resolved: every member of the project.
- Before: only somebody who may adjudicate, only when all wanted labels are in and differ, and never on a revision that
  the same person has labelled. Then without names and in an order that says nothing: see `sides_of`.
- Owners unlock nothing: what counts is the right to adjudicate and not having labelled.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Case, Exists, F, OuterRef, Q, Value, When

from toolevals.workspace.models import Role, User

if TYPE_CHECKING:
    from django.db.models.expressions import Combinable

    from labeling.models import Label, Revision


def visible(user: User, role: Role, *, author: str) -> Q:
    """Return the condition on a row of a revision (a label, a skip, a dispute) under which this person sees it.

    `author` is the row's field that names who wrote it. The role changes nothing: before a revision is resolved,
    nobody sees another's row with its author. Adjudicators compare through `sides_of`.
    """
    from labeling.models import Resolution

    return Q(**{author: user}) | Q(revision__resolution=Resolution.RESOLVED)


def comparable(user: User, role: Role) -> Q:
    """Return the condition on a label under which this person may compare it with the others of its revision."""
    from labeling.models import Resolution

    if role < Role.ADJUDICATOR:
        return Q(revision__resolution=Resolution.RESOLVED)
    decidable = Q(revision__resolution=Resolution.DISAGREED) & ~Q(labelled_by(user, OuterRef("revision")))
    return Q(revision__resolution=Resolution.RESOLVED) | decidable


def labelled_by(user: User, revision: Any) -> Exists:
    """Return the condition that this person has ever labelled the revision, a label taken back included."""
    from labeling.models import Label

    return Exists(Label.objects.filter(revision=revision, reviewer=user))


def shown_resolution(user: User, role: Role, *, revision: str) -> Combinable:
    """Return the resolution that this person is told: whether labels agree is nobody's business but the adjudicator's.

    `revision` is the path of lookups to the revision, "" from itself.
    """
    from labeling.models import Resolution

    field = f"{revision}__resolution" if revision else "resolution"
    resolved = When(**{field: Resolution.RESOLVED}, then=Value(Resolution.RESOLVED.value))
    if role < Role.ADJUDICATOR:
        return Case(resolved, default=Value(Resolution.OPEN.value))
    own = When(Q(labelled_by(user, OuterRef(revision or "pk"))), then=Value(Resolution.OPEN.value))
    return Case(resolved, own, default=F(field))


def may_see_resolution(revision: Revision, user: User, role: Role) -> str:
    """Return what `shown_resolution` does, for one revision at hand."""
    from labeling.models import Label, Resolution

    if revision.resolution == Resolution.RESOLVED:
        return Resolution.RESOLVED
    if role < Role.ADJUDICATOR or Label.objects.filter(revision=revision, reviewer=user).exists():
        return Resolution.OPEN
    return revision.resolution


@dataclass(frozen=True, slots=True)
class Side:
    """A label as an adjudicator sees it: without its author, its time or its id."""

    expectation: dict[str, Any]
    rationale: str
    flagged: bool


def sides_of(revision: Revision, user: User, role: Role) -> list[Side]:
    """Return the labels in force that this person may compare, unnamed, in an order that is stable and says nothing."""
    from labeling.models import Label

    labels = Label.objects.filter(revision=revision).comparable_by(user, role).in_force()
    return [Side(label.expectation, label.rationale, label.flagged) for label in sorted(labels, key=_shuffled)]


def _shuffled(label: Label) -> bytes:
    return hashlib.sha256(f"{label.revision_id} {label.slot_id}".encode()).digest()
