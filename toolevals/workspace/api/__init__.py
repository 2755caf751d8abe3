"""Serves the REST interface of projects, people and tokens.

The REST framework loads whatever it could work with where that is installed: the driver of PostgreSQL on SQLite, too,
a client for HTTP with its own tests, and a highlighter. None is used, and together they take 15 MB of each process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unloaded(*names: str) -> Iterator[None]:
    """Let modules of these names be missing meanwhile, unless they are loaded already."""
    kept_out = [name for name in names if name not in sys.modules]
    # Python's own way to say that a module is not there.
    sys.modules.update(dict.fromkeys(kept_out))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in kept_out:
            del sys.modules[name]


with unloaded("django.contrib.postgres", "pygments", "requests"):
    import rest_framework.compat  # noqa: F401
