"""`manage.py load_sample`: the sample project, once."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from toolevals.sample.accounts import logins
from toolevals.sample.services import NAME, sample_load


class Command(BaseCommand):
    """Loads the sample project, or says that it was loaded before."""

    help = "Load the sample project once: a shop's support agent, with labels and two runs that the workers do."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--print-logins", action="store_true", help="print the sample accounts as JSON; the rest goes to stderr"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        told = self.stderr if options["print_logins"] else self.stdout
        if sample_load():
            told.write(f"Loaded the sample project “{NAME}”. Its two runs start with the next worker.")
        else:
            told.write("The sample project was loaded before; nothing was changed.")
        if options["print_logins"]:
            self.stdout.write(json.dumps(logins(), indent=2))
