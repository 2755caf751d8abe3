"""Searches and shows what a person may open in a project. The settings list the functions that find, one for each room.

`SEARCHED`: `(request, words) -> Iterable[Found]`, at most MOST of each kind. `words` are at least one character long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.module_loading import import_string
from django.views.decorators.http import require_GET

from toolevals.workspace.access import rules
from toolevals.workspace.models import Membership, Role
from toolevals.workspace.requests import ProjectRequest

MOST: Final = 8
LONGEST: Final = 200
# The project's pages that have a name of their own: address -> title.
PAGES: Final = {
    "workspace:project": "Overview",
    "workspace:members": "Members",
    "workspace:jobs": "Jobs",
    "workspace:tokens": "API tokens",
    "workspace:secrets": "Secrets",
    "workspace:audit": "Audit log",
    "workspace:settings": "Settings of the project",
    "labeling:labelling-settings": "Labelling settings",
    "labeling:datasets": "Datasets",
    "labeling:questions": "Questions",
    "runs:runs": "Runs",
    "runs:new": "New run",
    "runs:agents": "Agents",
    "runs:experiments": "Experiments",
    "runs:judges": "Judges",
    "runs:rubrics": "Rubrics",
    "runs:simulators": "Simulators",
    "reports:gates": "Gates",
    "reports:solved": "Agents and examples",
    "registry:registries": "Tools",
    "reports:policies": "Guard",
}


@dataclass(frozen=True, slots=True)
class Found:
    """Something that was found: its kind in the plural, its name, what tells it from others, and its address."""

    kind: str
    name: str
    detail: str
    url: str


@dataclass(frozen=True, slots=True)
class Group:
    """A group of what was found: all of one kind."""

    kind: str
    found: tuple[Found, ...]


def search(request: ProjectRequest, words: str) -> tuple[Group, ...]:
    """Return what the person who asks may open and whose name holds the words, by kind. Nothing without words."""
    words = words.strip()[:LONGEST]
    groups: dict[str, list[Found]] = {}
    for found in _found(request, words) if words else ():
        groups.setdefault(found.kind, []).append(found)
    return tuple(Group(kind, tuple(found)) for kind, found in groups.items())


def _found(request: ProjectRequest, words: str) -> Iterator[Found]:
    for path in settings.SEARCHED:
        find = import_string(path)
        yield from find(request, words)


def workspace_found(request: ProjectRequest, words: str) -> Iterable[Found]:
    """Yield the person's projects and the pages of this one, by name."""
    memberships = Membership.objects.filter(user=request.user, project__name__icontains=words)
    for membership in memberships.select_related("project").order_by("project__name", "pk")[:MOST]:
        url = reverse("workspace:project", args=[membership.project.slug])
        yield Found("Projects", membership.project.name, membership.project.slug, url)
    wanted = words.casefold()
    pages = [(name, title) for name, title in PAGES.items() if wanted in title.casefold() and may_read(request, name)]
    for name, title in pages[:MOST]:
        yield Found("Pages", title, "", reverse(name, args=[request.project.slug]))


def may_read(request: ProjectRequest, name: str) -> bool:
    """Return whether the person who asks may read the page of that name."""
    least = rules()[name].read
    return isinstance(least, Role) and request.role >= least


@require_GET
def search_page(request: ProjectRequest) -> HttpResponse:
    """Show what the words of `?q=` find; to htmx the list alone."""
    words = request.GET.get("q", "")
    context = {"words": words.strip(), "groups": search(request, words)}
    template = "workspace/parts/search_found.html" if request.htmx else "workspace/search.html"
    return render(request, template, context)
