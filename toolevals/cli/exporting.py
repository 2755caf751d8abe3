"""`toolevals export`: a dataset as native JSON Lines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from toolevals.cli.client import ProjectClient, add_server_options
from toolevals.cli.exits import CommandError, Exit


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser("export", help="write a dataset as JSON Lines")
    parser.add_argument("dataset", metavar="DATASET", help="the dataset's slug")
    parser.add_argument(
        "--version", type=int, metavar="N", help="a frozen version; without it, the dataset as it is now"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="by default standard output")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Stream the export; a file that could not be written whole is not left behind."""
    version = f"versions/{arguments.version}/" if arguments.version else ""
    path = f"datasets/{arguments.dataset}/{version}export/"
    client = ProjectClient.from_arguments(arguments)
    if arguments.output is None:
        for part in client.download(path):
            sys.stdout.buffer.write(part)
        sys.stdout.flush()
        return Exit.OK
    partial = arguments.output.with_name(f"{arguments.output.name}.part")
    try:
        with partial.open("wb") as stream:
            stream.writelines(client.download(path))
        partial.replace(arguments.output)
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot write {arguments.output}: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)
    return Exit.OK
