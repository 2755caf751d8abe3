"""Holds what tests of traces share: a token that sends them, and a judge that is asked about them."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.datasets.services import dataset_create
from labeling.models import Dataset
from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.traces.promoting import traces_of_orders
from tests.traces.sending import sender
from toolevals.traces.models import Trace


@pytest.fixture
def token(project, owner) -> str:
    """The header of a token that sends traces and does nothing else."""
    return sender(project, owner)


@pytest.fixture
def nearby(settings: Any) -> None:
    """Let judges be on this machine, and let traces be summed up as soon as they came."""
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    settings.TRACES_QUIET_SECONDS = 0


@pytest.fixture
def server(nearby: None) -> Any:
    """A judge that finds claims unsupported in what it is told of order 8."""
    answer = judging(lambda given: {"score": 0 if "order 8" in str(given["conversation"]) else 1})
    with chat_server(answer) as found:
        yield found


@pytest.fixture
def dataset(project, owner) -> Dataset:
    """An empty dataset for examples of traces."""
    return dataset_create(project=project, actor=owner, slug="core", name="Core")


@pytest.fixture
def sent(client, token, settings) -> list[Trace]:
    """Twelve traces; the fifth met an error, the last two ask the same."""
    settings.TRACES_QUIET_SECONDS = 0
    return traces_of_orders(client, token)
