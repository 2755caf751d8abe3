"""Limits the memory of a simulator's process by a control group, where the server may make one.

With version 2 of the kernel's interface, groups are made below one that was delegated to the server (systemd:
`Delegate=yes` and `DelegateSubgroup=`), with version 1 below the server's own. Elsewhere the process's own limits hold.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
PREFIX = "toolevals-simulator-"
# What the interpreter and the kernel's own records take, in bytes, beside what the code is allowed.
OVERHEAD = 64 << 20
# Seconds that the end of killed processes may take.
PATIENCE = 5


@dataclass(frozen=True, slots=True)
class Parent:
    """A group below which groups can be made: its folder, and the files of a limit and of the count of kills."""

    folder: Path
    limit: str
    events: str


class MemoryGroup:
    """One group; `add` puts a process in, `close` takes the empty group away."""

    def __init__(self, parent: Parent, most: int) -> None:
        self._events = parent.events
        self.folder = parent.folder / f"{PREFIX}{uuid.uuid4().hex}"
        self.folder.mkdir()
        try:
            _write(self.folder / parent.limit, str(most))
            _write_if_there(self.folder / "memory.swap.max", "0")
            _write_if_there(self.folder / "memory.memsw.limit_in_bytes", str(most))
        except OSError:
            self.folder.rmdir()
            raise

    @property
    def processes(self) -> str:
        """Return the file that takes the id of a process; 0 is the writer's own."""
        return str(self.folder / "cgroup.procs")

    @property
    def killed(self) -> bool:
        """Return whether the kernel ended a process of the group for want of memory."""
        try:
            return bool(re.search(r"^oom_kill [1-9]", (self.folder / self._events).read_text(), re.MULTILINE))
        except OSError:
            return False

    def close(self) -> None:
        """Take the group away once the kernel has ended its processes; one that takes too long is left to `clear`."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                self.folder.rmdir()
            except OSError:
                time.sleep(0.002)
            else:
                return


def memory_group(most: int) -> MemoryGroup | None:
    """Return a new group with a limit in bytes, None where none can be made."""
    parent = group_parent()
    if parent is None:
        return None
    try:
        return MemoryGroup(parent, most + OVERHEAD)
    except OSError:
        return None


@cache
def group_parent() -> Parent | None:
    """Return the first group below which this process can make others, and clear what earlier servers left there."""
    for parent in _parents(Path("/proc/self/cgroup")):
        try:
            MemoryGroup(parent, 1 << 30).close()
        except OSError:
            continue
        clear(parent)
        return parent
    return None


def clear(parent: Parent) -> None:
    """Take away empty groups whose server was killed; one in use refuses."""
    for folder in parent.folder.glob(f"{PREFIX}*"):
        try:
            folder.rmdir()
        except OSError:
            continue


def _parents(own: Path) -> Iterator[Parent]:
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if "memory" in controllers.split(","):
            yield Parent(GROUPS / "memory" / path.lstrip("/"), "memory.limit_in_bytes", "memory.oom_control")
        if not controllers and (GROUPS / "cgroup.controllers").exists():
            group = GROUPS / path.lstrip("/")
            yield from (_second(folder) for folder in (group, group.parent) if _is_ours(folder, group))


def _is_ours(folder: Path, group: Path) -> bool:
    """Return whether a group may be divided by this process: its own, or one that systemd says is delegated."""
    if folder == group:
        return True
    try:
        return os.getxattr(folder, "user.delegate") == b"1"
    except OSError:
        return False


def _second(folder: Path) -> Parent:
    _write_if_there(folder / "cgroup.subtree_control", "+memory")
    return Parent(folder, "memory.max", "memory.events")


def _write(path: Path, text: str) -> None:
    """Write a control file that is there already. Raises OSError."""
    with path.open("r+") as file:
        file.write(text)


def _write_if_there(path: Path, text: str) -> None:
    """Write a control file; one that is not there, or that does not take it, leaves things as they are."""
    try:
        _write(path, text)
    except OSError:
        return
