"""Rows that the tests of a module share are as they were made, whatever a test before did to them."""

from __future__ import annotations

import pytest

from tests.fixtures.module_rows import in_module_transaction, module_rows
from toolevals.workspace.models import Project
from toolevals.workspace.projects.services import project_create

__all__ = ["in_module_transaction", "module_rows"]

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(module_rows: None) -> Project:
    return project_create(actor=None, slug="shared", name="As it was made")


@pytest.mark.parametrize("time", ["first", "second"])
def test_a_test_finds_them_as_they_were_made(made, time):
    assert list(Project.objects.values_list("pk", "name")) == [(made.pk, "As it was made")]
    Project.objects.update(name=f"Changed the {time} time")
    Project.objects.create(slug="another", name="Another")
