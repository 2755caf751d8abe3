"""A token that sends traces to the project of the tests."""

from __future__ import annotations

import pytest

from labeling.models import Dataset
from labeling.services import dataset_create
from tests.traces.promoting import traces_of_orders
from tests.traces.sending import sender
from toolevals.traces.models import Trace


@pytest.fixture
def token(project, owner) -> str:
    """The header of a token that sends traces and does nothing else."""
    return sender(project, owner)


@pytest.fixture
def dataset(project, owner) -> Dataset:
    """An empty dataset for examples of traces."""
    return dataset_create(project=project, actor=owner, slug="core", name="Core")


@pytest.fixture
def sent(client, token, settings) -> list[Trace]:
    """Twelve traces; the fifth met an error, the last two ask the same."""
    settings.TRACES_QUIET_SECONDS = 0
    return traces_of_orders(client, token)
