"""A scripted client of the official library, over HTTP, solves twenty tasks on the sample project."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.cli.mcp_session import graded_sample, solved
from tests.cli.mcp_tasks import TASKS, Truth

pytestmark = pytest.mark.servers


class Sample:
    """The sample project of a running application, for one token."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address, token
        base, headers = f"{address}/api/v1/projects/shop-support/", {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=base, headers=headers, timeout=60)

    def rest(self, path: str) -> Any:
        return self.http.get(path).raise_for_status().json()


@pytest.fixture(scope="module")
def sample(live_app_start):
    found = Sample(*graded_sample(live_app_start(sample=True)))
    gate = {"gate": {"bounds": [{"metric": "selection", "min": 0.5}]}}
    found.http.put("named-gates/selection/", json=gate).raise_for_status()
    yield found
    found.http.close()


def test_there_are_twenty_tasks():
    assert len(TASKS) == 20


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_task_is_solved(sample, task):
    answer = solved(sample.address, sample.token, task)
    assert TASKS[task](Truth(sample.rest), answer), answer
