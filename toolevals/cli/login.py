"""Runs `toolevals login` and `toolevals logout`: keeps a server's address and a project's token, and forgets them."""

from __future__ import annotations

import argparse
import getpass
import os
import sys

from toolevals.cli.credentials import LOCAL, Login, login_keep, logins_forget
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import note, say
from toolevals.cli.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Add both verbs."""
    login = verbs.add_parser(
        "login", epilog="The token is asked for, or read from standard input: toolevals login < token.txt"
    )
    default = os.environ.get("TOOLEVALS_URL") or LOCAL
    login.add_argument("server", nargs="?", default=default, metavar="URL", help=f"the server's address ({default})")
    login.set_defaults(run=run)
    logout = verbs.add_parser("logout")
    logout.add_argument("server", nargs="?", default="", metavar="URL", help="by default all servers")
    logout.add_argument("--project", default="", metavar="SLUG", help="by default all projects")
    logout.set_defaults(run=forget)


def run(arguments: argparse.Namespace) -> int:
    """Ask the server whom the token stands for, and keep it for the project that it belongs to."""
    from toolevals.cli.connection import ServerClient

    server = arguments.server.rstrip("/")
    token = _token(server)
    me = ServerClient(server, token).request("GET", "me/")
    if not me["project"]:
        raise CommandError(Exit.CONFIGURATION, "this is no token of a project: make one on the project's Tokens page")
    path = login_keep(Login(server, me["project"], token))
    say(f"{me['user']['name']}, {me['role']} of the project {me['project']} at {server}. Kept in {path}.")
    if os.environ.get("TOOLEVALS_TOKEN"):
        note("TOOLEVALS_TOKEN is set, and goes before what is kept.")
    return Exit.OK


def forget(arguments: argparse.Namespace) -> int:
    """Forget tokens here. They stay valid at the server until they are revoked there."""
    gone = logins_forget(arguments.server.rstrip("/"), arguments.project)
    if not gone:
        raise CommandError(Exit.CONFIGURATION, "no such login is kept")
    for login in gone:
        say(f"Forgotten: {login.project} at {login.server}.")
        say(f"To revoke the token: {login.server}/p/{login.project}/tokens/")
    return Exit.OK


def _token(server: str) -> str:
    """Return the token as typed without an echo, or as the first line of standard input."""
    if sys.stdin is None:
        raise CommandError(Exit.CONFIGURATION, "no token: standard input is closed")
    typed = getpass.getpass(f"Token for {server}: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not typed.strip():
        raise CommandError(Exit.CONFIGURATION, "no token: make one on the project's Tokens page")
    return typed.strip()
