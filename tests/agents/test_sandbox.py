"""Code that means harm: each kind is stopped, reported as what it was, and leaves the next conversation a new start."""

from __future__ import annotations

import errno
import json
import os
import platform
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.agents.hostile_code import HOSTILE
from tests.agents.players import Player, call, calling
from toolevals.agents.code import CodeSimulator, Limits
from toolevals.agents.code.simulator import ChildDiedError, Death
from toolevals.agents.code.system_calls import CLONE3, EVERYWHERE, PROCESSORS
from toolevals.agents.loop import End, Task, converse
from toolevals.agents.worlds import World

pytestmark = pytest.mark.usefixtures("sandbox")
EXAMPLE = {"messages": [{"role": "user", "content": "Hi"}]}
LIMITS = Limits(memory=256 << 20, seconds=20, output=100_000, scratch=4 << 20)
# Only for what never ends: anything else may be slow on a busy machine.
HURRIED = replace(LIMITS, seconds=0.5)


@pytest.fixture(scope="module")
def hostile() -> Iterator[CodeSimulator]:
    with CodeSimulator({"simulator.py": HOSTILE}, limits=LIMITS) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def hurried() -> Iterator[CodeSimulator]:
    with CodeSimulator({"simulator.py": HOSTILE}, limits=HURRIED) as simulator:
        yield simulator


@pytest.fixture
def world(hostile: CodeSimulator) -> Iterator[World]:
    with hostile.world(EXAMPLE) as world:
        yield world


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a server that this machine listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/shadow", "/proc/self/environ", "/proc/1/cmdline", "/dev/sda"])
def test_files_of_the_machine_are_not_there(world, path):
    answer = world.call(call("read", path=path))
    assert answer.is_error
    assert answer.content == f"FileNotFoundError: [Errno 2] No such file or directory: '{path}'"


def test_neither_the_project_nor_its_database_is_there(world, tmp_path):
    database = tmp_path / "toolevals.sqlite3"
    database.write_text("secret")
    for path in (database, Path(__file__), Path(__file__).parents[2] / "pyproject.toml"):
        assert "No such file" in world.call(call("read", path=str(path))).content
    seen = set(json.loads(world.call(call("look", path="/")).content))
    assert seen <= {"usr", "lib", "lib64", "lib32", "python", "dev", "simulator", "driver.py", "states.py", "tmp"}
    assert world.call(call("look", path="/tmp")).content == "[]"


@pytest.mark.parametrize(
    "path", ["/simulator/simulator.py", "/driver.py", "/mine", "/usr/lib/mine", "/python/lib/mine"]
)
def test_nothing_but_its_own_folder_can_be_written(world, path):
    answer = world.call(call("write", path=path))
    assert answer.is_error
    assert "Read-only file system" in answer.content or "Permission denied" in answer.content


def test_it_is_nobody_and_is_told_nothing_of_the_server(world, monkeypatch):
    said = world.call(call("surroundings")).content
    assert "DJANGO" not in said
    assert "TOOLEVALS" not in said
    assert '"uid": 0' not in said
    answer = world.call(call("be_root"))
    assert "PermissionError" in answer.content or "Invalid argument" in answer.content


def test_a_system_call_reaches_no_server_of_this_machine_and_makes_no_process(world, port):
    assert world.call(call("connect_by_system_call", port=port)).content == "-1"
    assert world.call(call("fork_by_system_call")).content == "[-1, -1, -1, -1, -1]"


