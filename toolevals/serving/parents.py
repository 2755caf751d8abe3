"""Lets processes end with those that started them."""

from __future__ import annotations

import ctypes
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent(by: signal.Signals = signal.SIGTERM) -> None:
    """Let Linux end this process by a signal when its parent is gone, however that came to its end.

    A worker is killed: it may stand still, and then hears no other signal. Killing it loses nothing.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, by)
