"""Read the path below which a proxy serves the application; no settings are needed for it."""

from __future__ import annotations

import re
from typing import Final

VARIABLE: Final = "TOOLEVALS_PATH_PREFIX"
# Where the application's own addresses begin. A prefix that begins so could not be told from one of them.
TAKEN: Final = frozenset({
    "api", "badges", "docs", "healthz", "invitations", "llms.txt", "mcp", "metrics", "operations", "p", "people",
    "people.csv", "profile", "projects", "readyz", "session", "sign-in", "sign-out", "static", "v1",
})  # fmt: skip
_SEGMENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class PathPrefixError(ValueError):
    """A text that is no prefix; the message says why, and what one looks like."""


def prefix_of(given: str) -> str:
    """Return a prefix without a slash at its end, "" for none. Raises PathPrefixError."""
    prefix = given.removesuffix("/")
    if not prefix:
        return ""
    if not prefix.startswith("/"):
        raise _refused(given, "does not start with a slash")
    first, *others = prefix[1:].split("/")
    for segment in (first, *others):
        if not segment:
            raise _refused(given, "has two slashes in a row")
        if not _SEGMENT.fullmatch(segment):
            words = "a part begins with a letter or a digit, and holds letters, digits, '.', '_' and '-'"
            raise _refused(given, f"has the part {segment!r}: {words}")
    if first in TAKEN:
        raise _refused(given, f"begins with {first!r}, where the application has addresses of its own")
    return prefix


def path_below(path: str, prefix: str) -> str:
    """Return a path as the application knows it, whether the proxy in front has taken the prefix off or not."""
    return path.removeprefix(prefix) if path == prefix or path.startswith(f"{prefix}/") else path


def _refused(given: str, why: str) -> PathPrefixError:
    return PathPrefixError(f"{VARIABLE}: {given!r} {why}. Give a path such as /evals.")
