"""Ends a worker's process that stands still, so that another takes its place: a process may hang, its work may not.

A call that holds the interpreter's lock for ever, such as a hopeless regular expression, stops every thread of its
process. Two watch. A timer of the process itself needs no lock, and says in the log where the process stood. Behind it
the fork server kills what it has forked, where that runs so little that even the timer does not.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable

# Between two signs of life.
SIGN_SECONDS = 1.0
# After the lease of its batch, before a process that gives no sign is ended; its parent waits as long once more.
GRACE_SECONDS = 5.0
# Celery puts something in the place of `sys.stderr` that is no file.
LOG = 2
# Who gives the sign, and how many times it may be left out before its parent kills it.
_SIGN = struct.Struct("!iI")
READ_BYTES = 1024 * _SIGN.size


class AtWork:
    """The knowledge of a process whether it works on batches, and so may be ended for its own good."""

    is_so = False


def end_when_still(seconds: float) -> None:
    """End this process when its interpreter stands still for so long; where it stood is said in the log.

    The processes of a pool call this after they are forked: a timer of their parent's would hold them up.
    """
    AtWork.is_so = True
    _every_sign(lambda: faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=LOG), "still")


def end_now() -> None:
    """End this process if it works on batches, and say in the log where each of its threads stands."""
    if AtWork.is_so:
        faulthandler.dump_traceback(file=LOG)
        os._exit(1)


def give_signs(pipe: int, seconds: float) -> None:
    """Write into the pipe of this process's parent, again and again, that this process runs."""
    sign = _SIGN.pack(os.getpid(), int((seconds + 2 * GRACE_SECONDS) / SIGN_SECONDS))
    _every_sign(lambda: os.write(pipe, sign), "signs")


def _every_sign(act: Callable[[], object], name: str) -> None:
    def run() -> None:
        while True:
            time.sleep(SIGN_SECONDS)
            act()

    act()
    threading.Thread(target=run, name=name, daemon=True).start()


class Watch:
    """A parent's knowledge of who gives signs of life. It counts its own looks: a pause of the whole machine is one."""

    def __init__(self) -> None:
        # By process, how many looks it may let pass without a sign, and how many it has; none allowed before its first.
        self._allowed: dict[int, int] = {}
        self._missed: dict[int, int] = {}
        self._look_at = 0.0

    @property
    def pause(self) -> float | None:
        """Return after how many seconds to look again; None where no one is watched."""
        return max(0.0, self._look_at - time.monotonic()) if self._allowed else None

    def expect(self, pid: int) -> None:
        """Watch a process from its first sign on."""
        self._allowed[pid] = self._missed[pid] = 0

    def forget(self, pid: int) -> None:
        """Watch a process no longer: it has ended."""
        self._allowed.pop(pid, None)

    def hear(self, read: bytes) -> None:
        """Note the signs that came out of the pipe."""
        for pid, allowed in _SIGN.iter_unpack(read):
            if pid in self._allowed:
                self._allowed[pid], self._missed[pid] = allowed, 0

    def look(self) -> None:
        """Kill who has given no sign for too long, with all that it has started."""
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + SIGN_SECONDS
        for pid, allowed in list(self._allowed.items()):
            self._missed[pid] += 1
            if allowed and self._missed[pid] > allowed:
                self.forget(pid)
                sys.stderr.write(f"The process {pid} gave no sign of life for {allowed} s, and is killed.\n")
                os.killpg(pid, signal.SIGKILL)