@pytest.mark.parametrize(
    ("tool", "death", "said"),
    [
        ("connect", Death.NETWORK, "it tried to reach the network"),
        ("resolve", Death.NETWORK, "it tried to reach the network (socket.getaddrinfo)"),
        ("fork", Death.PROCESSES, "it tried to start another process (os.fork)"),
        ("shell", Death.PROCESSES, "it tried to start another process (subprocess.Popen)"),
        ("threads", Death.PROCESSES, "it tried to start another process (a thread)"),
        ("allocate", Death.MEMORY, "it ran out of memory: 256 MB are allowed"),
        ("allocate_at_once", Death.MEMORY, "it ran out of memory"),
        ("print_much", Death.OUTPUT, "its output is too long (printed too much): 97 KB are allowed"),
        ("return_much", Death.OUTPUT, "its output is too long (returned too much)"),
        ("babble", Death.OUTPUT, "its output is too long"),
        ("write_much", Death.DISK, "its disk is full: 4 MB are allowed"),
        ("many_files", Death.FILES, "it opened too many files"),
        ("crash", Death.EXIT, "it ended by itself (by SIGSEGV)"),
        ("leave", Death.EXIT, "it ended by itself (SystemExit: 3)"),
        ("kill_itself", Death.EXIT, "it ended by itself (killed, perhaps for want of memory)"),
    ],
)
def test_whatever_it_tries_ends_it_and_is_reported_as_what_it_was(hostile, port, tool, death, said):
    arguments = {"port": port} if tool == "connect" else {}
    with hostile.world(EXAMPLE) as world:
        with pytest.raises(ChildDiedError) as caught:
            world.call(call(tool, **arguments))
        assert caught.value.death == death
        assert said in str(caught.value)
    with hostile.world(EXAMPLE) as world:
        assert world.state() == {}


@pytest.mark.parametrize("tool", ["spin", "spin_and_catch", "sleep"])
def test_what_never_ends_is_ended(hurried, tool):
    with hurried.world(EXAMPLE) as world:
        with pytest.raises(ChildDiedError, match=r"it took too long: 0\.5 seconds are allowed for a call") as caught:
            world.call(call(tool))
        assert caught.value.death == Death.TIME


def test_memory_that_no_limit_counts_is_refused(world):
    assert world.call(call("hidden_memory")).content == f"[0, {errno.EPERM}]"


def test_system_calls_that_make_namespaces_or_hide_memory_are_refused(world):
    processor = PROCESSORS[platform.machine()]
    refused = sorted({*processor.refused.values(), *EVERYWHERE.values()})
    calls = [[number, 0, 0, 0] for number in refused]
    calls += [[processor.clone, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0], [CLONE3, 0, 0]]
    said = json.loads(world.call(call("system_calls", calls=calls)).content)
    assert said == [[-1, errno.EPERM]] * (len(refused) + 1) + [[-1, errno.ENOSYS]]


def test_a_reply_of_too_many_values_is_not_read():
    limits = replace(LIMITS, values=1000)
    with CodeSimulator({"simulator.py": HOSTILE}, limits=limits) as simulator, simulator.world(EXAMPLE) as world:
        world.call(call("many_values"))
        with pytest.raises(ChildDiedError, match="its output is too long \\(more than 1,000 values\\)"):
            world.state()


def test_what_it_writes_in_the_place_of_a_reply_is_taken_for_no_reason_but_its_own_end(hostile):
    with hostile.world(EXAMPLE) as world, pytest.raises(ChildDiedError) as caught:
        world.call(call("lie"))
    assert caught.value.death == Death.EXIT


def test_a_conversation_is_errored_with_what_happened(hostile):
    with hostile.world(EXAMPLE) as world:
        talk = converse(Player(calling(call("allocate"))), Task(EXAMPLE), world=world)
    assert talk.end == End.UNREACHABLE
    assert talk.transcript.error == "The simulator was stopped: it ran out of memory: 256 MB are allowed."


def test_leaving_ends_every_process():
    before = _descendants()
    with CodeSimulator({"simulator.py": HOSTILE}, limits=LIMITS) as simulator:
        with simulator.world(EXAMPLE), simulator.world(EXAMPLE):
            during = _descendants() - before
        assert len(during) >= 4
    deadline = time.monotonic() + 30
    while any(map(_command, during)) and time.monotonic() < deadline:
        time.sleep(0.01)
    # Those that nobody has buried yet have no command any more.
    assert not any(map(_command, during))


def _descendants() -> set[int]:
    """Return the ids of this process's sandboxes and of all that runs in them."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    sandboxes = {process for process in found if b"toolevals-simulator-" in _command(process)}
    return sandboxes | {child for child, parent in parents.items() if parent in sandboxes}


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
