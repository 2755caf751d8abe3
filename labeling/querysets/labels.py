"""Read labels and skips; for agreement, first labels that were given blind."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery

from labeling.blindness import comparable, visible
from toolevals.workspace.models import Role, within

if TYPE_CHECKING:
    from labeling.models import Label, Skip, SpareLabel  # noqa: F401
    from toolevals.workspace.models import Project, User
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from labeling.blindness import is_resolved

if TYPE_CHECKING:
    from labeling.models import Dataset, Label  # noqa: F401


class ComparedLabels(models.QuerySet["Label"]):
    """Reads of the labels that agreement is counted of."""

    def compared_in(self, dataset: Dataset) -> Self:
        """Return the dataset's labels that may be compared before anyone: of what is resolved, and given blind.

        See `blind_firsts_in`.
        """
        return self.blind_firsts_in(dataset).filter(is_resolved())

    def blind_firsts_in(self, dataset: Dataset, submitted_until: datetime | None = None) -> Self:
        """Return the first labels of every round that were given blind, resolved or not: for figures of many alone.

        Of each person who has a label in force, the one that they submitted first, though they changed it. A label that
        was submitted after a decision that its author could read is not blind. `submitted_until` leaves out younger
        labels of what is not resolved.
        """
        from labeling.models import Adjudication, Gold

        told = {
            "revision": OuterRef("revision"),
            "created_at__gt": OuterRef("slot__claimed_at"),
            "created_at__lt": OuterRef("created_at"),
        }
        blind = [Q(~Exists(decisions.filter(**told))) for decisions in (Gold.objects, Adjudication.objects)]
        # By its place: SQLite would go through all examples to find those with a label.
        rows = self.firsts().filter(*blind, slot__dataset=dataset)
        return rows.filter(Q(created_at__lte=submitted_until) | is_resolved()) if submitted_until else rows

    def firsts(self) -> Self:
        """Return what everyone who has a label in force, or had in an earlier round, handed in first in that round."""
        from labeling.models import LabelSlot, SlotState

        place = LabelSlot.objects.filter(
            revision=OuterRef("revision"),
            round=OuterRef("slot__round"),
            reviewer=OuterRef("reviewer"),
            state=SlotState.SUBMITTED,
        )
        return self.filter(Q(Exists(place)) | Q(reviewer=None, withdrawn_at=None), is_first=True)

    def in_strata(self, strata: Mapping[str, str]) -> Self:
        """Return the labels of examples that have these values of strata."""
        return self.filter(**{f"revision__example__{name}": value for name, value in strata.items()})


class LabelQuerySet(ComparedLabels):
    """Reads of labels. Whatever leaves the application goes through `visible_to`."""

    def in_project(self, project: Project) -> LabelQuerySet:
        """Return the project's labels."""
        return self.filter(within(project, "revision__example__dataset"))

    def visible_to(self, user: User, role: Role) -> LabelQuerySet:
        """Return the labels that this person may see with their authors: their own, and those of what is resolved."""
        return self.filter(visible(user, role, author="reviewer"))

    def comparable_by(self, user: User, role: Role) -> LabelQuerySet:
        """Return the labels that this person may compare, unnamed: only `labeling.blindness.sides_of` reads them."""
        return self.filter(comparable(user, role))

    def newest(self) -> LabelQuerySet:
        """Return each slot's newest label, unless it was taken back; of every round of a revision."""
        newest = self.model.objects.filter(slot=OuterRef("slot")).order_by("-id")
        return self.filter(pk=Subquery(newest.values("pk")[:1]), withdrawn_at=None)

    def in_force(self) -> LabelQuerySet:
        """Return each slot's newest label, unless it was taken back; of each revision's current round."""
        return self.newest().filter(slot__round=F("revision__round"))

    def of_round(self, number: int) -> LabelQuerySet:
        """Return the labels of one round."""
        return self.filter(slot__round=number)

    def first_of_round(self) -> LabelQuerySet:
        """Return what each person said first, taken back or not, in each revision's current round."""
        return self.filter(is_first=True, slot__round=F("revision__round"))

    def standing(self, until: datetime | None = None) -> LabelQuerySet:
        """Return what `newest` does, as it was at a moment (None: now); made for counting very many."""
        later = self.model.objects.filter(slot=OuterRef("slot"), pk__gt=OuterRef("pk")).order_by()
        if until is None:
            return self.filter(~Exists(later), withdrawn_at=None)
        stood = Q(withdrawn_at=None) | Q(withdrawn_at__gt=until)
        return self.filter(stood, ~Exists(later.filter(created_at__lte=until)), created_at__lte=until)


class SpareLabelQuerySet(models.QuerySet["SpareLabel"]):
    """Reads of spare labels."""

    def in_project(self, project: Project) -> SpareLabelQuerySet:
        """Return the project's spare labels."""
        return self.filter(within(project, "revision__example__dataset"))

    def visible_to(self, user: User, role: Role) -> SpareLabelQuerySet:
        """Return the spare labels that this person may see: their own, and those of what is resolved."""
        return self.filter(visible(user, role, author="reviewer"))


class SkipQuerySet(models.QuerySet["Skip"]):
    """Reads of skips."""

    def visible_to(self, user: User, role: Role) -> SkipQuerySet:
        """Return the skips that this person may see."""
        return self.filter(visible(user, role, author="reviewer"))

    def standing(self) -> SkipQuerySet:
        """Return the skips that were not undone."""
        return self.filter(undone_at=None)
