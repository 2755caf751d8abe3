"""Read the Berkeley Function-Calling Leaderboard: questions with their answers, and a zip of its files as one file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import SEEK_END
from pathlib import PurePosixPath
from typing import IO, Any

from labeling.imports.gzip_files import is_zip
from labeling.imports.parts import BOM, MAX_LINE_BYTES, Settings
from toolevals.archives import UNREADABLE
from toolevals.grading.files.evaluation_files.bfcl_rows import example_of_turns
from toolevals.grading.reading.bfcl import CATEGORIES, bfcl_example
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

# The answers of a category are held in memory while its questions are read.
MAX_ANSWERS_BYTES = 100_000_000
MAX_UNPACKED_BYTES = 1 << 30
_NAME, _ENDING, _ANSWERS = "BFCL_v4_", ".json", "possible_answer"


def bfcl_row(row: Any, settings: Settings) -> ExampleRow:
    """Return `{"question_row", "answer_row", "category"}` as an example that remembers it. Raises InvalidDocument."""
    if not isinstance(row, Mapping) or not isinstance(row.get("question_row"), Mapping):
        alone = isinstance(row, Mapping) and {"question", "ground_truth"} & row.keys()
        hint = ": put the leaderboard's files, questions and answers, into one zip" if alone else ""
        raise InvalidDocument.at("/question_row", f"must be the row of a question file{hint}")
    category = row.get("category")
    if isinstance(category, str) and is_of_turns(category):
        return _of_turns(row, category)
    if category not in CATEGORIES:
        raise InvalidDocument.at("/category", f"must be one of {', '.join(sorted(CATEGORIES))}")
    try:
        example = bfcl_example(row["question_row"], row.get("answer_row"), row["category"])
    except InvalidDocument as error:
        raise InvalidDocument(_within_line(problem) for problem in error.problems) from None
    return replace(example, origin={key: row.get(key) for key in ("category", "question_row", "answer_row")})


def is_of_turns(category: str) -> bool:
    """Tell whether a category is of conversations of several turns, the first of which is read."""
    return category.startswith("multi_turn_")


def _of_turns(row: JsonMapping, category: str) -> ExampleRow:
    question, answer = row["question_row"], row.get("answer_row")
    if not isinstance(name := question.get("id"), str):
        raise InvalidDocument.at("/question_row/id", "is not text")
    try:
        return example_of_turns(question, name, category, answer if isinstance(answer, Mapping) else None)
    except InvalidDocument as error:
        raise InvalidDocument(_within_line(problem) for problem in error.problems) from None


def _within_line(problem: Problem) -> Problem:
    """Return a problem of one of a line's two rows as seen from the line."""
    return problem.below("/answer_row" if problem.pointer.startswith("/ground_truth") else "/question_row")


def leaderboard_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a line `{"question_row", "answer_row", "category"}` for each question of a zip, in the order of categories.

    Question files are `BFCL_v4_<category>.json` in any folder, answer files have the same names in a folder
    `possible_answer`; other files are left aside. Rows are copied as they are written. Raises InvalidDocument, with the
    file's name and the line, where a file is broken, comes twice, or holds an answer without a question.
    """
    try:
        with zipfile.ZipFile(file) as packed:
            questions, answers = _named(packed)
            _require_size(packed, [*questions.values(), *answers.values()])
            for category in dict.fromkeys((*CATEGORIES, *sorted(questions))):
                if category in questions:
                    yield from _category(packed, category, questions[category], answers.get(category))
    except UNREADABLE as error:
        raise InvalidDocument.at("", f"cannot be read as a zip{_where(file)}: {error}") from None


def _where(file: IO[bytes]) -> str:
    """Return what a file lacks that begins as a zip does and ends before its table of contents."""
    if not is_zip(file) or zipfile.is_zipfile(file):
        return ""
    return f", as it ends after {file.seek(0, SEEK_END):,} bytes without the table of contents. Upload it again"


def _named(packed: zipfile.ZipFile) -> tuple[dict[str, str], dict[str, str]]:
    """Return the question files and the answer files by category."""
    questions: dict[str, str] = {}
    answers: dict[str, str] = {}
    for name in packed.namelist():
        path = PurePosixPath(name)
        if not path.name.startswith(_NAME) or path.suffix != _ENDING:
            continue
        category = path.name.removeprefix(_NAME).removesuffix(_ENDING)
        if category not in CATEGORIES and not is_of_turns(category):
            words = "is of no category that is read from a zip; take it out, and import it by itself"
            message = f"{name} {words}. Read are {', '.join(CATEGORIES)} and multi_turn_*"
            raise InvalidDocument.at("", message)
        files = answers if path.parent.name == _ANSWERS else questions
        if category in files:
            raise InvalidDocument.at("", f"{files[category]} and {name} are of the same category")
        files[category] = name
    if alone := [name for category, name in answers.items() if category not in questions]:
        raise InvalidDocument.at("", f"{', '.join(alone)}: there are no questions for these answers")
    if not questions:
        raise InvalidDocument.at("", f"the zip holds no {_NAME}<category>{_ENDING}")
    return questions, answers


def _require_size(packed: zipfile.ZipFile, names: list[str]) -> None:
    """Refuse a zip that says that it unpacks to too much; one that says too little ends with its own error."""
    size = sum(packed.getinfo(name).file_size for name in names)
    if size > MAX_UNPACKED_BYTES:
        raise InvalidDocument.at("", f"the zip unpacks to {size:,} bytes; the limit is {MAX_UNPACKED_BYTES:,}")


def _category(packed: zipfile.ZipFile, category: str, questions: str, answers: str | None) -> Iterator[bytes]:
    known = _answers(packed, answers) if answers else {}
    for name, row in _rows(packed, questions):
        yield b'{"question_row":%b,"answer_row":%b,"category":"%b"}\n' % (
            row,
            known.pop(name, b"null"),
            category.encode(),
        )
    if known:
        raise InvalidDocument.at("", f"{answers}: there is no question {next(iter(known))}")


def _answers(packed: zipfile.ZipFile, name: str) -> dict[str, bytes]:
    if packed.getinfo(name).file_size > MAX_ANSWERS_BYTES:
        raise InvalidDocument.at("", f"{name} has more than {MAX_ANSWERS_BYTES:,} bytes")
    answers: dict[str, bytes] = {}
    for each, row in _rows(packed, name):
        if each in answers:
            raise InvalidDocument.at("", f"{name} answers {each} twice")
        answers[each] = row
    return answers


def _rows(packed: zipfile.ZipFile, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the id of each row of a file of JSON Lines, and the row as it is written."""
    with packed.open(name) as lines:
        number = 0
        while line := _next(lines, name, number):
            number += 1
            row = line.removeprefix(BOM).strip()
            if row:
                yield _id(row, f"{name}, line {number}"), row


def _next(lines: IO[bytes], name: str, number: int) -> bytes:
    try:
        return lines.readline(MAX_LINE_BYTES + 1)
    except UNREADABLE as error:
        raise InvalidDocument.at("", f"{name} is damaged after line {number}: {error}. Upload it again") from None


def _id(row: bytes, place: str) -> str:
    try:
        value: Any = load_json(row, max_bytes=MAX_LINE_BYTES)
    except InvalidDocument as error:
        raise InvalidDocument.at("", f"{place}: {error}") from None
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        raise InvalidDocument.at("", f"{place}: is not an object with an id")
    name: str = value["id"]
    return name
