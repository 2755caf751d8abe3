"""Finds tools and registries by name: see `toolevals.workspace.search`."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import OuterRef, Subquery
from django.urls import reverse

from toolevals.registry.models import Registry, RegistryVersion, ToolListEntry
from toolevals.workspace.models import within
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.search import MOST, Found


def registry_found(request: ProjectRequest, words: str) -> Iterator[Found]:
    """Yield the tools of the newest version of each registry, and the registries."""
    project = request.project
    newest = RegistryVersion.objects.filter(registry=OuterRef("registry")).order_by("-number").values("pk")[:1]
    versions = RegistryVersion.objects.filter(within(project, "registry"), pk=Subquery(newest))
    by_list = {version.tools_id: version for version in versions.select_related("registry").order_by("-pk")}
    entries = ToolListEntry.objects.filter(tools__in=list(by_list), spec__name__icontains=words)
    for entry in entries.select_related("spec").order_by("spec__name", "pk")[:MOST]:
        version = by_list[entry.tools_id]
        url = reverse("registry:version", args=[project.slug, version.registry.slug, version.number])
        yield Found("Tools", entry.spec.name, str(version), f"{url}#tool-{entry.position + 1}")
    for registry in Registry.objects.filter(project=project, name__icontains=words).order_by("name", "pk")[:MOST]:
        url = reverse("registry:registry", args=[project.slug, registry.slug])
        yield Found("Registries", registry.name, registry.slug, url)
