"""Test which thread a request is given to, and what threads let go that nobody needs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import connections

from toolevals.serving.threads import Threads

SECONDS = 60


class Task:
    """Notes the thread that does it; ends when allowed to."""

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        self.begun, self.ended, self.may_end = threading.Event(), threading.Event(), threading.Event()
        self.thread = ""
        self.then = then

    def service(self) -> None:
        self.thread = threading.current_thread().name
        self.begun.set()
        assert self.may_end.wait(SECONDS)
        self.ended.set()
        self.then()

    def cancel(self) -> None:
        pass


@contextmanager
def started(count: int, idle_seconds: float = SECONDS) -> Iterator[Threads]:
    dispatcher = Threads(idle_seconds)
    dispatcher.set_thread_count(count)
    all_free(dispatcher, count)
    try:
        yield dispatcher
    finally:
        dispatcher.shutdown(timeout=SECONDS)
        assert not dispatcher.threads


def all_free(dispatcher: Threads, count: int) -> None:
    pause = threading.Event()
    for _ in range(SECONDS * 100):
        with dispatcher.lock:
            if len(dispatcher._free) == count:
                return
        pause.wait(0.01)
    raise AssertionError("not free")


def test_requests_one_after_the_other_are_done_by_one_thread():
    with started(4) as dispatcher:
        done = set()
        for _ in range(10):
            task = Task()
            task.may_end.set()
            dispatcher.add_task(task)
            assert task.ended.wait(SECONDS)
            all_free(dispatcher, 4)
            done.add(task.thread)
    assert len(done) == 1


def test_requests_at_once_are_done_at_once_and_the_rest_when_a_thread_is_free():
    with started(3) as dispatcher:
        tasks = [Task() for _ in range(5)]
        for task in tasks:
            dispatcher.add_task(task)
        assert all(task.begun.wait(SECONDS) for task in tasks[:3])
        assert not any(task.begun.is_set() for task in tasks[3:])
        for task in tasks:
            task.may_end.set()
        assert all(task.ended.wait(SECONDS) for task in tasks)
        assert len({task.thread for task in tasks[:3]}) == 3


def test_a_task_that_fails_stops_no_thread(caplog):
    def fail() -> None:
        raise SystemExit("as a view may")

    with started(1) as dispatcher:
        for then in (fail, lambda: None):
            task = Task(then)
            task.may_end.set()
            dispatcher.add_task(task)
            assert task.ended.wait(SECONDS)
            all_free(dispatcher, 1)
    assert "Exception when servicing" in caplog.text


def test_a_thread_that_nobody_needs_closes_its_connections_once(monkeypatch: pytest.MonkeyPatch):
    closed: list[str] = []
    happened = threading.Event()

    def close_all() -> None:
        closed.append(threading.current_thread().name)
        happened.set()

    monkeypatch.setattr(connections, "close_all", close_all)
    with started(2, idle_seconds=0.01) as dispatcher:
        assert happened.wait(SECONDS)
        task = Task()
        dispatcher.add_task(task)
        assert task.begun.wait(SECONDS)
        before = closed.count(task.thread)
        happened.clear()
        task.may_end.set()
        while closed.count(task.thread) == before:
            assert happened.wait(SECONDS)
            happened.clear()


def test_a_free_thread_is_woken_to_stop():
    with started(3) as dispatcher:
        dispatcher.set_thread_count(1)
        all_free(dispatcher, 1)
        task = Task()
        task.may_end.set()
        dispatcher.add_task(task)
        assert task.ended.wait(SECONDS)
