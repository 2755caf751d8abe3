"""Test who walks, and through what."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

import labeling.label.open_tasks
from tests.access import labeling_arguments, reports_arguments, runs_arguments
from tests.access.world import World
from tests.fixtures.people import member, person, second_step_of
from toolevals.workspace import navigation
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Role, SweepTask
from toolevals.workspace.projects.services import project_create

# What costs most to make, and is found again where it has been made once.
KEPT = (
    labeling_arguments.a_dataset,
    runs_arguments.a_drift,
    runs_arguments.a_tryout,
    reports_arguments.a_suspect,
    reports_arguments.a_candidate,
)


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Say of what walks through the world that it needs the database."""
    if "world" in getattr(item, "fixturenames", ()):
        item.add_marker("django_db")


@pytest.fixture
def _django_db_helper(world: World) -> None:
    """The module's one transaction, where pytest-django would begin one for each test."""


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """A project with a person in each role, made once for a module's tests: each undoes what it has done.

    What waits for a person stands in the top bar of every page: it is counted on the project's first page alone.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        project = project_create(actor=None, slug="shop", name="Shop support")
        made = World(project, {role: member(project, role) for role in Role}, person("Outsider"))
        for one in (*made.people.values(), made.outsider):
            second_step_of(one)
        for make in KEPT:
            make(made, made.owner)
        # A worker that is seen for as long as the walk takes: without one the installation is not ready.
        later = database_now() + timedelta(hours=1)
        SweepTask.objects.create(name="seen", due_at=later, ran_at=later)
        with pytest.MonkeyPatch.context() as patch:
            waiting = dict.fromkeys(labeling.label.open_tasks.counted(project, made.owner, Role.OWNER), 1)
            patch.setattr(navigation, "counted", lambda request: getattr(request, "counted", waiting))
            yield made
        transaction.set_rollback(True)
