"""A calibration that is rated, made once for a module, and who asks for its pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.fixtures.jobs import jobs_run
from tests.fixtures.module_rows import in_module_transaction, module_rows
from tests.fixtures.people import member, person
from tests.runs.calibrated import calibration_made, scored
from toolevals.runs.models import JudgeCalibration
from toolevals.workspace.models import Project, Role
from toolevals.workspace.projects.services import member_set, project_create

# The fixtures: a test file imports them by `*`.
__all__ = ["calibration", "get", "in_module_transaction", "made", "module_rows", "people", "project", "raters"]

NOTE = "said-by-another-rater"


@pytest.fixture(scope="module")
def made(module_rows: None) -> Iterator[JudgeCalibration]:
    """An open calibration of twenty cases, as it is made, and its judge still there to be asked."""
    with override_settings(AGENT_NETWORKS=["127.0.0.0/8"]), chat_server(judging(scored)) as server:
        yield calibration_made(project_create(actor=None, slug="shop", name="Shop support"), server, jobs_run)


@pytest.fixture
def calibration(made: JudgeCalibration, db: None) -> JudgeCalibration:
    """The calibration as it is made, read by each test anew."""
    return JudgeCalibration.objects.get(pk=made.pk)


@pytest.fixture
def project(calibration: JudgeCalibration) -> Project:
    """The project of the calibration."""
    return calibration.judge.project


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
def get(client: Client, project: Any) -> Any:
    """Return a function that asks for an address of runs or reports, as somebody."""

    def fetch(who: Any, name: str, *args: Any, **query: str) -> Any:
        client.force_login(who)
        return client.get(reverse(name, args=[project.slug, *args]), query)

    return fetch
