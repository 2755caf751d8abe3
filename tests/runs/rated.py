"""A calibration that is rated, and who asks for its pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.fixtures.people import member, person
from tests.runs.calibrated import calibration_made, scored
from toolevals.workspace.models import Role
from toolevals.workspace.services import member_set

NOTE = "said-by-another-rater"


@pytest.fixture
def people(project: Any) -> dict[Role, Any]:
    """One person in each role."""
    return {role: member(project, role) for role in Role}


@pytest.fixture
def raters(project: Any) -> list[Any]:
    """Three reviewers."""
    found = [person(name) for name in ("Ana", "Ben", "Cleo")]
    for one in found:
        member_set(project=project, actor=None, user=one, role=Role.REVIEWER)
    return found


@pytest.fixture
def calibration(project: Any, run_jobs: Any) -> Any:
    """An open calibration of twenty cases."""
    with chat_server(judging(scored)) as server:
        yield calibration_made(project, server, run_jobs)


@pytest.fixture
def get(client: Client, project: Any) -> Any:
    """Return a function that asks for an address of runs or reports, as somebody."""

    def fetch(who: Any, name: str, *args: Any, **query: str) -> Any:
        client.force_login(who)
        return client.get(reverse(name, args=[project.slug, *args]), query)

    return fetch
