"""Runs `toolevals set-password`: gives an account a new password, for someone who has lost theirs."""

from __future__ import annotations

import argparse

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import say
from toolevals.cli.owner import password_asked, require_tables, server_load
from toolevals.cli.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("set-password")
    parser.add_argument("email", help="an account that there is")
    parser.add_argument("--end-tokens", action="store_true", help="revoke the person's API tokens, too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Set the password, which comes from TOOLEVALS_PASSWORD, else from the terminal; the person's sessions end."""
    server_load()
    from django.core.exceptions import ValidationError

    from toolevals.workspace.accounts.services import account_failures_forget, password_change
    from toolevals.workspace.models import User

    require_tables()
    user = User.objects.filter(email=arguments.email.strip().lower()).first()
    if user is None:
        raise CommandError(Exit.CONFIGURATION, f"{arguments.email} has no account")
    if user.is_sample:
        raise CommandError(Exit.CONFIGURATION, "sample accounts get theirs by: manage.py load_sample --new-password")
    try:
        password_change(user=user, actor=None, password=password_asked(), end_tokens=arguments.end_tokens)
    except ValidationError as error:
        raise CommandError(Exit.CONFIGURATION, " ".join(error.messages)) from error
    account_failures_forget(user)
    ended = "sessions and API tokens" if arguments.end_tokens else "sessions"
    say(f"{user.email} has a new password. Their {ended} have ended.")
    return Exit.OK
