"""Decide by the operator's settings whether a person may make projects and invite people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from toolevals.workspace.models import User

Decision = Callable[[User], bool]


def _owns_installation(user: User) -> bool:
    return user.is_installation_owner


def _anyone(_: User) -> bool:
    return True


# The values of WHO_MAKES_PROJECTS, and who that is among people with an account.
PROJECT_MAKERS: Final[dict[str, Decision]] = {"installation-owners": _owns_installation, "everyone": _anyone}
# The values of WHO_INVITES, and who that is among the owners of the project.
INVITERS: Final[dict[str, Decision]] = {"installation-owners": _owns_installation, "project-owners": _anyone}
NO_PROJECTS = (
    "Only owners of the installation make projects here. Ask one, or the operator (TOOLEVALS_WHO_MAKES_PROJECTS)."
)
NO_INVITATIONS = "Only owners of the installation invite people here. Ask one, or the operator (TOOLEVALS_WHO_INVITES)."


def may_make_projects(user: User) -> bool:
    """Return whether this person may make projects. Raises `ImproperlyConfigured`."""
    return _decision("WHO_MAKES_PROJECTS", PROJECT_MAKERS)(user)


def may_invite(user: User) -> bool:
    """Return whether this owner of a project may invite people to it. Raises `ImproperlyConfigured`."""
    return _decision("WHO_INVITES", INVITERS)(user)


def _decision(name: str, known: dict[str, Decision]) -> Decision:
    said = getattr(settings, name)
    if said not in known:
        raise ImproperlyConfigured(f"{name} is {said!r}: it must be one of {', '.join(known)}")
    return known[said]
