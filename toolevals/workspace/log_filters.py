"""Keep links of invitations out of logs, and say at times that the database cannot be reached.

The settings name the filters: nothing else of the application is loaded here.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from datetime import UTC, datetime
from typing import Any, ClassVar

# As in toolevals.workspace.urls, and in toolevals.workspace.accounts.urls.
_LINK = re.compile(r"(/invitations/link/|/sign-in/new-password/[^/]+/)[^/\s\"']+")


class LinkFilter(logging.Filter):
    """Takes the secret out of every line that names the address of an invitation, or of a new password."""

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        hidden = _LINK.sub(r"\1…", said)
        if hidden != said:
            record.msg, record.args = hidden, ()
        return True


logger = logging.getLogger(__name__)

EVERY_SECONDS = 30.0
# PostgreSQL's classes of a connection that is gone, and of a server that stops or starts.
_GONE = ("08", "57P")
_DRIVERS = frozenset({"OperationalError", "InterfaceError"})


class OutageFilter(logging.Filter):
    """Lets through one line for all errors of a database that is away: at first, and every 30 seconds."""

    # Of the process.
    _lock: ClassVar = threading.Lock()
    _since: ClassVar[datetime | None] = None
    _again_at: ClassVar[float] = 0.0
    _left_out: ClassVar[int] = 0

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not is_unreachable(error):
            return True
        cls, now = OutageFilter, time.monotonic()
        with cls._lock:
            if cls._since is not None and now < cls._again_at:
                cls._left_out += 1
                return False
            cls._since = cls._since or datetime.now(UTC)
            cls._again_at = now + EVERY_SECONDS
            said = f"The database cannot be reached since {cls._since:%Y-%m-%d %H:%M:%S} UTC: {_first_line(error)}"
        record.levelno, record.levelname = logging.ERROR, "ERROR"
        record.msg, record.args, record.exc_info, record.exc_text = said, (), None, None
        return True


def database_reached(**_: Any) -> None:
    """Say once that the database is back: called with each new connection."""
    cls = OutageFilter
    with cls._lock:
        since, left_out = cls._since, cls._left_out
        cls._since, cls._left_out = None, 0
    if since is not None:
        seconds = (datetime.now(UTC) - since).total_seconds()
        words = "The database is reached again, after %.0f seconds. Errors of it that were not logged: %s."
        logger.warning(words, seconds, left_out)


def is_unreachable(error: BaseException | None) -> bool:
    """Return whether an error says that PostgreSQL cannot be reached, or stopped while it was asked."""
    while error is not None:
        if type(error).__module__.partition(".")[0] in ("psycopg", "psycopg_pool"):
            state = getattr(error, "sqlstate", None)
            names = {each.__name__ for each in type(error).__mro__}
            # Without a state it is the driver's own: no connection was to be had, or it broke.
            if names & _DRIVERS if state is None else state.startswith(_GONE):
                return True
        error = error.__cause__ or error.__context__
    return False


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
