"""Sends requests again while a server is restarted, or answers that it cannot answer now."""

from __future__ import annotations

import email.utils
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from toolevals.cli.http import Response
from toolevals.cli.output import note

# What a server, or whatever stands before it, answers while it cannot answer.
PASSING = frozenset({429, 502, 503, 504})
# How long a server may be away.
PATIENCE_SECONDS = 300.0
LONGEST_PAUSE = 30.0


@dataclass
class RetryDeadline:
    """A limit on asking a server that was there again: with growing pauses, or with those that it asks for."""

    deadline: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _since: float | None = field(default=None, init=False)
    _pause: float = field(default=1.0, init=False)

    def answered(self) -> None:
        """Note that the server answers."""
        if self._since is not None:
            note("the server answers")
        self._since, self._pause = None, 1.0

    def wait(self, why: str, asked: float | None = None) -> bool:
        """Wait before the next attempt and return True; False where the time for it is over.

        `asked` is the pause that the server asks for, in seconds.
        """
        now = self.clock()
        since = now if self._since is None else self._since
        end = min(since + PATIENCE_SECONDS, self.deadline)
        pause = self._pause if asked is None else asked
        if now + pause > end:
            return False
        if self._since is None:
            note(f"{why}; retrying for up to {math.ceil(end - now)} seconds")
        self._since, self._pause = since, min(self._pause * 2, LONGEST_PAUSE)
        self.sleep(pause)
        return True


def retry_after(response: Response, now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds that a server asks to wait, given as a number or as a date; None where it asks for nothing."""
    said = response.headers.get("Retry-After", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - now())
    except (ValueError, TypeError, OverflowError):
        return None
