"""The request as a view behind the access middleware gets it."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from toolevals.workspace.models import ApiToken, Project, Role, User

API_PREFIX = "/api/"


class SignedInRequest(HttpRequest):
    """A request by a known person."""

    user: User
    htmx: HtmxDetails
    token: ApiToken | None


class ProjectRequest(SignedInRequest):
    """A request within a project, by a member."""

    project: Project
    role: Role


def is_api(request: HttpRequest) -> bool:
    """Return whether the answer, errors included, is for a program."""
    return request.path.startswith(API_PREFIX)


def client_address(request: HttpRequest) -> str:
    """Return the address of whoever asks; behind a trusted proxy, what that proxy says it is."""
    forwarded = request.headers.get("X-Forwarded-For", "")
    if settings.BEHIND_PROXY and forwarded:
        return forwarded.rsplit(",", 1)[-1].strip()[:45]
    return str(request.META.get("REMOTE_ADDR", ""))


def is_on_this_machine(request: HttpRequest) -> bool:
    """Return whether the request comes from the loopback interface and was not passed on by any proxy."""
    if "X-Forwarded-For" in request.headers or "Forwarded" in request.headers:
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
