"""Read labels for agreement: first labels that were given blind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q

from labeling.blindness import is_resolved

if TYPE_CHECKING:
    from labeling.models import Dataset, Label  # noqa: F401


class ComparedLabels(models.QuerySet["Label"]):
    """Reads of the labels that agreement is counted of."""

    def compared_in(self, dataset: Dataset) -> Self:
        """Return the dataset's labels that may be compared before anybody: of what is resolved, and given blind.

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
        """Return what everybody who has a label in force, or had in an earlier round, handed in first in that round."""
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
