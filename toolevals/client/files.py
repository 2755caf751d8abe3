"""Writes files as they arrive: whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write_file(parts: Iterable[bytes], file: Path) -> Path:
    """Write a file as its parts arrive, and return it; one that is not whole is not left behind. Raises OSError.

    What is there and is no regular file, such as a pipe or `/dev/null`, is written to and not replaced.
    """
    if file.exists() and not file.is_file():
        with file.open("wb") as stream:
            stream.writelines(parts)
        return file
    partial = file.with_name(f"{file.name}.part")
    try:
        with partial.open("wb") as stream:
            stream.writelines(parts)
        return partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
