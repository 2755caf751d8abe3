"""Tell what every page needs to know about the project it is in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from toolevals.workspace.models import Role
from toolevals.workspace.navigation import help_address, navigation


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
