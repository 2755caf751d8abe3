"""Runs `toolevals installation-owners`: lists, adds and removes those who own the installation."""

from __future__ import annotations

import argparse

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import say
from toolevals.cli.owner import server_load
from toolevals.cli.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("installation-owners")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--add", metavar="EMAIL", help="an account that there is")
    change.add_argument("--remove", metavar="EMAIL")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make the change that is asked for, and print the owners, an address a line."""
    server_load()
    from toolevals.workspace.models import User

    email = arguments.add or arguments.remove
    if email:
        _set(email, owns=bool(arguments.add))
    for address in User.objects.filter(is_installation_owner=True).order_by("email").values_list("email", flat=True):
        say(address)
    return Exit.OK


def _set(email: str, *, owns: bool) -> None:
    from toolevals.workspace.accounts.services import installation_owner_set
    from toolevals.workspace.models import User

    user = User.objects.filter(email=email.strip().lower()).first()
    if user is None:
        raise CommandError(Exit.CONFIGURATION, f"{email} has no account: make one with create-owner, or invite it")
    installation_owner_set(user=user, actor=None, owns=owns)
