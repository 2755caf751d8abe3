"""A dataset of a shop's conversations, and browsers of the people who work on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import Dataset, LabelSlot, Revision
from tests.fixtures.people import known_as_valid, person
from tests.labeling.windows import differing_compared
from tests.labeling_pages.shop import TOOLS, returned, row
from toolevals.grading.reading.examples import read_example
from toolevals.registry.models import RegistryVersion
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.projects.services import member_set


@pytest.fixture
def tools(project: Project) -> RegistryVersion:
    """The shop's tools."""
    with known_as_valid():
        registry = registry_create(project=project, actor=None, slug="tools", name="Shop tools")
    return registry_publish(registry=registry, actor=None, document=TOOLS)


@pytest.fixture
def dataset(project: Project, tools: RegistryVersion) -> Dataset:
    """Three examples to label."""
    with known_as_valid():
        made = dataset_create(
            project=project,
            actor=None,
            slug="core",
            name="Core",
            guideline="# Dates\nWeekdays mean the next.\n- `pickup` only if asked",
            default_tools=tools,
        )
    examples_import(dataset=made, actor=None, rows=[read_example(row(number)) for number in range(3)])
    return made


@pytest.fixture
def second_reviewer(project: Project) -> User:
    """Another reviewer."""
    user = person("Second")
    member_set(project=project, actor=None, user=user, role=Role.REVIEWER)
    return user


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    """Return a function that gives the browser of a person who is signed in."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def swap() -> dict[str, str]:
    """The header of a request by the page's own script."""
    return {"HX-Request": "true"}


@pytest.fixture
def slot(dataset: Dataset, reviewer: User) -> LabelSlot:
    """The first example, claimed by the reviewer."""
    claimed = slot_claim(dataset_or_project=dataset, actor=reviewer)
    assert claimed is not None
    return claimed


@pytest.fixture
def disagreed(dataset: Dataset, reviewer: User, second_reviewer: User) -> Revision:
    """The first example, labelled by two reviewers who differ in one argument and one more."""
    labels = (
        (reviewer, returned(), "She named the card."),
        (second_reviewer, returned(refund_to={"exact": "store credit"}, express={"exact": True}), "Policy."),
    )
    for user, expectation, why in labels:
        claimed = slot_claim(dataset_or_project=dataset, actor=user)
        assert claimed is not None
        differing_compared(label_submit(slot=claimed, actor=user, expectation=expectation, rationale=why).revision)
    return Revision.objects.get(example__dataset=dataset, example__external_id="ex-0")


def body(response: Any) -> str:
    """Return a page's HTML with single spaces, and none before the end of a tag."""
    return " ".join(response.content.decode().split()).replace(" >", ">")
