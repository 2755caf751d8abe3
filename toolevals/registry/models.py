"""Stores tool specs by content, the lists that they are offered in, and a team's named registries."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.registry.querysets import RegistryQuerySet, RegistryVersionQuerySet, ToolListQuerySet
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, Trashable, Untrashed, User


class ToolSpec(models.Model):
    """A tool's name, description and schemas; immutable, named by its content's hash."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tool_specs")
    # SHA-256 of the canonical document.
    digest = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    # The document of `toolevals.grading.values.ToolSpec`.
    document = DocumentField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "digest"], name="tool_spec_digest"),
        ]


class ToolList(models.Model):
    """An ordered list of tool specs, offered together; immutable, named by its content's hash."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tool_lists")
    # SHA-256 over the specs' digests, in order.
    digest = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    specs: models.ManyToManyField[ToolSpec, ToolListEntry] = models.ManyToManyField(ToolSpec, through="ToolListEntry")

    objects = ToolListQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "digest"], name="tool_list_digest"),
        ]


class ToolListEntry(models.Model):
    """One place in a tool list."""

    tools = models.ForeignKey(ToolList, on_delete=models.CASCADE, related_name="entries")
    position = models.PositiveIntegerField()
    spec = models.ForeignKey(ToolSpec, on_delete=models.RESTRICT, related_name="+")

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["tools", "position"], name="tool_list_position"),
        ]


class Registry(Trashable):
    """A team's named collection of tools, which changes from version to version."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="registries")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    created_at = MomentField(auto_now_add=True)

    objects = Untrashed.from_queryset(RegistryQuerySet)()
    with_trash = RegistryQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["project", "slug"],
                condition=models.Q(deleted_at=None),
                name="registry_slug",
                violation_error_message="Registry with this Project and Slug already exists.",
            ),
        ]

    def __str__(self) -> str:
        return self.slug


class RegistryVersion(models.Model):
    """The content of a registry from one day on; immutable."""

    id = PublicIdField()
    registry = models.ForeignKey(Registry, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    tools = models.ForeignKey(ToolList, on_delete=models.RESTRICT, related_name="registry_versions")
    note = models.CharField(max_length=300, blank=True)
    # What could not be carried over from the file's format: `[{"pointer", "message"}]`.
    losses = DocumentField(default=list)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = RegistryVersionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["registry", "number"], name="registry_version_number"),
        ]

    def __str__(self) -> str:
        return f"{self.registry.slug}@{self.number}"
