"""Who walks, and through what."""

from __future__ import annotations

import pytest

from tests.access.world import World
from tests.fixtures.people import member
from toolevals.workspace.models import Project, Role, User


@pytest.fixture
def world(project: Project, outsider: User) -> World:
    """A project with a person in each role."""
    return World(project, {role: member(project, role) for role in Role}, outsider)
