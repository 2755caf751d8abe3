"""Runs `toolevals export-project`: writes a whole project to one file, what is still blind with it."""

from __future__ import annotations

import argparse
from pathlib import Path

from toolevals.cli.accounts import load_server, new_private_file, require_tables
from toolevals.cli.output import CommandError, Exit, note, say
from toolevals.cli.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("export-project")
    parser.add_argument("project", metavar="SLUG")
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.set_defaults(run=export_project)


def export_project(arguments: argparse.Namespace) -> int:
    """Write the project's rows and files to a new file."""
    load_server()
    from toolevals.workspace.models import Project
    from toolevals.workspace.projects.export import project_export

    require_tables()
    project = Project.objects.filter(slug=arguments.project).first()
    if project is None:
        raise CommandError(Exit.CONFIGURATION, f"there is no project {arguments.project!r}")
    with new_private_file(arguments.file) as file:
        project_export(project, file, lambda done: note(f"{done:,} rows"))
    say(f"{arguments.file} holds the whole project {project.slug}, with labels that are still blind: keep it private.")
    return Exit.OK
