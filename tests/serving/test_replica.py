"""Reports from a streaming replica show all that has been committed; one that lags or is away is not asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.servers import PostgresServer
from tests.servers.replica import ReplicaServer
from tests.workspace.installation import Installation
from toolevals.settings.databases import databases
from toolevals.settings.environment import environment

pytestmark = pytest.mark.servers
DRIVER = "tests.serving.replica_driver"


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[str, ReplicaServer]]:
    """The address of a database, and a replica of its server."""
    with PostgresServer("synchronous_commit=on") as primary:
        url = primary.database_migrated(f"copied_{uuid4().hex}")
        with ReplicaServer(primary) as replica:
            yield url, replica


@pytest.fixture
def installation(servers: tuple[str, ReplicaServer], tmp_path: Path) -> Iterator[Installation]:
    """An installation whose reports are read from the replica."""
    url, replica = servers
    there = replica.url(url.rpartition("/")[2])
    with Installation(tmp_path, DATABASE_URL=url, TOOLEVALS_REPLICA_URL=there) as found:
        yield found


def driven(installation: Installation, step: str, number: int = 0) -> Any:
    return installation.drive(step, number, DRIVER)


def test_each_report_shows_what_was_written_before_and_asks_the_replica(installation):
    driven(installation, "project")
    found = driven(installation, "write_and_read", 20)
    assert found["shown"] == [True] * 20
    assert found["warnings"] == []
    assert min(found["there"]) > 0
    # Pages of other rooms, and what is sent, ask the primary alone.
    assert found["elsewhere"] == 0


def test_a_replica_that_lags_or_is_away_is_left_out_and_named(installation, servers):
    _, replica = servers
    replica.replaying(go_on=False)
    lagging = driven(installation, "write_and_read", 2)
    replica.replaying(go_on=True)
    assert (lagging["shown"], lagging["there"]) == ([True] * 2, [0] * 2)
    [warning] = lagging["warnings"]
    assert "from the primary for 10 seconds: the replica is behind" in warning
    replica.kill()
    away = driven(installation, "write_and_read", 2)
    assert (away["shown"], away["there"], len(away["warnings"])) == ([True] * 2, [0] * 2, 1)
    replica.start()
    assert min(driven(installation, "write_and_read", 2)["there"]) > 0


def test_a_report_whose_replica_breaks_off_is_read_again_from_the_primary(installation):
    found = driven(installation, "broken_off")
    assert (found["status"], found["shown"], len(found["warnings"])) == (200, True, 1)


def test_a_report_that_writes_reads_on_from_the_primary(installation):
    assert driven(installation, "writes_between") == ["replica", "default", "default", "replica"]


def test_what_is_no_replica_is_refused(installation, servers):
    installation.environment["TOOLEVALS_REPLICA_URL"] = servers[0]
    found = driven(installation, "write_and_read", 1)
    assert found["shown"] == [True]
    assert "names no replica of this database" in found["warnings"][0]


def test_a_replica_of_sqlite_is_refused(tmp_path):
    env = environment({"TOOLEVALS_REPLICA_URL": "postgresql://x@localhost/x"})
    with pytest.raises(ImproperlyConfigured, match="TOOLEVALS_REPLICA_URL is for PostgreSQL"):
        databases(env, tmp_path)
