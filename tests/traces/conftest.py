"""A token that sends traces to the project of the tests."""

from __future__ import annotations

import pytest

from tests.traces.sending import sender


@pytest.fixture
def token(project, owner) -> str:
    """The header of a token that sends traces and does nothing else."""
    return sender(project, owner)
