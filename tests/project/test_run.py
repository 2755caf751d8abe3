"""`./dev run`, from the outside: what it prints, and how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripts.dev.environment import PYTHON, ROOT
from tests.fixtures.prepared import prepared_folder, prepared_root
from tests.servers.process import free_port
from toolevals.cli import serve
from toolevals.serving.application import WEB as WEB_SERVER
from toolevals.serving.application import CannotServeError
from toolevals.serving.preparation import Preparation

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(Path(sys.prefix) != PYTHON.parent.parent, reason="not run by ./dev: it has no .venv"),
]

# The modules that the processes run.
WEB, JOBS = "gunicorn", "celery"


class Started:
    """A `./dev run` that serves."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url

    def wait(self) -> str:
        """Return what is printed until the last process that may print is gone."""
        return self.process.communicate(timeout=60)[0]

    def said(self, sentence: str) -> str:
        """Return what is printed up to the line that holds a sentence."""
        assert self.process.stdout is not None
        lines: list[str] = []
        for line in self.process.stdout:
            lines.append(line)
            if sentence in line:
                return "".join(lines)
        raise AssertionError("".join(lines))

    def children(self) -> dict[str, int]:
        """Return what it has started: the module of each process -> process id."""
        return {module_of(pid): pid for pid in below(self.process.pid)}


def below(parent: int) -> list[int]:
    """Return the children of a process."""
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def module_of(pid: int) -> str:
    """Return what follows `-m` in the words of a process."""
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return words[words.index("-m") + 1]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of all these tests: the first start makes its tables, and finds compressed what it serves."""
    prepared, folder = prepared_folder(prepared_root(tmp_path_factory), sample=False), tmp_path_factory.mktemp("data")
    shutil.copytree(prepared / "static", folder / "static")
    Preparation(static=Preparation.of(prepared).static).keep(folder)
    return folder


class Starts:
    """Starts it, without servers and without the sample. A test may leave one that serves well to the next."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.left: Started | None = None
        self.processes: list[subprocess.Popen[str]] = []

    def __call__(self) -> Started:
        """Start one."""
        port = free_port()
        process = subprocess.Popen(
            [ROOT / "dev", "run", "--no-sample", "--port", str(port), "--data", self.data],
            env={name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.processes.append(process)
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if "toolevals runs at" in line:
                return Started(process, f"http://127.0.0.1:{port}")
        raise AssertionError("".join(said))

    def serving(self) -> Started:
        """Return the one that a test has left, else start one."""
        left, self.left = self.left, None
        return left or self()

    def one_has_ended(self) -> None:
        """Start one and end it, unless a test has done so."""
        if not self.processes:
            started = self()
            started.process.terminate()
            started.wait()


@pytest.fixture(scope="module")
def start(data: Path) -> Iterator[Starts]:
    """Start it, and end in the end what still runs."""
    starts = Starts(data)
    yield starts
    for process in starts.processes:
        process.terminate()
        process.communicate(timeout=40)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=30) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def test_a_process_that_dies_is_started_again_and_that_is_said(start: Starts) -> None:
    started = start.serving()
    for name, title in ((JOBS, "worker"), (WEB, "web server")):
        before = started.children()[name]
        os.kill(before, signal.SIGKILL)
        assert f"The {title} ended unexpectedly (status -9)" in started.said(f"The {title} runs again.")
        assert started.children()[name] != before
    assert answers(started.url)
    start.left = started


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGTERM, signal.SIGINT]])
def test_signals_end_all_of_it(start: Starts, signals: list[signal.Signals]) -> None:
    started = start.serving()
    assert answers(started.url)
    assert started.children().keys() == {WEB, JOBS}
    for number in signals:
        started.process.send_signal(number)
    assert "Stopping" in started.wait()
    assert started.process.returncode == 0
    assert not answers(started.url)


class Clock:
    """A clock that only sleeping moves; it ends the test after an hour."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.now > 3600:
            raise serve.StopRequested


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(serve, "time", SimpleNamespace(monotonic=lambda: made.now, sleep=made.sleep))
    return made


class Dying:
    """An application of which one process dies as soon as it is started."""

    def __init__(self, name: str) -> None:
        self.processes: Any = {name: SimpleNamespace(returncode=3) for name in ("worker", WEB_SERVER)}
        self.starts = 0
        self.name = name

    def ended(self) -> list[str]:
        return [self.name]

    def restart(self, name: str) -> None:
        self.starts += 1
        raise CannotServeError(f"The {name} ended at once: see above.")


def test_a_web_server_that_dies_again_and_again_is_given_up_after_growing_pauses(clock: Clock) -> None:
    application: Any = Dying(WEB_SERVER)
    with pytest.raises(CannotServeError, match=r"The web server ended 5 times within 120 seconds, .*status 3"):
        serve.watch(application)
    assert application.starts == 4
    assert clock.now == pytest.approx(1 + 2 + 4 + 8, abs=4)


def test_a_worker_that_dies_again_and_again_never_ends_the_site(clock: Clock) -> None:
    application: Any = Dying("worker")
    with pytest.raises(serve.StopRequested):
        serve.watch(application)
    # Every twenty seconds, after the first pauses.
    assert 150 < application.starts < 200
    assert clock.now > 3600


def test_a_death_long_ago_does_not_count() -> None:
    restarts = serve.Restarts()
    assert [restarts.pause(WEB_SERVER, at) for at in (0, 10, 200, 210, 220, 230, 240)] == [1, 2, 1, 2, 4, 8, None]
    assert restarts.pause("worker", 240) == 1


def test_a_second_start_keeps_the_data(start: Starts, data: Path) -> None:
    start.one_has_ended()
    key = (data / "secret-key").read_text()
    stamp = (data / "static" / "staticfiles.json").stat().st_mtime_ns
    second = start()
    assert answers(second.url)
    assert (data / "secret-key").read_text() == key
    assert (data / "static" / "staticfiles.json").stat().st_mtime_ns == stamp
    start.left = second


def test_nothing_outlives_it_even_when_it_is_killed(start: Starts) -> None:
    started = start.serving()
    started.process.kill()
    started.wait()
    assert not answers(started.url)
