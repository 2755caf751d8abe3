"""Read proposed examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from labeling.models import Dataset, ProposedExample  # noqa: F401


class ProposalQuerySet(models.QuerySet["ProposedExample"]):
    """Reads of proposed examples."""

    def of_dataset(self, dataset: Dataset) -> ProposalQuerySet:
        """Return the dataset's proposals."""
        return self.filter(dataset=dataset)

    def open(self) -> ProposalQuerySet:
        """Return those of which no one has said anything."""
        from labeling.models import ProposalState

        return self.filter(state=ProposalState.OPEN)

    def about(self, *, tool: str = "", kind: str = "") -> ProposalQuerySet:
        """Return those of this tool and of this edge case; "" is any."""
        rows = self.filter(tool=tool) if tool else self
        return rows.filter(kind=kind) if kind else rows
