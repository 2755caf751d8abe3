"""Test what most tests of runs begin with."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.runs.building import version_of
from toolevals.workspace.models import Project, User


@pytest.fixture
def version(project: Project) -> Any:
    """A frozen dataset of four examples."""
    return version_of(project)


@pytest.fixture
def loopback(settings: Any) -> None:
    """Servers of tests may be asked: models, judges and simulators are on loopback."""
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]


@pytest.fixture
def as_viewer(client: Client, viewer: User) -> Client:
    client.force_login(viewer)
    return client


@pytest.fixture
def as_adjudicator(client: Client, adjudicator: User) -> Client:
    client.force_login(adjudicator)
    return client
