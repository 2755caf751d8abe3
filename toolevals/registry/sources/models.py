"""Store where a registry's tools come from, when to look there again, and what was seen: the row is the queue."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar
from urllib.parse import urlsplit

from django.db import models

from toolevals.agents.options import McpOptions
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import User


class SourceKind(models.TextChoices):
    """The form in which a source lists its tools."""

    MCP = "mcp", "MCP server"
    OPENAPI = "openapi", "OpenAPI document"


class SourceSchedule(models.TextChoices):
    """The times at which a source is looked at."""

    OFF = "off", "only when asked"
    HOURLY = "hourly", "every hour"
    DAILY = "daily", "every day"


PERIODS = {SourceSchedule.HOURLY: timedelta(hours=1), SourceSchedule.DAILY: timedelta(days=1)}


class ToolSourceQuerySet(models.QuerySet["ToolSource"]):
    """Reads of sources."""

    def due(self, now: datetime) -> ToolSourceQuerySet:
        """Return what a worker may look at now; what another holds is due again when that one's time is over."""
        return self.filter(due_at__lte=now, registry__deleted_at=None, registry__project__deleted_at=None)

    def with_everything(self) -> ToolSourceQuerySet:
        """Return sources with their registry, project and tools loaded."""
        return self.select_related("registry__project", "tools", "compared")


class ToolSource(models.Model):
    """The place where a registry's tools come from, and what the last looks found there."""

    id = PublicIdField()
    registry = models.OneToOneField("registry.Registry", on_delete=models.CASCADE, related_name="source")
    kind = models.CharField(max_length=10, choices=SourceKind.choices)
    # Those of `McpOptions`; of an OpenAPI document also the `tags` whose operations are taken.
    options = DocumentField()
    schedule = models.CharField(max_length=10, choices=SourceSchedule.choices, default=SourceSchedule.OFF)
    # When it is looked at next; while it is being looked at, when another worker may.
    due_at = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # The last look, what went wrong in it, and the last good one with the tools that it found.
    looked_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True)
    seen_at = models.DateTimeField(null=True)
    tools = models.ForeignKey("registry.ToolList", null=True, on_delete=models.RESTRICT, related_name="+")
    losses = DocumentField(default=list)
    # The version that these tools were compared with, and what they mean for gold: see `reports.tool_drift`.
    compared = models.ForeignKey("registry.RegistryVersion", null=True, on_delete=models.SET_NULL, related_name="+")
    effect = DocumentField(null=True, default=None)
    # The digest of the tools that people were told of last.
    told = models.CharField(max_length=64, blank=True)
    # Who wrote it last.
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = ToolSourceQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["due_at"], name="tool_source_due", condition=models.Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.address

    @property
    def place(self) -> McpOptions:
        """Return where it is."""
        return McpOptions.from_document({key: part for key, part in self.options.items() if key != "tags"})

    @property
    def tags(self) -> list[str]:
        """Return the tags whose operations are taken; all where there is none."""
        return list(self.options.get("tags", ()))

    @property
    def address(self) -> str:
        """Return where it is as every member may read it: a key in a query is left out."""
        place = self.place
        parts = urlsplit(place.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}" if place.url else place.line

    def is_waiting(self, now: datetime) -> bool:
        """Return whether it is being looked at, or a worker is to look."""
        return self.attempts > 0 or (self.due_at is not None and self.due_at <= now)
