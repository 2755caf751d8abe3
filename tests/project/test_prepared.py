"""A live application's database made again as it was, and ports of which each is given once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from scripts.dev.environment import ROOT
from tests.fixtures.prepared import database_reset, into_one_file
from tests.servers.process import PORTS, free_port

TABLES = """
CREATE TABLE workspace_batch (id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT);
CREATE TABLE person (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
"""


@pytest.fixture
def database(tmp_path: Path) -> tuple[Path, Path]:
    """A database with two people more than a fresh one has."""
    live, fresh = tmp_path / "live.sqlite3", tmp_path / "fresh.sqlite3"
    for path, people in ((live, ("Ann", "Ben", "Ada")), (fresh, ("Ann",))):
        with closing(sqlite3.connect(path)) as file, file:
            file.executescript(TABLES)
            file.executemany("INSERT INTO person (name) VALUES (?)", [(name,) for name in people])
            file.execute("INSERT INTO workspace_batch (state) VALUES ('done')")
    return live, fresh


def test_a_reset_leaves_what_the_fresh_one_has_and_gives_no_number_again(database: tuple[Path, Path]) -> None:
    live, fresh = database
    with closing(sqlite3.connect(live)) as held_open:
        assert held_open.execute("SELECT count(*) FROM person").fetchone() == (3,)
        assert database_reset(live, fresh)
        assert held_open.execute("SELECT id, name FROM person").fetchall() == [(1, "Ann")]
        with held_open:
            held_open.execute("INSERT INTO person (name) VALUES ('Zoe')")
        assert held_open.execute("SELECT max(id) FROM person").fetchone() == (4,)


def test_a_reset_waits_for_work_that_is_under_way(database: tuple[Path, Path]) -> None:
    live, fresh = database
    with closing(sqlite3.connect(live)) as file, file:
        file.execute("UPDATE workspace_batch SET state = 'leased'")
    assert not database_reset(live, fresh, patience=0)
    with closing(sqlite3.connect(live)) as file:
        assert file.execute("SELECT count(*) FROM person").fetchone() == (3,)


def test_a_reset_adds_no_file_to_the_folder_of_the_fresh_one(database: tuple[Path, Path], tmp_path: Path) -> None:
    live, fresh = database
    for path in database:
        with closing(sqlite3.connect(path)) as file:
            assert file.execute("PRAGMA journal_mode = wal").fetchone() == ("wal",)
    folder = tmp_path / "prepared"
    folder.mkdir()
    fresh = fresh.rename(folder / fresh.name)
    with closing(sqlite3.connect(live)) as file, file:
        file.execute("UPDATE workspace_batch SET state = 'leased'")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(database_reset, live, fresh, patience=0.3)
        found = set()
        while not waiting.done():
            found |= {path.name for path in folder.iterdir()}
    assert not waiting.result()
    assert found == {fresh.name}


LEFT_IN_LOG = """
import os, sqlite3, sys
file = sqlite3.connect(sys.argv[1])
file.execute("PRAGMA journal_mode = wal")
file.execute("INSERT INTO person (name) VALUES ('Eve')")
file.commit()
os._exit(0)
"""


def test_a_database_is_one_file_once_its_makers_ended_without_a_word(database: tuple[Path, Path]) -> None:
    live, fresh = database
    subprocess.run([sys.executable, "-c", LEFT_IN_LOG, fresh], check=True)
    assert fresh.with_name(f"{fresh.name}-wal").stat().st_size
    into_one_file(fresh)
    assert database_reset(live, fresh)
    with closing(sqlite3.connect(live)) as file:
        assert file.execute("SELECT name FROM person").fetchall() == [("Ann",), ("Eve",)]


def test_a_database_that_is_still_open_is_no_prepared_one(database: tuple[Path, Path]) -> None:
    _, fresh = database
    with closing(sqlite3.connect(fresh)) as other:
        other.execute("PRAGMA journal_mode = wal")
        other.execute("SELECT count(*) FROM person").fetchone()
        with pytest.raises(AssertionError, match="still open"):
            into_one_file(fresh)


def test_no_port_is_given_twice_even_to_another_process() -> None:
    here = {free_port() for _ in range(20)}
    code = "from tests.servers.process import free_port; print(*(free_port() for _ in range(200)))"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    there = {int(port) for port in said.split()}
    assert (len(here), len(there)) == (20, 200)
    assert here.isdisjoint(there)
    assert (here | there) <= set(PORTS)
