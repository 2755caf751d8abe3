"""Tell what registries tell on a project's first page: see `toolevals.workspace.home`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from toolevals.registry.models import RegistryVersion
from toolevals.workspace.home import MOST_NEWS, News
from toolevals.workspace.models import Project, within


def news(project: Project, since: datetime) -> Iterator[News]:
    """Yield versions of tools that were published, the newest first."""
    for at, registry, name, number, size, by in _published(project, since):
        url = reverse("registry:version", args=[project.slug, registry, number])
        yield News(at, f"{name} v{number} was published: {size:,} tools", url, by or "")


def _published(project: Project, since: datetime) -> QuerySet[Any, Any]:
    return (
        RegistryVersion.objects.filter(within(project, "registry"), created_at__gt=since)
        .order_by("-pk")
        .values_list("created_at", "registry__slug", "registry__name", "number", "tools__size", "actor__name")[
            : MOST_NEWS + 1
        ]
    )
