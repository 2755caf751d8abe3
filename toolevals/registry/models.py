"""Stores tool specs by content, the lists that they are offered in, and a team's named registries."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.registry.guard_checks.models import GuardCount, GuardDay
from toolevals.registry.policies.models import Policy, PolicyVersion
from toolevals.registry.sources.models import ToolSource
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, Trashable, Untrashed, User, within
from toolevals.workspace.requests import whole_number

__all__ = [
    "GuardCount",
    "GuardDay",
    "Policy",
    "PolicyVersion",
    "Registry",
    "RegistryVersion",
    "ToolList",
    "ToolListEntry",
    "ToolSource",
    "ToolSpec",
]


class RegistryQuerySet(models.QuerySet["Registry"]):
    """Reads of registries."""

    def in_project(self, project: Project) -> RegistryQuerySet:
        """Return the project's registries, by name."""
        return self.filter(project=project).order_by("name", "id")

    def with_newest(self) -> RegistryQuerySet:
        """Add `newest_id`, `newest_number`, `newest_size`, `newest_at` of each newest version; null without one."""
        newest = RegistryVersion.objects.filter(registry=models.OuterRef("pk")).order_by("-number")
        return self.annotate(
            newest_id=models.Subquery(newest.values("pk")[:1]),
            newest_number=models.Subquery(newest.values("number")[:1]),
            newest_size=models.Subquery(newest.values("tools__size")[:1]),
            newest_at=models.Subquery(newest.values("created_at")[:1]),
        )


class RegistryVersionQuerySet(models.QuerySet["RegistryVersion"]):
    """Reads of registry versions."""

    def in_project(self, project: Project) -> RegistryVersionQuerySet:
        """Return every version of the project's registries, the newest of each first."""
        return (
            self.filter(within(project, "registry")).select_related("registry", "tools").order_by("registry", "-number")
        )

    def newest(self, project: Project) -> RegistryVersion | None:
        """Return the version of the project that was published last; None where there is none."""
        return self.in_project(project).order_by("-created_at", "-pk").first()

    def named(self, project: Project, name: str) -> RegistryVersion | None:
        """Return the version called "slug" (the newest) or "slug@number", or None."""
        slug, at, number = name.partition("@")
        found = self.filter(within(project, "registry"), registry__slug=slug)
        if at:
            asked = whole_number(number)
            found = found.none() if asked is None else found.filter(number=asked)
        return found.select_related("registry", "tools").order_by("-number").first()


class ToolListQuerySet(models.QuerySet["ToolList"]):
    """Reads of tool lists."""

    def in_project(self, project: Project) -> ToolListQuerySet:
        """Return the project's tool lists."""
        return self.filter(project=project)


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
