"""Loads the sample project once: `manage.py load_sample`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from toolevals.sample.accounts import logins, password_still_used, sample_password_renew
from toolevals.sample.services import NAME, sample_load


class Command(BaseCommand):
    """Loads the sample project, or says that it was loaded before."""

    # What was printed before: as long as an account takes that password, no new one is drawn.
    stealth_options = ("known_logins",)
    help = "Load the sample project once: a shop's support agent, with labels and two runs that the workers do."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--print-logins",
            action="store_true",
            help="print the sample accounts as JSON, with a new password; the rest goes to stderr",
        )
        parser.add_argument("--new-password", action="store_true", help="draw a new password for the sample accounts")

    def handle(self, *args: Any, **options: Any) -> None:
        as_json = options["print_logins"]
        told = self.stderr if as_json else self.stdout
        password = sample_load()
        if password:
            told.write(f"Loaded the sample project “{NAME}”. Its two runs start with the next worker.")
        else:
            told.write("The sample project was loaded before; nothing was changed.")
        if as_json:
            password = password or password_still_used(options.get("known_logins", "")) or sample_password_renew()
            self.stdout.write(json.dumps(logins(password), indent=2))
        elif password or options["new_password"]:
            password = password or sample_password_renew()
            self.stdout.write(f"The sample accounts sign in on this machine only, with the password {password}")
            self.stdout.writelines(f"  {login['email']}  {login['role']}\n" for login in logins(password))
        else:
            self.stdout.write("A new password for its accounts: manage.py load_sample --new-password")
