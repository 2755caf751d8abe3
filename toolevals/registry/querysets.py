"""Read what is read of registries and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

from toolevals.workspace.address_numbers import whole_number
from toolevals.workspace.models import within

if TYPE_CHECKING:
    from toolevals.registry.models import Registry, RegistryVersion, ToolList  # noqa: F401
    from toolevals.workspace.models import Project


class RegistryQuerySet(models.QuerySet["Registry"]):
    """Reads of registries."""

    def in_project(self, project: Project) -> RegistryQuerySet:
        """Return the project's registries, by name."""
        return self.filter(project=project).order_by("name", "id")

    def with_newest(self) -> RegistryQuerySet:
        """Add `newest_id`, `newest_number`, `newest_size`, `newest_at` of each newest version; null without one."""
        from toolevals.registry.models import RegistryVersion

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
