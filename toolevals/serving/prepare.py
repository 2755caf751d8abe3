"""Make a data folder ready: `python -m toolevals.serving.prepare [--static] [--sample]`; prints the sample's logins.

Standard input may hold the logins that were printed before.
"""

from __future__ import annotations

import os
import sys

import django
from django.core.management import call_command
from django.core.management.base import CommandError


def main() -> None:
    """Migrate; collect the static files and load the sample where that is asked for."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    django.setup()
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except CommandError as error:
        sys.exit(str(error))
    if "--static" in sys.argv:
        call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    if "--sample" in sys.argv:
        call_command("load_sample", print_logins=True, known_logins=sys.stdin.read())


if __name__ == "__main__":
    main()
