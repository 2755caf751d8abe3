"""Keeps uploads in the folder `uploads` of the data folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage


class FolderUploads(FileSystemStorage):
    """The storage without settings."""

    def stored(self) -> Iterator[tuple[str, float]]:
        """Yield the name of each file, and when it last changed, in seconds since 1970."""
        arriving = Path(settings.FILE_UPLOAD_TEMP_DIR)
        for path, changed in files_below(Path(self.location)):
            if not path.is_relative_to(arriving):
                yield path.relative_to(self.location).as_posix(), changed

    def unfinished_delete(self, moment: float) -> int:
        """Delete what uploads left behind that ended before a moment: nothing, as only whole files get here."""
        return 0


def files_below(folder: Path) -> Iterator[tuple[Path, float]]:
    """Yield the files of a folder and of those in it, and when each last changed."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            try:
                found = path.lstat()
            except FileNotFoundError:
                continue
            if stat.S_ISREG(found.st_mode):
                yield path, found.st_mtime
