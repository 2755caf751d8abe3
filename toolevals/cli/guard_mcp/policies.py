"""Reads the policy of a session from a file."""

from __future__ import annotations

from pathlib import Path

from toolevals.cli.inputs import read_input_text
from toolevals.cli.output import CommandError, Exit
from toolevals.grading.guard import Policy
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument


def policy_of_file(path: Path) -> Policy:
    """Return the policy that a file holds. Raises CommandError with every problem."""
    try:
        return Policy.from_document(load_json(read_input_text(path)))
    except InvalidDocument as error:
        lines = [f"{path}: {problem}" for problem in error.problems]
        raise CommandError(Exit.DATA, "\n".join(lines)) from None
