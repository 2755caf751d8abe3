"""Deletes files that nothing knows of: a process died before its transaction ended, or while the file came."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from django.conf import settings

from toolevals.workspace.models import Upload

# Without a change for so long, a file without a row belongs to no transaction and no sender at work.
STRAY_AFTER = timedelta(days=1)
ASKED_AT_ONCE = 500


def stray_files_sweep(now: datetime) -> int:
    """Delete the files in the folder of uploads that have no row and have not changed for a day; return how many."""
    arriving = Path(settings.FILE_UPLOAD_TEMP_DIR)
    folder = Path(settings.MEDIA_ROOT)
    removed = 0
    old = _unchanged_since(folder, (now - STRAY_AFTER).timestamp())
    while some := {str(path.relative_to(folder)): path for path in islice(old, ASKED_AT_ONCE)}:
        known = set(Upload.objects.filter(file__in=list(some)).values_list("file", flat=True))
        for name, path in some.items():
            if name not in known or path.is_relative_to(arriving):
                path.unlink(missing_ok=True)
                removed += 1
    return removed


def _unchanged_since(folder: Path, moment: float) -> Iterator[Path]:
    """Yield the files of a folder and of those in it, as far as they are older than a moment."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            try:
                changed = path.lstat().st_mtime
            except FileNotFoundError:
                continue
            if changed < moment:
                yield path
