"""Says how much room is on the disk of the data folder, and refuses what needs more."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from django.conf import settings


def free_bytes() -> int:
    """Return how many bytes can still be written on the disk of the uploads."""
    found = os.statvfs(Path(settings.MEDIA_ROOT))
    return found.f_bavail * found.f_frsize


def is_low() -> bool:
    """Return whether less is free than is kept for the database."""
    return bool(free_bytes() < settings.DISK_RESERVE_BYTES)


def require_room(size: int) -> None:
    """Raise OSError (ENOSPC), as writing would, unless `size` bytes fit and the reserve stays free."""
    if free_bytes() - size < settings.DISK_RESERVE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(settings.MEDIA_ROOT))
