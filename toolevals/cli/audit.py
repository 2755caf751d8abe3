"""Runs `toolevals audit-export`: the audit log of an installation as lines of JSON, on from where it stopped."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from uuid import UUID

from toolevals.cli.accounts import load_server, require_tables
from toolevals.cli.output import CommandError, Exit, note
from toolevals.cli.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("audit-export")
    since = parser.add_mutually_exclusive_group()
    since.add_argument("--after", type=UUID, metavar="ID", help="begin after the act with this id")
    since.add_argument(
        "--cursor", type=Path, metavar="FILE", help="begin after the act that FILE names, then write the last one there"
    )
    parser.set_defaults(run=export)


def export(arguments: argparse.Namespace) -> int:
    """Write acts to standard output, the oldest first, then where to go on."""
    load_server()
    from toolevals.workspace.audit.documents import audit_documents

    require_tables()
    after = _read(arguments.cursor) if arguments.cursor else arguments.after
    count, last = 0, ""
    for document in audit_documents(after):
        # Not `say`, which goes on where the reader has gone: what no one has taken is told again.
        print(json.dumps(document, ensure_ascii=False))
        count, last = count + 1, str(document["id"])
    sys.stdout.flush()
    if arguments.cursor and last:
        _write(arguments.cursor, last)
    note(f"{count:,} acts. Go on with --after {last}." if last else "No acts are new.")
    return Exit.OK


def _read(cursor: Path) -> UUID | None:
    """Return the id that a cursor file holds; None where there is no file yet. Raises CommandError."""
    try:
        return UUID(cursor.read_text().strip())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CommandError(Exit.CONFIGURATION, f"{cursor} holds no id of an act: delete it to export all") from error


def _write(cursor: Path, last: str) -> None:
    """Write the id of the last act, so that a process that is killed leaves the old one. Raises CommandError."""
    unfinished = cursor.with_name(f"{cursor.name}.unfinished")
    try:
        unfinished.write_text(f"{last}\n")
        unfinished.replace(cursor)
    except OSError as error:
        words = f"cannot write {cursor}: {error.strerror}. The acts were written, and will be again"
        raise CommandError(Exit.CONFIGURATION, words) from error
