"""Test what tests of the project as a whole share."""

from __future__ import annotations

import pytest

from tests.fixtures.prepared import prepared_root
from tests.project.installed import Built, built_once


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The source archive and the wheel of these files."""
    return built_once(prepared_root(tmp_path_factory))
