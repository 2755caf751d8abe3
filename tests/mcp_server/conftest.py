"""Gradings of runs, made by hand."""

from __future__ import annotations

import pytest

from tests.reports.building import Builder
from toolevals.workspace.models import Project


@pytest.fixture
def build(project: Project) -> Builder:
    return Builder(project)
