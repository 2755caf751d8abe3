"""Manages the accounts of an installation: `create-owner`, `installation-owners` and `set-password`."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from toolevals.cli.output import CommandError, Exit, say
from toolevals.cli.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Add the three verbs."""
    parser = verbs.add_parser("create-owner")
    parser.add_argument("email")
    parser.add_argument("--name", required=True)
    parser.add_argument("--project", required=True, metavar="SLUG")
    parser.add_argument("--project-name", default="", metavar="NAME")
    parser.set_defaults(run=create_owner)
    parser = verbs.add_parser("installation-owners")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--add", metavar="EMAIL", help="an account that there is")
    change.add_argument("--remove", metavar="EMAIL")
    parser.set_defaults(run=list_owners)
    parser = verbs.add_parser("set-password")
    parser.add_argument("email", help="an account that there is")
    parser.add_argument("--end-tokens", action="store_true", help="revoke the person's API tokens, too")
    parser.add_argument("--end-second-steps", action="store_true", help="for who has lost phone and passkeys, too")
    parser.set_defaults(run=set_password)


def create_owner(arguments: argparse.Namespace) -> int:
    """Make both, or neither. The password comes from TOOLEVALS_PASSWORD, else from the terminal."""
    load_server()
    return _create(arguments, ask_password())


def load_server() -> None:
    """Set Django up. Raises CommandError where the server is not installed, or a setting is wrong."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    try:
        import django
        from django.core.exceptions import ImproperlyConfigured
    except ImportError as error:
        raise CommandError(Exit.CONFIGURATION, "this verb needs the server: install toolevals[server]") from error
    try:
        django.setup()
    except ImproperlyConfigured as error:
        raise CommandError(Exit.CONFIGURATION, str(error)) from error


def ask_password() -> str:
    """Return the password from TOOLEVALS_PASSWORD, else from the terminal, typed twice. Raises CommandError."""
    password = os.environ.get("TOOLEVALS_PASSWORD", "")
    if password:
        return password
    if not sys.stdin.isatty():
        raise CommandError(Exit.CONFIGURATION, "no password: set TOOLEVALS_PASSWORD, or run this in a terminal")
    password = getpass.getpass("Password: ")
    if password != getpass.getpass("Again: "):
        raise CommandError(Exit.CONFIGURATION, "the two passwords differ")
    return password


def _create(arguments: argparse.Namespace, password: str) -> int:
    from django.contrib.auth.password_validation import validate_password
    from django.core.exceptions import ValidationError
    from django.core.validators import validate_email, validate_slug
    from django.db import transaction

    from toolevals.workspace.accounts.services import user_create
    from toolevals.workspace.models import Project, User
    from toolevals.workspace.projects.services import project_create

    _check(validate_email, arguments.email)
    _check(validate_slug, arguments.project)
    require_tables()
    try:
        validate_password(password, User(email=arguments.email, name=arguments.name))
    except ValidationError as error:
        raise CommandError(Exit.CONFIGURATION, " ".join(error.messages)) from error
    if User.objects.filter(email=arguments.email.strip().lower()).exists():
        raise CommandError(Exit.CONFIGURATION, f"{arguments.email} already has an account")
    if Project.objects.filter(slug=arguments.project).exists():
        raise CommandError(Exit.CONFIGURATION, f"there is a project {arguments.project!r} already")
    with transaction.atomic():
        owner = user_create(
            actor=None, email=arguments.email, name=arguments.name, password=password, is_installation_owner=True
        )
        project_create(actor=owner, slug=arguments.project, name=arguments.project_name or arguments.project)
    say(f"{owner.email} owns the installation and the project {arguments.project}.")
    return Exit.OK


def require_tables() -> None:
    """Raise CommandError where the database has not been made ready: it lacks the tables of accounts or projects."""
    from django.conf import settings
    from django.db import connection

    from toolevals.workspace.models import Project, User

    if {User._meta.db_table, Project._meta.db_table} <= set(connection.introspection.table_names()):
        return
    words = "the database is not set up yet: run `toolevals serve` once with the same TOOLEVALS_DATA_DIR or --data"
    raise CommandError(Exit.CONFIGURATION, f"{words} (the data folder here is {settings.DATA_DIR})")


@contextmanager
def new_private_file(path: Path) -> Iterator[IO[bytes]]:
    """Give a new file that its owner alone reads; none is left where writing fails. Raises CommandError."""
    try:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            try:
                yield file
            except BaseException:
                path.unlink()
                raise
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot write {path}: {error.strerror}") from error


def _check(validate: Any, value: str) -> None:
    from django.core.exceptions import ValidationError

    try:
        validate(value)
    except ValidationError as error:
        raise CommandError(Exit.CONFIGURATION, f"{value!r}: {' '.join(error.messages)}") from error


def list_owners(arguments: argparse.Namespace) -> int:
    """Make the change that is asked for, and print the owners, an address a line."""
    load_server()
    from toolevals.workspace.models import User

    email = arguments.add or arguments.remove
    if email:
        _set_owner(email, owns=bool(arguments.add))
    for address in User.objects.filter(is_installation_owner=True).order_by("email").values_list("email", flat=True):
        say(address)
    return Exit.OK


def _set_owner(email: str, *, owns: bool) -> None:
    from toolevals.workspace.accounts.services import installation_owner_set
    from toolevals.workspace.models import User

    user = User.objects.filter(email=email.strip().lower()).first()
    if user is None:
        raise CommandError(Exit.CONFIGURATION, f"{email} has no account: make one with create-owner, or invite it")
    installation_owner_set(user=user, actor=None, owns=owns)


def set_password(arguments: argparse.Namespace) -> int:
    """Set the password, which comes from TOOLEVALS_PASSWORD, else from the terminal; the person's sessions end."""
    load_server()
    from django.core.exceptions import ValidationError

    from toolevals.workspace.accounts.services import account_failures_forget, password_change, second_steps_end
    from toolevals.workspace.models import User

    require_tables()
    user = User.objects.filter(email=arguments.email.strip().lower()).first()
    if user is None:
        raise CommandError(Exit.CONFIGURATION, f"{arguments.email} has no account")
    if user.is_sample:
        raise CommandError(Exit.CONFIGURATION, "sample accounts get theirs by: manage.py load_sample --new-password")
    try:
        password_change(user=user, actor=None, password=ask_password(), end_tokens=arguments.end_tokens)
    except ValidationError as error:
        raise CommandError(Exit.CONFIGURATION, " ".join(error.messages)) from error
    account_failures_forget(user)
    if arguments.end_second_steps:
        second_steps_end(user=user, actor=None)
    ended = "sessions and API tokens" if arguments.end_tokens else "sessions"
    say(f"{user.email} has a new password. Their {ended} have ended.")
    if arguments.end_second_steps:
        say("They sign in without a second step, until they set one up again.")
    return Exit.OK
