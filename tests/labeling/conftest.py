"""A dataset with a few examples, two reviewers, and short words for what tests do with them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import Dataset, Label, LabelSlot, Revision
from tests.fixtures.clocks import clock_set
from tests.fixtures.people import known_as_valid, person
from tests.labeling.rows import SHOP_TOOLS, row
from tests.labeling.windows import differing_compared
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.projects.services import member_set


@pytest.fixture
def dataset(project: Project) -> Dataset:
    """An empty dataset of the shop's tools."""
    with known_as_valid():
        registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
        tools = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
        return dataset_create(project=project, actor=None, slug="support", name="Support", default_tools=tools)


@pytest.fixture
def examples(dataset: Dataset) -> list[Revision]:
    """Three examples to label; their revisions in order."""
    examples_import(dataset=dataset, actor=None, rows=[row(f"ex-{n}") for n in range(3)])
    return list(Revision.objects.filter(example__dataset=dataset).order_by("id"))


@pytest.fixture
def members(project: Project) -> Callable[..., list[User]]:
    """Return a function that makes so many more members, reviewers unless another role is named."""

    def make(count: int, role: Role = Role.REVIEWER) -> list[User]:
        people = [person(f"Person{User.objects.count()}") for _ in range(count)]
        for user in people:
            member_set(project=project, actor=None, user=user, role=role)
        return people

    return make


@pytest.fixture
def ann(members: Callable[..., list[User]]) -> User:
    """A reviewer."""
    return members(1)[0]


@pytest.fixture
def ben(members: Callable[..., list[User]]) -> User:
    """Another reviewer."""
    return members(1)[0]


@pytest.fixture
def claim(dataset: Dataset) -> Callable[[User], LabelSlot | None]:
    """Return a function with which a person claims what is next in their turn."""
    return lambda user: slot_claim(dataset_or_project=dataset, actor=user)


@pytest.fixture
def submit(dataset: Dataset) -> Callable[..., Label]:
    """Return a function with which a person labels the example next in their turn, or the slot given.

    Labels that differ are compared at once, as if the time to change them had passed.
    """

    def do(user: User, expectation: dict[str, Any], *, slot: LabelSlot | None = None, **more: Any) -> Label:
        slot = slot or slot_claim(dataset_or_project=dataset, actor=user)
        assert slot is not None
        label = label_submit(slot=slot, actor=user, expectation=expectation, **more)
        differing_compared(label.revision)
        return label

    return do


@pytest.fixture
def pass_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """The clock stands still, so that no time tells the worlds apart; the function moves it by so many seconds."""
    now = [database_now()]
    clock_set(monkeypatch, lambda: now[0])

    def move(seconds: float) -> None:
        now[0] += timedelta(seconds=seconds)

    return move
