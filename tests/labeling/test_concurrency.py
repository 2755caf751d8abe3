"""Sixteen clients at once in four processes, one of them killed in the middle, on both databases."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from tests.fixtures.loaded import LOADED
from tests.fixtures.prepared import prepared_copy
from tests.labeling.labelling_driver import CLIENTS, CLIENTS_A_PROCESS, EXAMPLES, PATIENCE_SECONDS
from tests.workspace.installation import ROOT, Installation
from toolevals.serving.application import Process, end_group

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


def victim(installation: Installation, log: Path) -> subprocess.Popen[bytes]:
    """Start the process of clients that is killed; it says something for each label, and what goes wrong to `log`."""
    with log.open("ab") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", DRIVER, "0"],
            cwd=ROOT,
            env=installation.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )


def end(process: Process) -> None:
    """End a process that has not ended by itself."""
    if process.poll() is None:
        end_group(process)


def log_of(folder: Path) -> str:
    """Return the end of what went wrong."""
    return (folder / "clients.log").read_text()[-8000:]


def test_each_example_gets_two_labels_by_two_people(installation, tmp_path):
    installation.drive("prepare", 0, DRIVER)
    log = tmp_path / "clients.log"
    with ExitStack() as ending:
        killed = victim(installation, log)
        ending.callback(killed.communicate)
        ending.callback(killed.kill)
        assert killed.stdout is not None
        # It labels before the others, which have loaded what they need, can have labelled all.
        assert killed.stdout.readline() == b"labelled\n", log_of(tmp_path)
        others = []
        for first in range(CLIENTS_A_PROCESS, CLIENTS, CLIENTS_A_PROCESS):
            others.append(LOADED.run(installation.environment, log, DRIVER, str(first)))
            ending.callback(end, others[-1])
        for _ in range(EXAMPLES // CLIENTS):
            assert killed.stdout.readline() == b"labelled\n", log_of(tmp_path)
        killed.kill()
        for process in others:
            assert process.wait(timeout=PATIENCE_SECONDS) == 0, log_of(tmp_path)
    outcome = installation.drive("outcome", 0, DRIVER)
    assert outcome["labels"] == 2 * EXAMPLES
    assert outcome["labels_each"] == outcome["reviewers_each"] == [2]
    assert "open" not in outcome["resolutions"]
    assert outcome["resolutions"]["disagreed"] > 0
