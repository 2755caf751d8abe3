"""Test processes that a fork server forks, as `subprocess` would hold them, and workers that end to be replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolevals.serving.application import Application, CannotServeError
from toolevals.serving.forks import ForkServer, ForkServerEnded

# In place of the application, programs that end as they are told.
SERVER = """
import os, signal, sys
from toolevals import life
from toolevals.serving import fork_server

def jobs(number):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.kill(os.getpid(), int(number))
    while True:
        signal.pause()

life.GRACE_SECONDS, life.SIGN_SECONDS = 0, 0.1
fork_server.lease_seconds = lambda: 1
fork_server.load = lambda: None
fork_server.PROGRAMS = {
    "end": lambda status: int(status),
    "say": lambda *words: print(*words, sys.stdin.read() == "") or 0,
    "raise": lambda: [][0],
    "wait": lambda: signal.pause(),
    "jobs": jobs,
}
sys.exit(fork_server.serve(int(sys.argv[1])))
"""


@pytest.fixture
def said(tmp_path: Path) -> Path:
    """The file that holds what the processes say."""
    return tmp_path / "said"


@pytest.fixture
def server(tmp_path: Path, said: Path) -> Iterator[ForkServer]:
    """A fork server that has loaded nothing."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nshift 2\nexec {sys.executable} -c "$SERVER" "$@" >"$SAID" 2>&1\n')
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends what a parent leaves")
def test_a_worker_that_hears_no_signal_ends_with_the_fork_server(server: ForkServer) -> None:
    forked = server.fork("jobs", str(int(signal.SIGCONT)))
    time.sleep(0.5)
    forked.terminate()
    server.close()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{forked.pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_worker_that_gives_no_sign_of_life_is_killed_and_one_that_does_is_not(server: ForkServer, said: Path) -> None:
    lives, stopped = server.fork("jobs", str(int(signal.SIGCONT))), server.fork("jobs", str(int(signal.SIGSTOP)))
    assert stopped.wait(timeout=30) == -signal.SIGKILL
    assert lives.poll() is None
    assert f"The process {stopped.pid} gave no sign of life" in said.read_text()


def test_one_that_does_not_load_is_said(tmp_path: Path) -> None:
    application = Application(python="/bin/false", data=tmp_path)
    with pytest.raises(CannotServeError, match="The web server ended at once"):
        application.web_start()
    application.stop()


def test_one_that_cannot_be_started_again_has_ended_still(tmp_path: Path) -> None:
    application = Application(python="/bin/false", data=tmp_path)
    application.processes = {"worker": subprocess.Popen(["/bin/false"], start_new_session=True)}
    application.processes["worker"].wait()
    with pytest.raises(CannotServeError, match="The worker ended at once"):
        application.restart("worker")
    assert application.ended() == ["worker"]
    application.stop()
