"""People who change their labels, with the clock in the hands of the test."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from labeling.label.claims import slot_claim
from labeling.label.services import label_submit, label_withdraw
from labeling.models import Dataset, Label
from tests.fixtures.clocks import clock_set
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User


@pytest.fixture(autouse=True)
def slow(project: Project) -> None:
    """Leave enough time to change a label on a slow machine."""
    project.undo_seconds = 3600
    project.save()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """The clock stands still; the function puts it forward by so many seconds."""
    now = [database_now()]
    clock_set(monkeypatch, lambda: now[0])

    def forward(seconds: float) -> None:
        now[0] += timedelta(seconds=seconds)

    return forward


def label_of(user: User, dataset: Dataset) -> Label:
    """Return the newest label of a person in a dataset."""
    return Label.objects.filter(reviewer=user, slot__dataset=dataset).order_by("-id")[0]


def say(dataset: Dataset, user: User, *said: Any, undo: bool = False) -> Label:
    """Let a person hand in one label after the other for what is first in their turn."""
    slot = slot_claim(dataset_or_project=dataset, actor=user)
    assert slot is not None
    for place, expectation in enumerate(said):
        if place and undo:
            label_withdraw(label=label_of(user, dataset), actor=user)
        label_submit(slot=slot, actor=user, expectation=expectation)
    return label_of(user, dataset)
