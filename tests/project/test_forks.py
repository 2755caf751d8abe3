"""Test processes that a fork server of the tests forks, as `subprocess` would hold them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.forks import ForkServer, ForkServerEnded

# In place of the application, programs that end as they are told.
SERVER = """
import signal, sys
from tests.fixtures.fork_server import serve

sys.exit(serve(int(sys.argv[1]), {
    "end": lambda status: int(status),
    "say": lambda *words: print(*words, sys.stdin.read() == "") or 0,
    "raise": lambda: [][0],
    "wait": lambda: signal.pause(),
}))
"""


@pytest.fixture
def said(tmp_path: Path) -> Path:
    """The file that holds what the processes say."""
    return tmp_path / "said"


@pytest.fixture
def server(tmp_path: Path, said: Path) -> Iterator[ForkServer]:
    """A fork server that has loaded nothing."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "$SERVER" "$@" >"$SAID" 2>&1\n')
    python.chmod(0o700)
    started = ForkServer([str(python)], Path.cwd(), os.environ | {"SERVER": SERVER, "SAID": str(said)})
    yield started
    started.close()


def test_a_status_is_told(server: ForkServer) -> None:
    first, second = server.fork("end", "3"), server.fork("end", "0")
    assert (second.wait(), first.wait()) == (0, 3)
    assert (first.poll(), second.poll()) == (3, 0)
    assert first.pid != second.pid


def test_what_raises_says_so_and_ends(server: ForkServer, said: Path) -> None:
    assert server.fork("raise").wait() == 1
    assert "IndexError" in said.read_text()


def test_words_arrive_and_nothing_can_be_read(server: ForkServer, said: Path) -> None:
    assert server.fork("say", "übung", "a b\n").wait() == 0
    assert said.read_text() == "übung a b\n True\n"


def test_one_that_runs_is_waited_for_no_longer_than_told_and_ended_by_a_signal(server: ForkServer) -> None:
    forked = server.fork("wait")
    assert forked.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        forked.wait(timeout=0.01)
    assert os.getsid(forked.pid) == forked.pid
    forked.terminate()
    assert forked.wait() == -signal.SIGTERM
    forked.terminate()  # which does nothing any more


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends what a parent leaves")
def test_what_was_forked_ends_with_the_fork_server(server: ForkServer) -> None:
    forked = server.fork("wait")
    server.close()
    assert server.ended
    assert forked.wait() == -signal.SIGTERM
    with pytest.raises(ForkServerEnded):
        server.fork("end", "0")
