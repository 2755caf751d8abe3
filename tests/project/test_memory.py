"""Memory that is no longer needed goes back to the system, and each thread of the web server keeps few pages."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import connection

from scripts.dev.environment import ROOT
from toolevals import memory
from toolevals.memory import GIVE_BACK_SECONDS, GROWN, LOOK_SECONDS, GivingBack, Growth
from toolevals.serving.worker import CACHE_KILOBYTES, BufferingWorker, cache_little

HELD = """
import re, sys
from toolevals.memory import allocate_tightly, give_back

def held() -> int:
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024

tightly = sys.argv[1] == "tightly" and allocate_tightly()
# Blocks of 20 KB, each second one is kept: their neighbours lie free in the midst of the heap.
blocks = [bytes(20_000) for _ in range(10_000)]
kept = blocks[::2]
del blocks
before = held()
if tightly:
    give_back()
print(before - held())
"""


@pytest.mark.skipif(memory._glibc() is None, reason="only glibc is told")
@pytest.mark.parametrize(("way", "megabytes"), [("tightly", 50), ("as it was", 0)])
def test_what_is_free_in_the_midst_goes_back(way: str, megabytes: int) -> None:
    ran = subprocess.run([sys.executable, "-c", HELD, way], capture_output=True, text=True, check=True)
    found = int(ran.stdout)
    assert found >= megabytes if megabytes else found < 10


WORKER = """
import sys
from toolevals.celery import app

app.loader.import_default_modules()
loaded = "rest_framework.compat", "reports.views", "labeling.views", "toolevals.urls"
print(len(app.tasks) > 20, [name for name in loaded if name in sys.modules])
"""


def test_a_worker_loads_no_pages() -> None:
    ran = subprocess.run([sys.executable, "-c", WORKER], capture_output=True, text=True, check=True)
    assert ran.stdout.split(maxsplit=1) == ["True", "[]\n"]


def test_it_is_given_back_after_work_and_not_often(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(memory, "give_back", lambda: given.append(clock.now))
    monkeypatch.setattr("toolevals.memory.time.monotonic", lambda: clock.now)
    giving = GivingBack()
    assert not giving.turn()
    for now in (100, 101, 100 + GIVE_BACK_SECONDS, 101 + GIVE_BACK_SECONDS):
        clock.now = now
        giving.note()
        giving.turn()
    clock.now = 1000
    assert giving.turn()
    assert not giving.turn()
    assert given == [100, 100 + GIVE_BACK_SECONDS, 1000]


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A process at its start: the clock, the processor time that it has used, and what it alone holds."""
    found = SimpleNamespace(now=100.0, used=5.0, private=1000)
    monkeypatch.setattr("toolevals.memory.time.monotonic", lambda: found.now)
    monkeypatch.setattr("toolevals.memory.time.process_time", lambda: found.used)
    monkeypatch.setattr("toolevals.memory.private_bytes", lambda: found.private)
    return found


def test_a_process_that_has_grown_is_due_once_it_was_calm_for_a_minute(process: SimpleNamespace) -> None:
    growth = Growth(0.2)
    process.private += GROWN + 1
    assert not growth.due()
    process.now, process.used = process.now + LOOK_SECONDS, process.used + 0.3
    assert not growth.due(), "it was at work"
    process.now, process.used = process.now + LOOK_SECONDS - 1, process.used + 0.1
    assert not growth.due(), "the minute is not over"
    process.now += 1
    assert growth.due()


def test_a_process_that_has_hardly_grown_stays(process: SimpleNamespace) -> None:
    growth = Growth(0.2)
    process.private += GROWN
    process.now += LOOK_SECONDS
    assert not growth.due()


@pytest.mark.parametrize(("connections", "ends"), [({}, True), ({7: "a connection"}, False)])
def test_a_web_process_ends_for_a_new_one_only_while_it_has_no_connection(
    connections: dict[int, str], ends: bool
) -> None:
    growth = Mock(due=Mock(return_value=True))
    servers = [SimpleNamespace(active_channels={}), SimpleNamespace(active_channels=connections)]
    worker: Any = SimpleNamespace(servers=servers, growth=growth)
    assert BufferingWorker._is_grown(worker) is ends
    # Otherwise a moment that has passed would be waited for once more.
    assert growth.due.called is ends


# In a process of its own: one that has run tests before holds freed memory, which is taken first.
GROWS = """
import mmap
from toolevals.memory import private_bytes
before = private_bytes()
held = mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(0, len(held), mmap.PAGESIZE):
    held[page] = 1
print(private_bytes() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says it")
def test_what_a_process_alone_holds_is_known() -> None:
    done = subprocess.run([sys.executable, "-c", GROWS], check=True, stdout=subprocess.PIPE, cwd=ROOT)
    assert int(done.stdout) > 7 * 1024 * 1024


def test_elsewhere_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolevals.memory.sys.platform", "darwin")
    assert memory.allocate_tightly() is False
    memory.give_back()


def test_a_thread_of_the_web_server_keeps_few_pages(db: Any) -> None:
    if connection.vendor != "sqlite":
        cache_little(connection)  # which does nothing there
        return
    with connection.cursor() as cursor:
        before = cursor.execute("PRAGMA cache_size").fetchone()[0]
        try:
            cache_little(connection)
            assert cursor.execute("PRAGMA cache_size").fetchone()[0] == -CACHE_KILOBYTES
        finally:
            cursor.execute(f"PRAGMA cache_size={before}")
