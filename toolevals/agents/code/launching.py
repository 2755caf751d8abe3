"""The command that starts a simulator's process: Python alone for trusted code, else inside bubblewrap.

Inside there is nothing but the interpreter, its standard library, shared libraries and the simulator's own files, all
read-only, and a small folder in memory to write to: no network, no other process, no device but /dev/null.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DRIVER = Path(__file__).with_name("driver.py")
STATES = Path(__file__).with_name("states.py")
MISSING = (
    "Code that is not trusted runs in a sandbox only, and bubblewrap is not installed. "
    "Its operator installs it (apt-get install bubblewrap, dnf install bubblewrap) or declares the code trusted: "
    "see docs/operating.md."
)
# Whom the code runs as where the server runs as root: the kernel does not count root's processes.
NOBODY = 65534
HOME = "/python"
FOLDER = "/simulator"
SCRATCH = "/tmp"  # noqa: S108 - the sandbox's own, which it shares with nobody
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/lib32")
NAMESPACES = ("ipc", "pid", "net", "uts")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a simulator may use: bytes of memory, seconds of processor for a call, bytes of output and of files.

    A call may take twice as long by the clock. `output` bounds prints and results, `state` the whole state.
    """

    memory: int = 512 * 1024 * 1024
    seconds: float = 10.0
    output: int = 1024 * 1024
    state: int = 64 * 1024 * 1024
    scratch: int = 16 * 1024 * 1024

    @property
    def patience(self) -> float:
        """How long a call may take by the clock, in seconds."""
        return 2 * self.seconds


class NoSandboxError(Exception):
    """Code that is not trusted cannot be run here; the text says why, and how it can."""


def require_sandbox() -> str:
    """Return where bubblewrap is. Raises NoSandboxError."""
    found = shutil.which("bwrap")
    if found is None:
        raise NoSandboxError(MISSING)
    return found


def command(folder: Path, limits: Limits, *, trusted: bool) -> list[str]:
    """Return the command that serves the code in `folder`. Raises NoSandboxError."""
    if trusted:
        return [sys.executable, *_FLAGS, str(DRIVER), _said(str(folder), limits, confined=False)]
    options = [*_box(), *_files(folder), "--size", str(limits.scratch), "--perms", "1777", "--tmpfs", SCRATCH]
    python = [f"{HOME}/bin/python", *_FLAGS, "/driver.py", _said(FOLDER, limits, confined=True)]
    return [require_sandbox(), *options, "--remount-ro", "/", "--chdir", SCRATCH, "--", *python]


def owner() -> int | None:
    """Return whom the sandboxed code runs as and must be able to read its files as; None is ourselves."""
    return NOBODY if os.geteuid() == 0 else None


# No site packages, no bytecode written, nothing imported from where it happens to stand.
_FLAGS = ("-S", "-s", "-B", "-P")


def _said(folder: str, limits: Limits, *, confined: bool) -> str:
    return json.dumps(
        {
            "folder": folder,
            "confined": confined,
            "user": owner() if confined else None,
            "memory": limits.memory,
            "seconds": limits.seconds,
            "output": limits.output,
            "state_output": limits.state,
        }
    )


def _box() -> Iterator[str]:
    yield from ("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL")
    yield from (f"--unshare-{name}" for name in NAMESPACES)
    yield "--unshare-cgroup-try"
    if owner() is None:
        yield "--unshare-user"
    else:
        # To become nobody, which gives both up.
        yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    # Sets in one order every time: the same calls, the same answers.
    yield from ("--setenv", "PYTHONHASHSEED", "0", "--setenv", "LD_LIBRARY_PATH", f"{HOME}/lib")
    yield from ("--setenv", "PYTHONUTF8", "1")


def _files(folder: Path) -> Iterator[str]:
    for parent in ("/usr", "/dev", HOME, f"{HOME}/bin", f"{HOME}/lib"):
        # What is made on the way to a mount is open to its maker alone.
        yield from ("--perms", "0755", "--dir", parent)
    for library in map(Path, LIBRARIES):
        if library.is_symlink():
            yield from ("--symlink", str(library.readlink()), str(library))
        elif library.is_dir():
            yield from ("--ro-bind", str(library), str(library))
    yield from ("--ro-bind", os.path.realpath(sys.executable), f"{HOME}/bin/python")
    paths = sysconfig.get_paths(vars={"platbase": sys.base_exec_prefix})
    for path in dict.fromkeys((paths["stdlib"], paths["platstdlib"])):
        yield from ("--ro-bind", path, f"{HOME}/{os.path.relpath(path, sys.base_prefix)}")
    for shared in Path(sys.base_prefix, "lib").glob("libpython*.so*"):
        yield from ("--ro-bind", str(shared), f"{HOME}/lib/{shared.name}")
    yield from ("--ro-bind", str(DRIVER), "/driver.py", "--ro-bind", str(STATES), "/states.py")
    yield from ("--ro-bind", str(folder), FOLDER)
    yield from ("--dev-bind", "/dev/null", "/dev/null")
