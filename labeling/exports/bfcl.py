"""Write examples as the leaderboard's files: `BFCL_v4_<category>.json` with questions, `possible_answer/` with answers.

An example that came from there goes back as it was; its answer too, while the gold still says the same. What was made
here is written in the leaderboard's forms, where it has a form for it. All files are in one zip, with a summary.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import IO, Any

import orjson

from labeling.exports.bfcl_forms import answer_row, category_of, question_row
from labeling.exports.outcome import Inexpressible, Outcome
from labeling.exports.selection import Row, Selection, ToolLists
from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.grading.values.canonical import canonical, exact, parse

_CHUNK = 1 << 20
# The earliest moment that a zip can hold: the same content gives the same bytes.
_MOMENT = (1980, 1, 1, 0, 0, 0)


def bfcl_zip(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Yield a zip of the questions, the answers and `summary.json`. Rows wait on disk, by file, not in memory."""
    with ExitStack() as stack:
        files = _Files(stack)
        tools = ToolLists()
        for row in selection.rows():
            try:
                category, question, answer = _rows(row, tools)
            except Inexpressible as error:
                outcome.skip(row.external_id, str(error))
                continue
            outcome.written += 1
            files.add(f"BFCL_v4_{category}.json", question)
            if answer is not None:
                files.add(f"possible_answer/BFCL_v4_{category}.json", answer)
        packed = stack.enter_context(tempfile.TemporaryFile())
        files.pack(packed, outcome)
        packed.seek(0)
        while some := packed.read(_CHUNK):
            yield some


def _rows(row: Row, tools: ToolLists) -> tuple[str, Mapping[str, Any], Mapping[str, Any] | None]:
    """Return category, question and answer (None where the category has none). Raises Inexpressible."""
    gold = row.gold
    if gold is None:
        raise Inexpressible("there is no gold yet")
    origin = None if row.origin is None else parse(row.origin)
    if origin is None:
        specs = tools[row.tools]
        category = category_of(gold, specs, row.strata.get("category", ""))
        return category, question_row(row.external_id, row.content, specs), answer_row(row.external_id, gold)
    category, question, answer = origin["category"], origin["question_row"], origin["answer_row"]
    was = bfcl_example(question, answer, category).expectation
    if was is not None and canonical(was.to_document()) == canonical(gold.to_document()):
        return category, question, answer
    specs = tools[row.tools]
    return category_of(gold, specs, category), question, answer_row(row.external_id, gold)


class _Files:
    """Files of JSON Lines that grow side by side on disk."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.files: dict[str, IO[bytes]] = {}

    def add(self, name: str, document: Mapping[str, Any]) -> None:
        """Write a line to the file of that name."""
        if name not in self.files:
            self.files[name] = self.stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        self.files[name].write(f"{exact(document)}\n".encode())

    def pack(self, packed: IO[bytes], outcome: Outcome) -> None:
        """Put all files and the summary into a zip."""
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
            for name, file in sorted(self.files.items()):
                file.seek(0)
                with made.open(_entry(name), "w", force_zip64=True) as entry:
                    while some := file.read(_CHUNK):
                        entry.write(some)
            summary = orjson.dumps(outcome.to_document(), option=orjson.OPT_INDENT_2)
            made.writestr(_entry("summary.json"), summary)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
