"""Gives the project that options, the environment or a login name."""

from __future__ import annotations

import argparse
import os

from toolevals.cli.login import LOCAL, login_for
from toolevals.cli.output import CommandError, Exit, note, say_progress
from toolevals.client import Project


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add what every verb that speaks to a server needs to know."""
    words = "Defaults to the saved login. TOOLEVALS_TOKEN takes precedence."
    group = parser.add_argument_group("server", words)
    group.add_argument("--server", default="", metavar="URL", help="by default TOOLEVALS_URL")
    group.add_argument("--project", default="", metavar="SLUG", help="by default TOOLEVALS_PROJECT")
    group.add_argument("--timeout", type=_seconds, default=3600, metavar="SECONDS", help="how long to wait for the job")


def project_of(arguments: argparse.Namespace) -> Project:
    """Return the project that the command line, the environment and `toolevals login` say.

    A token that was kept goes to the server that it was kept for, and to no other.
    """
    server = (arguments.server or os.environ.get("TOOLEVALS_URL", "")).rstrip("/")
    project = arguments.project or os.environ.get("TOOLEVALS_PROJECT", "")
    token = os.environ.get("TOOLEVALS_TOKEN", "")
    if not token:
        login = login_for(server, project)
        if login is None:
            of = " ".join(filter(None, (project and f"for the project {project}", server and f"at {server}")))
            words = f"no token {of}".rstrip()
            words += ": make one on the project's Tokens page, and run toolevals login or set TOOLEVALS_TOKEN"
            raise CommandError(Exit.CONFIGURATION, words)
        server, project, token = login.server, login.project, login.token
    if not project:
        raise CommandError(Exit.CONFIGURATION, "no project: give --project SLUG or set TOOLEVALS_PROJECT")
    return Project(
        server=server or LOCAL,
        project=project,
        token=token,
        timeout=arguments.timeout,
        note=note,
        progress=say_progress,
    )


def _seconds(said: str) -> float:
    seconds = float(said)
    if not 0 < seconds < float("inf"):
        raise ValueError(said)
    return seconds
