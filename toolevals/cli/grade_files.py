"""Turns files of other evaluation tools into rows of our own form, to be graded: examples beside what was done."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.grade_lines import opened
from toolevals.cli.output import note
from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES
from toolevals.grading.files.evaluation_files.reading import EvaluationFile, evaluation_file, graded_rows
from toolevals.grading.reading.specs import counted
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem

# A row that has one of these is of our own form, or of the leaderboard's.
_OWN = frozenset({"expected_tool", "expectation", "possible_answer", "prediction", "tool_calls", "question_row"})


@contextmanager
def rows_opened(name: str, agent: str) -> Iterator[tuple[IO[bytes], int]]:
    """Open a file of rows and return how many entries of it cannot be graded; a file of another tool becomes rows.

    Standard input is read as rows. Raises CommandError where the file holds several agents and none is chosen.
    """
    found = _found(name) if name != "-" else None
    if found is None:
        with opened(name) as file:
            yield file, 0
        return
    note(f"toolevals: {found.detected.sentence}")
    with tempfile.NamedTemporaryFile(prefix="toolevals-") as rows:
        bad = _write(found, agent, rows)
        rows.seek(0)
        yield rows, bad


def _found(name: str) -> EvaluationFile | None:
    path = Path(name)
    try:
        with opened(name) as file:
            head = file.readline(MAX_DOCUMENT_BYTES + 1)
        row: Any = load_json(head)
    except InvalidDocument:
        row = None
    except (OSError, EOFError):
        return None
    if isinstance(row, dict) and (_OWN & row.keys() or ("id" in row and "input" not in row)):
        return None
    try:
        return evaluation_file(path.read_bytes())
    except InvalidDocument:
        # The lines have their own messages.
        return None


def _write(found: EvaluationFile, agent: str, rows: Any) -> int:
    bad = 0
    losses: list[Problem] = []
    try:
        for place, row in graded_rows(found, agent):
            if isinstance(row, InvalidDocument):
                bad += 1
                note(f"toolevals: {f'line {place.line}' if place.line else 'entry ' + str(place.number)}: {row}")
            else:
                rows.write(orjson.dumps(row) + b"\n")
        for _, trial, lost in found.trials(agent):
            if not isinstance(trial, InvalidDocument):
                losses += lost
    except InvalidDocument as error:
        raise CommandError(Exit.CONFIGURATION, f"{error} (--agent NAME)") from error
    for loss in counted(losses):
        note(f"toolevals: {loss.count:,} × {loss.key} {loss.message} (first at {loss.first})")
    return bad
