"""Store what is evaluated."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.agents.connectors import CONNECTORS
from toolevals.registry.models import RegistryVersion
from toolevals.runs.baseline import baseline_agents
from toolevals.runs.querysets.runs import AgentQuerySet
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project


class Connector(models.TextChoices):
    """Names the ways in which an agent's transcripts are had."""

    UPLOAD = "upload", "uploaded predictions"
    BASELINE = "baseline", "the built-in baseline"
    OPENAI = "openai", CONNECTORS["openai"].words
    ANTHROPIC = "anthropic", CONNECTORS["anthropic"].words
    WEBHOOK = "webhook", CONNECTORS["webhook"].words
    BASELINE_AGENT = baseline_agents.BASELINE_AGENT, "a baseline agent"


class Agent(models.Model):
    """An agent in one exact state: model, prompt, commit and the tools it is given. Immutable, by content."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="agents")
    name = models.CharField(max_length=120)
    connector = models.CharField(max_length=20, choices=Connector.choices)
    model = models.CharField(max_length=120, blank=True)
    prompt_version = models.CharField(max_length=60, blank=True)
    commit = models.CharField(max_length=64, blank=True)
    # Where its tools are worded otherwise than the dataset's.
    tools = models.ForeignKey(RegistryVersion, null=True, on_delete=models.PROTECT, related_name="+")
    # What the connector needs to know.
    options = DocumentField(default=dict)
    # SHA-256 over all of the above.
    digest = models.CharField(max_length=64)
    created_at = MomentField(auto_now_add=True)

    objects = AgentQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "digest"], name="agent_digest"),
        ]

    def __str__(self) -> str:
        return self.name
