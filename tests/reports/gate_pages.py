"""People at the pages of gates: who writes, where pages are, what a form sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from reports.gates.services import gate_decide
from reports.models import GatePreview
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.models import Batch

CELLS = {("a", "a"): 19, ("a", "b"): 1}


@pytest.fixture
def writer(client: Client, adjudicator: Any) -> Client:
    """A browser with an adjudicator signed in."""
    client.force_login(adjudicator)
    return client


@pytest.fixture
def address(project: Any) -> Callable[..., str]:
    def of(name: str, *args: object) -> str:
        return reverse(f"reports:{name}", args=[project.slug, *args])

    return of


def sent(**changed: Any) -> dict[str, Any]:
    """Return a form of one bound as a browser sends it."""
    return {
        "as": "form",
        "act": "save",
        "name": "release",
        "bounds-count": "1",
        "bounds-0-metric": "selection",
        "bounds-0-statistic": "pass_rate",
        "bounds-0-min": "0.9",
        "bounds-0-decide_by": "value",
        "bounds-0-on_fail": "error",
        **changed,
    }


def decide(preview: GatePreview) -> None:
    for batch in Batch.objects.filter(job=preview.job):
        batch_work(str(batch.pk), gate_decide)
