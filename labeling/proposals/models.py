"""Store proposed examples, and read them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.datasets.models import Dataset
from labeling.examples.models import Example, Revision
from toolevals.registry.models import ToolList
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import User


class ProposalQuerySet(models.QuerySet["ProposedExample"]):
    """Reads of proposed examples."""

    def of_dataset(self, dataset: Dataset) -> ProposalQuerySet:
        """Return the dataset's proposals."""
        return self.filter(dataset=dataset)

    def open(self) -> ProposalQuerySet:
        """Return those of which no one has said anything."""
        return self.filter(state=ProposalState.OPEN)

    def about(self, *, tool: str = "", kind: str = "") -> ProposalQuerySet:
        """Return those of this tool and of this edge case; "" is any."""
        rows = self.filter(tool=tool) if tool else self
        return rows.filter(kind=kind) if kind else rows


class ProposalState(models.TextChoices):
    """The decision of a person about a proposed example."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class ProposedExample(models.Model):
    """An edge case of one parameter, drafted from an example that is there, for a person to accept or to drop."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="proposals")
    origin = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    tool = models.CharField(max_length=200)
    # A JSON pointer into the tool's arguments.
    parameter = models.CharField(max_length=300)
    # One of `toolevals.grading.edge_cases`.
    kind = models.CharField(max_length=40)
    input = DocumentField()
    tools = models.ForeignKey(ToolList, on_delete=models.RESTRICT, related_name="+")
    expectation = DocumentField(null=True)
    state = models.CharField(max_length=10, choices=ProposalState.choices, default=ProposalState.OPEN)
    # What it became.
    example = models.ForeignKey(Example, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = ProposalQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["dataset", "tool", "parameter", "kind", "origin"], name="one_proposal_each"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["dataset", "state", "id"], name="proposal_state")]
