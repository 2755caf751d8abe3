"""`toolevals delete`, `trash` and `restore`, against the running application."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.served import server  # noqa: F401 - a fixture
from toolevals.cli import main as command
from toolevals.cli.output import Exit

pytestmark = pytest.mark.servers


def said(capsys: Any, *arguments: str) -> tuple[int, str]:
    status = command.main(list(arguments))
    shown = capsys.readouterr()
    return status, shown.out + shown.err


def test_what_is_deleted_is_listed_and_restored(server, capsys):  # noqa: F811 - the fixture
    made = server.python(
        "from labeling.datasets.services import dataset_create; from toolevals.workspace.models import Project;"
        "print(dataset_create(project=Project.objects.get(slug='from-cli'), actor=None, slug='gone', name='Gone').pk)"
    )
    status, text = said(capsys, "delete", "dataset", "gone")
    assert (status, "use --yes" in text) == (Exit.CONFIGURATION, True)
    status, text = said(capsys, "delete", "dataset", "gone", "--yes")
    assert (status, "dataset gone: deleted" in text) == (Exit.OK, True)
    status, text = said(capsys, "trash", "--json")
    assert [each["id"] for each in json.loads(text)] == [made.strip()]
    status, text = said(capsys, "restore", "run", "7")
    assert (status, "no run 7 is in the trash" in text) == (Exit.DATA, True)
    status, text = said(capsys, "restore", "dataset", "gone")
    assert (status, "dataset gone: restored" in text) == (Exit.OK, True)
    assert said(capsys, "trash") == (Exit.OK, "The trash is empty.\n")


def test_what_is_in_the_trash_is_destroyed_where_it_is_meant(server, capsys):  # noqa: F811
    server.python(
        "from labeling.datasets.services import dataset_create; from toolevals.workspace.models import Project;"
        "dataset_create(project=Project.objects.get(slug='from-cli'), actor=None, slug='never', name='Never')"
    )
    status, text = said(capsys, "destroy", "dataset", "never", "--yes")
    assert (status, "no dataset never is in the trash" in text) == (Exit.DATA, True)
    assert said(capsys, "delete", "dataset", "never", "--yes")[0] == Exit.OK
    status, text = said(capsys, "destroy", "dataset", "never")
    assert (status, "use --yes to delete permanently" in text) == (Exit.CONFIGURATION, True)
    assert said(capsys, "destroy", "dataset", "never", "--yes") == (
        Exit.OK,
        "dataset never: being deleted permanently\n",
    )
    due = server.python(
        "from toolevals.workspace.clock import database_now; from labeling.models import Dataset;"
        "print(Dataset.with_trash.filter(slug='never', destroy_at__gt=database_now()).count())"
    )
    assert due.strip() == "0"


def test_a_project_is_deleted_and_restored_by_its_own_token(server, capsys):  # noqa: F811
    status, text = said(capsys, "delete", "project", "another", "--yes")
    assert (status, "not of another" in text) == (Exit.CONFIGURATION, True)
    assert said(capsys, "delete", "project", "from-cli", "--yes")[0] == Exit.OK
    assert "project from-cli: deleted" in said(capsys, "trash", "--projects")[1]
    assert said(capsys, "trash")[0] != Exit.OK
    assert said(capsys, "restore", "project", "from-cli") == (Exit.OK, "project from-cli: restored\n")
