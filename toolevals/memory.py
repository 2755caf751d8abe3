"""Give memory that a long-lived process no longer needs back to the system.

glibc keeps a heap for each thread, up to eight a core, and raises the size from which it asks the system for each block
by itself. After an hour of requests and imports most of a process is room that nothing is in. Elsewhere than on glibc
these functions do nothing.
"""

from __future__ import annotations

import ctypes
import sys
import time
from pathlib import Path

HEAPS = 2
# Bytes. Larger blocks are the system's, and go back to it at once; glibc would let this grow to 32 MB.
OWN_BLOCK = 128 * 1024
# Bytes that may lie free at the end of a heap.
FREE_AT_END = 512 * 1024
# Between two times of giving back; one takes some milliseconds.
GIVE_BACK_SECONDS = 10.0
# Of what only this process holds, above what it held at first. A process that has grown so much may be replaced.
GROWN = 32 * 1024 * 1024
# Between two looks at whether a process has grown and has nothing to do.
LOOK_SECONDS = 60.0
# malloc.h
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8


def allocate_tightly() -> bool:
    """Keep few heaps and little free room in this process and those it forks; return whether that can be done."""
    libc = _glibc()
    if libc is None:
        return False
    options = ((_ARENA_MAX, HEAPS), (_MMAP_THRESHOLD, OWN_BLOCK), (_TRIM_THRESHOLD, FREE_AT_END))
    return all(libc.mallopt(option, value) for option, value in options)


def give_back() -> None:
    """Give free pages in the midst of heaps back to the system."""
    libc = _glibc()
    if libc is not None:
        libc.malloc_trim(0)


class GivingBack:
    """Gives memory back now and then, once something was done since the last time."""

    def __init__(self) -> None:
        self._done = False
        self._due_at = 0.0

    def note(self) -> None:
        """Say that something was done."""
        self._done = True

    def turn(self) -> bool:
        """Give back if it is time; return whether it was."""
        if not self._done or time.monotonic() < self._due_at:
            return False
        self._done, self._due_at = False, time.monotonic() + GIVE_BACK_SECONDS
        give_back()
        return True


class Growth:
    """Tells when a process is better replaced by one newly forked, which shares with others what it has not touched.

    That is when it has grown by GROWN and has hardly worked for a minute: no request waits while a new one warms up.
    """

    def __init__(self, calm_seconds: float) -> None:
        """`calm_seconds` of processor time in a minute are no work."""
        self._calm = calm_seconds
        self._first = private_bytes()
        self._look_at, self._used = time.monotonic() + LOOK_SECONDS, time.process_time()

    def due(self) -> bool:
        """Return whether it is time; to be asked often."""
        now = time.monotonic()
        if now < self._look_at:
            return False
        before, self._look_at, self._used = self._used, now + LOOK_SECONDS, time.process_time()
        return self._used - before < self._calm and private_bytes() - self._first > GROWN


def private_bytes() -> int:
    """Return what this process has written and shares with none (Linux); 0 where the system does not say."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_Dirty:"))


def _glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "gnu_get_libc_version") else None
