"""Tell what registries tell on a project's first page: see `toolevals.workspace.home`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from toolevals.registry.models import RegistryVersion
from toolevals.workspace.home import MOST_NEWS, News
from toolevals.workspace.models import Project, within


def news(project: Project, since: datetime) -> Iterator[News]:
    """Yield versions of tools that were published, the newest first."""
    versions = RegistryVersion.objects.filter(within(project, "registry"), created_at__gt=since).order_by("-pk")
    for version in versions.select_related("registry", "tools", "actor")[: MOST_NEWS + 1]:
        url = reverse("registry:version", args=[project.slug, version.registry.slug, version.number])
        words = f"{version.registry.name} v{version.number} was published: {version.tools.size:,} tools"
        yield News(version.created_at, words, url, version.actor.name if version.actor else "")
