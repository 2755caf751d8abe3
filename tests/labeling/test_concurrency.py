"""Sixteen clients at once in four processes, one of them killed in the middle, on both databases."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO
from uuid import uuid4

import pytest

from tests.fixtures.prepared import prepared_copy
from tests.labeling.labelling_driver import CLIENTS, CLIENTS_A_PROCESS, EXAMPLES, PATIENCE_SECONDS
from tests.workspace.installation import ROOT, Installation

pytestmark = pytest.mark.servers
DRIVER = "tests.labeling.labelling_driver"


@pytest.fixture
def sqlite(tmp_path, applications) -> Iterator[Installation]:
    """The database of an installation that nobody configured."""
    prepared_copy(applications.prepared, tmp_path / "data", sample=False)
    with Installation(tmp_path / "data", SLOT_LEASE_SECONDS="3") as installation:
        yield installation


@pytest.fixture
def postgres(tmp_path, postgres_server) -> Iterator[Installation]:
    """A real server."""
    database = postgres_server.database_migrated(f"labelling_{uuid4().hex}")
    with Installation(tmp_path, SLOT_LEASE_SECONDS="3", DATABASE_URL=database) as installation:
        yield installation


@pytest.fixture(params=["sqlite", "postgres"])
def installation(request: pytest.FixtureRequest) -> Installation:
    """Each of the two."""
    found: Installation = request.getfixturevalue(request.param)
    return found


def clients(installation: Installation, first: int, log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a process of clients; it says something for each label, and what goes wrong to `log`."""
    return subprocess.Popen(
        [sys.executable, "-m", DRIVER, str(first)],
        cwd=ROOT,
        env=installation.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
    )


def log_of(folder: Path) -> str:
    """Return the end of what went wrong."""
    return (folder / "clients.log").read_text()[-8000:]


def test_each_example_gets_two_labels_by_two_people(installation, tmp_path):
    installation.drive("prepare", 0, DRIVER)
    with (tmp_path / "clients.log").open("wb") as log, ExitStack() as ending:
        victim, *others = [clients(installation, first, log) for first in range(0, CLIENTS, CLIENTS_A_PROCESS)]
        for process in (victim, *others):
            ending.callback(process.communicate)
            ending.callback(process.kill)
        assert victim.stdout is not None
        for _ in range(EXAMPLES // CLIENTS):
            assert victim.stdout.readline() == b"labelled\n", log_of(tmp_path)
        victim.kill()
        for process in others:
            process.communicate(timeout=PATIENCE_SECONDS)
            assert process.returncode == 0, log_of(tmp_path)
    outcome = installation.drive("outcome", 0, DRIVER)
    assert outcome["labels"] == 2 * EXAMPLES
    assert outcome["labels_each"] == outcome["reviewers_each"] == [2]
    assert "open" not in outcome["resolutions"]
    assert outcome["resolutions"]["disagreed"] > 0
