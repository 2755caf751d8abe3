"""Keeps standard output for a suite's rows alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stdout_for_rows_alone() -> Iterator[None]:
    """Send to standard error what the workers say meanwhile."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
