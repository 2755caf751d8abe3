"""Test what tests of reports begin with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.reports.building import Builder
from toolevals.runs.models import Grading
from toolevals.workspace.models import Project, User


@pytest.fixture
def build(project: Project) -> Builder:
    """Makes gradings in the project."""
    return Builder(project)


@pytest.fixture
def browser_of(client: Client, viewer: User) -> Client:
    """A browser with a viewer signed in."""
    client.force_login(viewer)
    return client


@pytest.fixture
def get(browser_of: Client) -> Callable[..., Any]:
    """Return a function that gets a report of a grading's run: `get("matrix", grading, order="name")`."""

    def fetch(name: str, grading: Grading, /, *args: Any, **query: Any) -> Any:
        run = grading.run
        app = "reports-api" if name.startswith("api:") else "reports"
        address = reverse(f"{app}:{name.removeprefix('api:')}", args=[run.project.slug, run.number, *args])
        return browser_of.get(address, query)

    return fetch
