"""Keeps optional packages out of a process while a package that tries each of them is loaded."""

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
