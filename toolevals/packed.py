"""Reads files that a wheel packs: static files, templates and documents, which every install holds and few read.

`setup.py` packs them. In a checkout none is packed.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

ENDING: Final = ".gz"


def packed_path(path: Path) -> Path:
    """Return where the file lies that is called `path`: there, or packed next to it."""
    packed = path.with_name(path.name + ENDING)
    return packed if not path.exists() and packed.exists() else path


def read_bytes(path: Path) -> bytes:
    """Return what a file holds, packed or not. `path` may be its own or that of `packed_path`. Raises OSError."""
    found = packed_path(path)
    return gzip.decompress(found.read_bytes()) if found.suffix == ENDING else found.read_bytes()


def read_text(path: Path) -> str:
    """Return the text that a file holds, packed or not. Raises OSError."""
    return read_bytes(path).decode()
