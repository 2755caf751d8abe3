"""The sandbox where the server itself is an ordinary user: what root is tested with holds there too."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
# Some kernels and containers refuse ordinary users a namespace.
REFUSED = ("No permissions to create", "setting up uid map", "Operation not permitted", "Permission denied")
SCRIPT = """
import json, os, platform, sys
from tests.agents.hostile_code import HOSTILE
from tests.agents.players import call
from tests.agents.test_sandbox import EXAMPLE, HURRIED, LIMITS
from toolevals.agents.code import CodeSimulator
from toolevals.agents.code.simulator import ChildDiedError
from toolevals.agents.code.system_calls import PROCESSORS

def told(simulator, tool, **arguments):
    with simulator.world(EXAMPLE) as world:
        try:
            return world.call(call(tool, **arguments)).content
        except ChildDiedError as error:
            return error.death.name

FILES = {"simulator.py": HOSTILE}
UNSHARE = PROCESSORS[platform.machine()].refused["unshare"]
with CodeSimulator(FILES, limits=LIMITS) as simulator, CodeSimulator(FILES, limits=HURRIED) as hurried:
    print(json.dumps({
        "server": os.getuid(),
        "read": told(simulator, "read", path="/etc/passwd"),
        "write": told(simulator, "write", path="/simulator/simulator.py"),
        "be_root": told(simulator, "be_root"),
        "surroundings": told(simulator, "surroundings"),
        "connect": told(simulator, "connect", port=int(sys.argv[1])),
        "connect_by_system_call": told(simulator, "connect_by_system_call", port=int(sys.argv[1])),
        "fork": told(simulator, "fork"),
        "fork_by_system_call": told(simulator, "fork_by_system_call"),
        "allocate_at_once": told(simulator, "allocate_at_once"),
        "write_much": told(simulator, "write_much"),
        "hidden_memory": told(simulator, "hidden_memory"),
        "unshare": told(simulator, "system_calls", calls=[[UNSHARE, 0x10000000]]),
        "spin": told(hurried, "spin"),
    }))
"""


@pytest.mark.usefixtures("sandbox")
def test_an_ordinary_user_confines_code_as_root_does() -> None:
    if os.getuid() != 0:
        pytest.skip("Every test of the sandbox is run by an ordinary user here.")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        done = _as_nobody(_python(), "-c", SCRIPT, port)
    if done.returncode and any(words in done.stderr for words in REFUSED):
        pytest.skip(f"Ordinary users may make no namespaces here: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("server") == NOBODY
    assert told.pop("read").startswith("FileNotFoundError")
    assert "Error" in (wrote := told.pop("write"))
    assert "Read-only file system" in wrote or "Permission denied" in wrote
    assert "PermissionError" in (became := told.pop("be_root")) or "Invalid argument" in became
    assert "DJANGO" not in told.pop("surroundings")
    assert told == {
        "connect": "NETWORK",
        "connect_by_system_call": "-1",
        "fork": "PROCESSES",
        "fork_by_system_call": "[-1, -1, -1, -1, -1]",
        "allocate_at_once": "MEMORY",
        "hidden_memory": "[0, 1]",
        "unshare": "[[-1, 1]]",
        "spin": "TIME",
        "write_much": "DISK",
    }


def _as_nobody(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end as an ordinary user. Raises PermissionError where that one may not even read it."""
    return subprocess.run(
        words,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join((str(ROOT), sysconfig.get_path("purelib")))},
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _python() -> str:
    """Return an interpreter of this version that an ordinary user may run, with what the script imports."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for program in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        try:
            if _as_nobody(program, "-c", "import toolevals.agents.code, tests.agents.test_sandbox").returncode == 0:
                return program
        except OSError:
            continue
    pytest.skip("No interpreter of this version can be read by an ordinary user here, with what is installed.")
