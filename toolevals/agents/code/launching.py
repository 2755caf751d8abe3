"""Starts a simulator's process: Python alone for trusted code, else inside bubblewrap.

Inside there is nothing but the interpreter, its standard library, shared libraries and the simulator's own files, all
read-only, and a small folder in memory to write to: no network, no other process, no device but /dev/null. A filter of
system calls and, where one can be had, a control group limit what is left.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from toolevals.agents.code.memory_groups import MemoryGroup, memory_group
from toolevals.agents.code.system_calls import NoFilterError, system_call_filter
from toolevals.agents.code.user_namespace import NoNamespaceError, user_namespace

DRIVER = Path(__file__).with_name("driver.py")
STATES = Path(__file__).with_name("states.py")
MISSING = (
    "Code that is not trusted runs in a sandbox only, and bubblewrap is not installed. "
    "Its operator installs it (apt-get install bubblewrap, dnf install bubblewrap) or declares the code trusted: "
    "see docs/operating.md."
)
TOO_OLD = (
    "Code that is not trusted runs in a sandbox only, and bubblewrap {found} is too old: 0.8 or newer can refuse "
    "further user namespaces. Its operator installs a newer one or declares the code trusted: see docs/operating.md."
)
NO_NAMESPACE = (
    "Code that is not trusted runs in a sandbox only, and this machine gives no user namespace ({why}). "
    "Its operator allows them or declares the code trusted: see docs/operating.md."
)
OLDEST = (0, 8)
# Whom the code runs as where the server runs as root: the kernel does not count root's processes.
NOBODY = 65534
HOME = "/python"
FOLDER = "/simulator"
SCRATCH = "/tmp"  # noqa: S108 - the sandbox's own, which it shares with nobody
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/lib32")
NAMESPACES = ("ipc", "pid", "net", "uts")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a simulator: bytes of memory, seconds of processor for a call, bytes of output and of files.

    A call may take twice as long by the clock. `output` bounds prints and results, `state` the whole state, `values`
    the number of JSON values in one reply: many small ones take far more memory read than written.
    """

    memory: int = 512 * 1024 * 1024
    seconds: float = 10.0
    output: int = 1024 * 1024
    state: int = 64 * 1024 * 1024
    scratch: int = 16 * 1024 * 1024
    values: int = 2_000_000

    @property
    def timeout(self) -> float:
        """Return how long a call may take by the clock, in seconds."""
        return 2 * self.seconds


class NoSandboxError(Exception):
    """Code that is not trusted cannot be run here; the text says why, and how it can."""


class Launcher:
    """Starts processes that serve the code in `folder`; a context manager, for it holds what all of them share.

    Entering raises NoSandboxError.
    """

    def __init__(self, folder: Path, limits: Limits, *, trusted: bool) -> None:
        self._folder = folder
        self._limits = limits
        self._trusted = trusted
        self._namespace: int | None = None

    def __enter__(self) -> Self:
        if self._trusted:
            said = _said(str(self._folder), self._limits, confined=False)
            self._words = [sys.executable, *_FLAGS, str(DRIVER), said]
            return self
        program = require_sandbox()
        if owner() is not None:
            self._namespace = _namespace(NOBODY)
        self._words = [program, *_confined(self._folder, self._limits, self._namespace)]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._namespace is not None:
            os.close(self._namespace)

    def start(self) -> tuple[subprocess.Popen[bytes], MemoryGroup | None]:
        """Start one process with pipes for its standard files; return it with the group that limits its memory."""
        if self._trusted:
            return _process(self._words), None
        group = memory_group(self._limits.memory + self._limits.scratch)
        inward, outward = os.pipe()
        try:
            os.write(outward, system_call_filter())
            os.close(outward)
            passed = (inward,) if self._namespace is None else (inward, self._namespace)
            words = [self._words[0], "--seccomp", str(inward), *self._words[1:]]
            return _process(_within(group, words), passed), group
        except BaseException:
            if group is not None:
                group.close()
            raise
        finally:
            os.close(inward)


def require_sandbox() -> str:
    """Return where bubblewrap is. Raises NoSandboxError where code that is not trusted cannot be run."""
    found = shutil.which("bwrap")
    if found is None:
        raise NoSandboxError(MISSING)
    if version(found) < OLDEST:
        raise NoSandboxError(TOO_OLD.format(found=".".join(map(str, version(found)))))
    try:
        system_call_filter()
    except NoFilterError as error:
        raise NoSandboxError(str(error)) from error
    return found


@cache
def version(program: str) -> tuple[int, ...]:
    """Return the version of a bubblewrap, as far as it says one."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    return tuple(map(int, found.groups())) if found else ()


def owner() -> int | None:
    """Return whom the sandboxed code runs as and must be able to read its files as; None is ourselves."""
    return NOBODY if os.geteuid() == 0 else None


# No site packages, no bytecode written, nothing imported from where it happens to stand.
_FLAGS = ("-S", "-s", "-B", "-P")


# Nothing of the server's environment, such as the key to its database, goes to the code.
_ENVIRONMENT = {"PATH": os.defpath, "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
# Puts itself into a control group, then becomes the program that is named after it.
_ENTER = 'echo 0 > "$0" && exec "$@"'


def _process(words: list[str], passed: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=_ENVIRONMENT, pass_fds=passed)


def _within(group: MemoryGroup | None, words: list[str]) -> list[str]:
    """Return the command that runs another one in a control group."""
    return words if group is None else ["/bin/sh", "-c", _ENTER, group.processes, *words]


def _namespace(user: int) -> int:
    try:
        return user_namespace(user)
    except NoNamespaceError as error:
        raise NoSandboxError(NO_NAMESPACE.format(why=error)) from error


def _confined(folder: Path, limits: Limits, namespace: int | None) -> Iterator[str]:
    """Yield bubblewrap's options and the command that it runs."""
    yield from _box(namespace)
    yield from _files(folder)
    yield from ("--size", str(limits.scratch), "--perms", "1777", "--tmpfs", SCRATCH)
    yield from ("--remount-ro", "/", "--chdir", SCRATCH, "--")
    yield from (f"{HOME}/bin/python", *_FLAGS, "/driver.py", _said(FOLDER, limits, confined=True))


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


def _box(namespace: int | None) -> Iterator[str]:
    yield from ("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL")
    yield from (f"--unshare-{name}" for name in NAMESPACES)
    yield "--unshare-cgroup-try"
    if namespace is None:
        yield from ("--unshare-user", "--disable-userns")
    else:
        # To become no one, which gives both up.
        yield from ("--userns", str(namespace))
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
