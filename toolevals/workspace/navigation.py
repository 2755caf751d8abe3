"""Tells what every page needs to know, and finds the links in the top bar in the settings.

A lower room does not know the higher ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.module_loading import import_string

from toolevals.workspace.models import Role
from toolevals.workspace.requests import ProjectRequest


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the top bar; `count` is what waits there, None where nothing is counted."""

    title: str
    url: str
    current: bool
    count: int | None


def counted(request: HttpRequest) -> Mapping[str, int]:
    """Return what waits for the person who asks, by name: counted once for a request, for all its parts."""
    known: dict[str, int] | None = getattr(request, "counted", None)
    if known is None:
        project, role = getattr(request, "project", None), getattr(request, "role", None)
        known = {}
        if project is not None and role is not None:
            for path in settings.COUNTED:
                known |= import_string(path)(project, request.user, role)
        request.counted = known  # type: ignore[attr-defined]
    return known


def counted_at_home(request: ProjectRequest) -> dict[str, int]:
    """Return what waits for the person who asks, with what is counted for a project's first page alone."""
    found = dict(counted(request))
    for path in settings.HOME_COUNTED:
        found |= import_string(path)(request.project, request.user, request.role)
    return found


def navigation(request: HttpRequest) -> list[Link]:
    """Return the links for the person who asks, or none outside a project."""
    project, role = getattr(request, "project", None), getattr(request, "role", None)
    if project is None or role is None:
        return []
    links = []
    below = reverse("workspace:project", args=[project.slug])
    for entry in settings.NAVIGATION:
        if role < Role[entry.role]:
            continue
        count = counted(request)[entry.counts] if entry.counts else None
        url = reverse(entry.to, args=[project.slug])
        places = (url, *(f"{below}{section}/" for section in entry.sections))
        links.append(Link(entry.title, url, request.path.startswith(places), count))
    return links


def help_address(request: HttpRequest) -> str:
    """Return the place in the documents that explains the page that is shown; their index where none does."""
    match = request.resolver_match
    page, _, anchor = settings.HELP.get(match.view_name if match else "", "").partition("#")
    address = reverse("workspace:docs-page", args=[page]) if page else reverse("workspace:docs")
    return f"{address}#{anchor}" if anchor else address


def workspace(request: HttpRequest) -> dict[str, Any]:
    """Return who asks, the project and the role in it (None outside a project), and the top bar's links.

    Scripts of the pages keep what is of this installation alone by its prefix.
    """
    role = getattr(request, "role", None)
    return {
        "path_prefix": settings.PATH_PREFIX,
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "user": getattr(request, "user", None),
        "project": getattr(request, "project", None),
        "role": role,
        "is_owner": role == Role.OWNER,
        "may_adjudicate": role is not None and role >= Role.ADJUDICATOR,
        "may_label": role is not None and role >= Role.REVIEWER,
        "help_address": SimpleLazyObject(lambda: help_address(request)),
        "navigation": SimpleLazyObject(lambda: navigation(request)),
    }
