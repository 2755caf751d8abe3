"""The `toolevals` command: one table of verbs, one place where errors become exit statuses."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import cannot_be_written, note, silence, streams_prepare

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
    "installation-owners": "toolevals.cli.installation_owners",
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


def with_kind(words: Sequence[str]) -> list[str]:
    """Return the words of a command; `import FILE` is `import auto FILE`, where FILE is there and names no kind."""
    given = list(words)
    if given[:1] == ["import"] and len(given) > 1 and not given[1].startswith("-") and Path(given[1]).is_file():
        return ["import", "auto", *given[1:]]
    return given


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status."""
    streams_prepare()
    try:
        arguments = parser().parse_args(with_kind(sys.argv[1:] if argv is None else argv))
    except SystemExit as stop:
        return Exit.OK if stop.code in (0, None) else Exit.CONFIGURATION
    try:
        return _run(arguments)
    except CommandError as error:
        note(f"toolevals: {error}")
        return error.exit_status
    except KeyboardInterrupt:
        note("toolevals: interrupted")
        return Exit.INTERRUPTED


def _run(arguments: argparse.Namespace) -> int:
    """Run the verb, and write all that it has said. A reader that has gone, as `head` does, is no error."""
    try:
        status = int(arguments.run(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
        return Exit.OK
    except OSError as error:
        # Files that a verb opens have names, and it says itself what is wrong with them.
        if error.filename is not None:
            raise
        silence(sys.stdout)
        raise cannot_be_written(error) from error
    return status


if __name__ == "__main__":
    sys.exit(main())
