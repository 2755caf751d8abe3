"""The `toolevals` command: one table of verbs, one place where errors become exit statuses."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from toolevals.cli.exits import CommandError, Exit

# Verb -> module with `add_parser(subparsers)`; loaded when asked for, so that a verb needs only its own dependencies.
VERBS = {
    "grade": "toolevals.cli.grade",
    "download": "toolevals.cli.downloading",
    "import": "toolevals.cli.importing",
    "export": "toolevals.cli.exporting",
    "versions": "toolevals.cli.versions",
    "run": "toolevals.cli.running",
    "gate": "toolevals.cli.gate",
    "compare": "toolevals.cli.comparing",
    "again": "toolevals.cli.again",
    "jobs": "toolevals.cli.jobs",
    "create-owner": "toolevals.cli.owner",
    "doctor": "toolevals.cli.doctor",
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command."""
    root = argparse.ArgumentParser(
        prog="toolevals", description="Label tool calls, grade the agents that make them, read the confusion matrix."
    )
    verbs = root.add_subparsers(dest="verb", required=True, metavar="VERB")
    for module in VERBS.values():
        import_module(module).add_parser(verbs)
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status."""
    try:
        arguments = parser().parse_args(argv)
    except SystemExit as stop:
        return Exit.OK if stop.code in (0, None) else Exit.CONFIGURATION
    try:
        return int(arguments.run(arguments))
    except CommandError as error:
        print(f"toolevals: {error}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:
        # The reader has gone, as `head` does; nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
