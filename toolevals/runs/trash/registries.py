"""Delete registries. A version that a dataset or an agent takes its tools from stays, and so does a tombstone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.deletion import ProtectedError, RestrictedError

from labeling.models import Dataset
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.runs.models import Agent
from toolevals.workspace.models import Project
from toolevals.workspace.trash.kinds import TrashKind


class Registries(TrashKind):
    """Registries with their versions. The tool specs in them stay, as examples and other registries share them."""

    name: ClassVar[str] = "registry"
    model: ClassVar[type[Any]] = Registry

    def rows(self, project: Project) -> models.QuerySet[Any]:
        return super().rows(project).select_related("deleted_by")

    def takes(self, row: Any) -> Sequence[tuple[int, str, str]]:
        return [(row.versions.exclude(_in_use()).count(), "version", "versions")]

    def rests(self, row: Any) -> Iterable[str]:
        for version in row.versions.filter(_in_use()).order_by("number"):
            datasets = Dataset.objects.filter(default_tools=version).order_by("name").values_list("name", flat=True)
            agents = Agent.objects.filter(tools=version).order_by("name").values_list("name", flat=True).distinct()
            names = ", ".join([*datasets, *agents]) or "something in the trash"
            yield f"Version {version.number} stays for {names}."

    def remains(self, row: Any) -> dict[str, Any]:
        versions = row.versions.select_related("tools").order_by("number")
        return {
            "versions": [
                {
                    "id": str(version.pk),
                    "number": version.number,
                    "size": version.tools.size,
                    "digest": version.tools.digest,
                }
                for version in versions
            ]
        }

    def left(self, row: Any) -> int:
        return int(RegistryVersion.objects.filter(registry=row).count())

    def destroy(self, row: Any, until: float) -> bool:
        for version in RegistryVersion.objects.filter(registry=row).order_by("pk"):
            try:
                version.delete()
            except (ProtectedError, RestrictedError):
                continue
        return True

    def finish(self, row: Any) -> bool:
        if not RegistryVersion.objects.filter(registry=row).exists():
            Registry.with_trash.filter(pk=row.pk).delete()
        return True


def _in_use() -> Q:
    """Return the condition that a version is what a dataset or an agent takes its tools from."""
    datasets = Dataset.with_trash.exclude(default_tools=None).values("default_tools")
    return Q(pk__in=datasets) | Q(pk__in=Agent.objects.exclude(tools=None).values("tools"))
