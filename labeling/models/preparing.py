"""Store what prepares a dataset and its people: model suggestions, proposed edge cases, lint, keys."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models.datasets import Dataset
from labeling.models.examples import Example, Revision
from labeling.querysets.proposals import ProposalQuerySet
from toolevals.registry.models import ToolList
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, User


class Suggestion(models.Model):
    """The expectation that a model suggests for a revision; shown only where the project allows it."""

    id = PublicIdField()
    revision = models.OneToOneField(Revision, on_delete=models.CASCADE, related_name="suggestion")
    # Who says so, such as an agent's name and model.
    source = models.CharField(max_length=200)
    expectation = DocumentField()
    created_at = MomentField(auto_now_add=True)


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


class LintReport(models.Model):
    """The findings of a lint of a dataset; the newest is shown."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="lints")
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    # Findings and counts: see `labeling.lint`.
    document = DocumentField()
    created_at = MomentField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]


class KeyBindings(models.Model):
    """One person's own keys: `{"submit": "ctrl+enter", ...}`, where they differ from the usual ones."""

    id = PublicIdField()
    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="+")
    bindings = DocumentField(default=dict, blank=True)
