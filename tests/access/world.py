"""A project with everything in it that an address can name, and one person in each role."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any

from django.test.client import ClientHandler

from toolevals.workspace.models import Project, Role, User

# Makes the value of one argument of an address, for the person who will ask for it.
Argument = Callable[["World", User], Any]


@dataclass(frozen=True)
class World:
    """What the walk walks through."""

    project: Project
    people: dict[Role, User]
    outsider: User
    # Of who has signed in, by their id.
    cookies: dict[Any, SimpleCookie] = field(default_factory=dict)
    # What answers all of them, as one process of a server does: its middleware is made once.
    handler: ClientHandler = field(default_factory=lambda: ClientHandler(enforce_csrf_checks=False))

    @property
    def owner(self) -> User:
        return self.people[Role.OWNER]
