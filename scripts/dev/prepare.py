"""Make a data folder ready to serve, in one process: `python -m scripts.dev.prepare [--sample]`; prints its logins."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def main() -> None:
    """Migrate, collect, load."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    static_files_collect()
    if "--sample" in sys.argv:
        call_command("load_sample", print_logins=True)


def static_files_collect() -> None:
    """Collect and compress the static files unless nothing has changed since the last time."""
    stamp = Path(settings.STATIC_ROOT).with_suffix(".stamp")
    now = static_files_state()
    if stamp.exists() and stamp.read_text() == now:
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(now)


def static_files_state() -> str:
    """Return a hash over every static file's path, size and time of change."""
    state = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            state.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return state.hexdigest()


if __name__ == "__main__":
    main()
