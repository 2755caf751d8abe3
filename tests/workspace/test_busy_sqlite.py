"""Threads of one process that hear that SQLite is busy, and one of them that collects their garbage."""

from __future__ import annotations

import gc
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection, transaction

# Far longer than the collector needs.
PATIENCE_SECONDS = 5


@pytest.fixture
def garbage_stays() -> Iterator[None]:
    """Let nothing collect garbage but the test."""
    enabled = gc.isenabled()
    gc.disable()
    yield
    if enabled:
        gc.enable()


def hear_busy() -> None:
    """Begin a transaction that another's lock refuses."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 1")
    with pytest.raises(OperationalError, match="locked"), transaction.atomic():
        pytest.fail("the lock was free")


def be_at_work(is_at_work: Event, is_collected: Event) -> bool:
    """Hold this thread's connection, as one does that waits for the lock, until the garbage is collected."""

    def wait() -> int:
        is_at_work.set()
        return is_collected.wait(PATIENCE_SECONDS)

    try:
        with connection.cursor() as cursor:
            cursor.connection.create_function("wait_for_collector", 0, wait)
            cursor.execute("SELECT wait_for_collector()")
            return bool(cursor.fetchone()[0])
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_garbage_of_one_who_heard_busy_waits_for_no_connection(garbage_stays):
    is_at_work, is_collected = Event(), Event()
    with ThreadPoolExecutor(1) as client:
        with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            client.submit(hear_busy).result()
        collected = client.submit(be_at_work, is_at_work, is_collected)
        assert is_at_work.wait(PATIENCE_SECONDS)
        gc.collect()
        is_collected.set()
        assert collected.result(), "the collector waited for the connection"


@pytest.mark.django_db(transaction=True)
def test_a_transaction_asks_again_until_it_is_its_turn_and_keeps_the_time_that_others_may_take(monkeypatch):
    asked = Event()

    def pause(seconds: float) -> None:
        asked.set()
        Event().wait(seconds)

    monkeypatch.setattr("toolevals.workspace.sqlite3.base.time", SimpleNamespace(monotonic=time.monotonic, sleep=pause))

    def take_turn() -> list[int]:
        try:
            with connection.cursor() as cursor:
                before = cursor.execute("PRAGMA busy_timeout").fetchone()
                with transaction.atomic():
                    pass
                return [*before, *cursor.execute("PRAGMA busy_timeout").fetchone()]
        finally:
            connection.close()

    writing = closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None))
    with ThreadPoolExecutor(1) as client, writing as writer:
        writer.execute("BEGIN IMMEDIATE")
        taken = client.submit(take_turn)
        assert asked.wait(PATIENCE_SECONDS)
        assert not taken.done()
        writer.execute("COMMIT")
        before, after = taken.result(PATIENCE_SECONDS)
    assert before == after > 0
