"""What most tests of runs begin with."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runs.building import version_of
from toolevals.workspace.models import Project


@pytest.fixture
def version(project: Project) -> Any:
    """A frozen dataset of four examples."""
    return version_of(project)
