"""Runs `toolevals people`: lists the people of an installation, and closes, exports or deletes an account."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from toolevals.cli.accounts import load_server, new_private_file, require_tables
from toolevals.cli.output import CommandError, Exit, say
from toolevals.cli.verbs import Verbs

if TYPE_CHECKING:
    from toolevals.workspace.models import User


def add_parser(verbs: Verbs) -> None:
    """Add the verb with its acts."""
    parser = verbs.add_parser("people")
    acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
    acts.add_parser("list", help="print address, state and name of each").set_defaults(run=list_people)
    for name, run, words in (
        ("deactivate", _deactivate, "end sessions, tokens and notifications; release what the person holds"),
        ("reactivate", _reactivate, "let the person sign in again"),
        ("export", _export, "write every row that names the person as JSON lines in a ZIP"),
        ("delete", _delete, "delete the person for good; labels and decisions stay under a pseudonym"),
    ):
        act = acts.add_parser(name, help=words)
        act.add_argument("email", help="an account that there is")
        act.set_defaults(run=_with_person(run))
        if name == "export":
            act.add_argument("export", metavar="FILE", type=Path)
        if name == "delete":
            first = act.add_mutually_exclusive_group(required=True)
            first.add_argument("--export", metavar="FILE", type=Path, help="write the person's export there first")
            first.add_argument("--no-export", action="store_true", help="write none")
            act.add_argument("--new-owner", metavar="EMAIL", help="who owns projects that have no other owner")
            act.add_argument("--yes", action="store_true", help="skip typing the address to confirm")


def list_people(arguments: argparse.Namespace) -> int:
    """Print the people, one a line."""
    load_server()
    from toolevals.workspace.models import User

    require_tables()
    for each in User.objects.order_by("email"):
        say(f"{each.email}  {each.state}  {each.name}")
    return Exit.OK


def _with_person(run: Callable[[User, argparse.Namespace], str]) -> Callable[[argparse.Namespace], int]:
    """Return the act on the person that is named; it prints a sentence."""

    def act(arguments: argparse.Namespace) -> int:
        load_server()
        from toolevals.workspace.people.departure import DepartureError

        require_tables()
        try:
            say(run(_found(arguments.email), arguments))
        except DepartureError as error:
            raise CommandError(Exit.CONFIGURATION, str(error)) from error
        return Exit.OK

    return act


def _found(email: str) -> User:
    from toolevals.workspace.models import User

    person = User.objects.filter(email=email.strip().lower()).first()
    if person is None:
        raise CommandError(Exit.CONFIGURATION, f"{email} has no account")
    return person


def _deactivate(person: User, arguments: argparse.Namespace) -> str:
    from toolevals.workspace.people.departure import user_deactivate

    user_deactivate(person=person, actor=None)
    return f"{person.email} is deactivated. Their sessions and API tokens have ended."


def _reactivate(person: User, arguments: argparse.Namespace) -> str:
    from toolevals.workspace.people.departure import user_reactivate

    user_reactivate(person=person, actor=None)
    return f"{person.email} can sign in again. Their API tokens stay revoked."


def _export(person: User, arguments: argparse.Namespace) -> str:
    _export_write(person, arguments.export)
    return f"{arguments.export} holds every row that names {person.email}."


def _delete(person: User, arguments: argparse.Namespace) -> str:
    from toolevals.workspace.people.departure import user_delete

    heir = _found(arguments.new_owner) if arguments.new_owner else None
    if not arguments.yes:
        _require_typed(person)
    if arguments.export:
        _export_write(person, arguments.export)
    email = person.email
    return (
        f"{email} is deleted. What they did stays under the name {user_delete(person=person, actor=None, heir=heir)}."
    )


def _export_write(person: User, path: Path) -> None:
    """Write an export to a new file that its owner alone reads."""
    from toolevals.workspace.people.rows import person_export

    with new_private_file(path) as file:
        person_export(person, file)


def _require_typed(person: User) -> None:
    """Have the address typed on a terminal. Raises CommandError where no one can be asked, or another is typed."""
    if not sys.stdin.isatty():
        raise CommandError(Exit.CONFIGURATION, "cannot ask for confirmation without a terminal: use --yes to delete")
    say(f"{person.name} will be deleted for good. Type {person.email} to confirm: ", end="")
    if sys.stdin.readline().strip().lower() != person.email:
        raise CommandError(Exit.CONFIGURATION, "nothing was deleted")
