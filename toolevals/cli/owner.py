"""Runs `toolevals create-owner`: makes an account that owns the installation, and a project of its own."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from typing import Any

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import say
from toolevals.cli.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("create-owner")
    parser.add_argument("email")
    parser.add_argument("--name", required=True)
    parser.add_argument("--project", required=True, metavar="SLUG")
    parser.add_argument("--project-name", default="", metavar="NAME")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make both, or neither. The password comes from TOOLEVALS_PASSWORD, else from the terminal."""
    server_load()
    return _create(arguments, password_asked())


def server_load() -> None:
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


def password_asked() -> str:
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
        raise CommandError(Exit.CONFIGURATION, f"{arguments.email} has an account already")
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
    words = "the database is not ready yet: start `toolevals serve` once, with the same TOOLEVALS_DATA_DIR or --data"
    raise CommandError(Exit.CONFIGURATION, f"{words} (the data folder here is {settings.DATA_DIR})")


def _check(validate: Any, value: str) -> None:
    from django.core.exceptions import ValidationError

    try:
        validate(value)
    except ValidationError as error:
        raise CommandError(Exit.CONFIGURATION, f"{value!r}: {' '.join(error.messages)}") from error
