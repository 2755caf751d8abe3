"""Measures the processor time of what a measurement started, which other work changes little (Linux)."""

from __future__ import annotations

import os
from pathlib import Path

# Of /proc/PID/stat after the name: the parent, then user and system time of the process and of its ended children.
PARENT, TIMES = 1, slice(11, 15)


def processor_seconds(root: int, *, without: int = 0) -> float:
    """Return the seconds that the descendants of a process have taken, those included that ended and were waited for.

    `without` is a descendant that does not count.
    """
    found = descendants(root, without=without)
    ticks = sum(int(value) for fields in found.values() for value in fields[TIMES])
    return ticks / os.sysconf("SC_CLK_TCK")


def descendants(root: int, *, without: int = 0) -> dict[int, list[str]]:
    """Return the processes below one, those below them included: process id -> the fields of its `stat`."""
    pids = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal()]
    found = {pid: fields for pid in pids if (fields := _fields(pid))}
    below = {root}
    while more := {pid for pid, fields in found.items() if int(fields[PARENT]) in below and pid != without} - below:
        below |= more
    return {pid: found[pid] for pid in below - {root}}


def process_seconds(pid: int) -> float:
    """Return the seconds that one process has taken, and those of its children that ended; 0 where it has ended."""
    return sum(map(int, _fields(pid)[TIMES])) / os.sysconf("SC_CLK_TCK")


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        # It has ended meanwhile.
        return []
