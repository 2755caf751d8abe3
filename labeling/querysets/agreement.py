"""Reads of labels for agreement: those that can be compared, and nothing of what is not resolved."""

from __future__ import annotations

from collections.abc import Mapping
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

        Of each person who has a label in force the one that they handed in first, though they changed it; of every
        round of a revision. One that was handed in after the decision that its author could read by then is not blind.
        """
        from labeling.models import Adjudication, Gold

        told = {
            "revision": OuterRef("revision"),
            "created_at__gt": OuterRef("slot__claimed_at"),
            "created_at__lt": OuterRef("created_at"),
        }
        blind = [Q(~Exists(decisions.filter(**told))) for decisions in (Gold.objects, Adjudication.objects)]
        return self.firsts().filter(is_resolved(), *blind, revision__example__dataset=dataset)

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
