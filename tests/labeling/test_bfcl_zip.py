"""A zip of the leaderboard's files, imported as it is published and as our own export writes it."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from labeling.exports import FORMATS, Outcome, Selection
from labeling.imports.readers import bfcl as leaderboard
from labeling.models import Dataset, Example, Gold
from tests.labeling.importing import load
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import JobState

__all__ = ["load"]

FOLDER = os.environ.get("TOOLEVALS_BENCHMARK_DATA", "")
needs_files = pytest.mark.skipif(not FOLDER, reason="TOOLEVALS_BENCHMARK_DATA does not say where the benchmark is")
FUNCTION = {
    "name": "area",
    "description": "When an area is asked for.",
    "parameters": {"type": "dict", "properties": {"side": {"type": "integer"}}, "required": ["side"]},
}


def question(name: str) -> dict[str, Any]:
    return {"id": name, "question": [[{"role": "user", "content": "A square of 2?"}]], "function": [FUNCTION]}


def answer(name: str) -> dict[str, Any]:
    return {"id": name, "ground_truth": [{"area": {"side": [2]}}]}


def zipped(files: Mapping[str, Any]) -> bytes:
    """Return a zip of files: bytes as they are, or rows, one a line."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, rows in files.items():
            made.writestr(name, rows if isinstance(rows, bytes) else "".join(f"{json.dumps(row)}\n" for row in rows))
    return packed.getvalue()


def test_a_zip_that_would_unpack_to_too_much_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(leaderboard, "MAX_UNPACKED_BYTES", 100)
    packed = zipped({QUESTIONS: [question("a"), question("b")]})
    with pytest.raises(InvalidDocument, match=r"unpacks to [\d,]+ bytes; the limit is 100"):
        next(leaderboard.leaderboard_lines(io.BytesIO(packed)))


QUESTIONS, ANSWERS = "data/BFCL_v4_simple_python.json", "data/possible_answer/BFCL_v4_simple_python.json"
NO_CALL = "data/BFCL_v4_irrelevance.json"


def test_questions_find_their_answers_and_other_files_are_left_aside(dataset, load):
    files = {
        "data/README.md": b"What this is.",
        NO_CALL: [question("irrelevance_0")],
        ANSWERS: [answer("simple_1"), answer("simple_0")],
        QUESTIONS: [question("simple_0"), question("simple_1")],
    }
    assert load(zipped(files), "bfcl").report["added"] == 3
    gold = dict(Gold.objects.values_list("revision__example__external_id", "expectation"))
    assert gold["irrelevance_0"]["kind"] == "no_call"
    for name in ("simple_0", "simple_1"):
        (route,) = gold[name]["alternatives"]
        assert route["ordered" if "ordered" in route else "unordered"][0]["tool"] == "area"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"notes.json": [question("a")]}, "the zip holds no BFCL_v4_<category>.json"),
        ({"BFCL_v4_memory.json": [question("a")]}, "BFCL_v4_memory.json is of no category"),
        ({ANSWERS: [answer("a")]}, "no questions for these answers"),
        ({QUESTIONS: [question("a")], ANSWERS: [answer("a"), answer("b")]}, "there is no question b"),
        ({QUESTIONS: [question("a")], ANSWERS: [answer("a"), answer("a")]}, "answers a twice"),
        ({QUESTIONS: [question("a")], "copy/BFCL_v4_simple_python.json": [question("a")]}, "of the same category"),
        ({QUESTIONS: b'{"id": "a"}\n{nope\n'}, f"{QUESTIONS}, line 2: not JSON"),
        ({QUESTIONS: [["no", "object"]]}, f"{QUESTIONS}, line 1: is not an object with an id"),
    ],
)
def test_a_zip_that_is_not_whole_is_refused_by_file(dataset, load, files, said):
    job = load(zipped(files), "bfcl")
    assert job.state == JobState.FAILED
    assert said in json.dumps(job.report["errors"])
    assert not Example.objects.exists()


def test_a_row_that_is_wrong_is_named_by_its_place_among_the_questions(dataset, load):
    job = load(zipped({QUESTIONS: [question("a"), question("b")], ANSWERS: [answer("a")]}), "bfcl")
    assert job.state == JobState.FAILED
    assert [(each["line"], each["pointer"]) for each in job.report["errors"]] == [(2, "/question_row")]
    assert not Example.objects.exists()


def test_a_broken_zip_and_one_that_unpacks_to_too_much_are_refused(dataset, load, settings):
    whole = zipped({NO_CALL: [question(f"irrelevance_{number}") for number in range(500)]})
    cut = load(whole[:-40], "bfcl").report["errors"][0]["message"]
    assert f"it ends after {len(whole) - 40:,} bytes without the table of contents" in cut
    damaged = whole[:200] + bytes(50) + whole[250:]
    assert "damaged after line" in load(damaged, "bfcl").report["errors"][0]["message"]
    settings.UPLOAD_MAX_BYTES = 20_000
    assert len(whole) < 20_000
    assert "unpacks to more than 20,000 bytes" in json.dumps(load(whole, "bfcl").report["errors"])
    assert not Example.objects.exists()


def test_a_question_file_alone_is_told_to_be_put_into_a_zip(dataset, load):
    job = load([question("a")], "bfcl")
    assert "into one zip" in job.report["errors"][0]["message"]


def test_a_zip_is_no_file_of_another_format(dataset, load):
    assert load(zipped({NO_CALL: [question("a")]}), "jsonl").state == JobState.FAILED


def exported(dataset: Dataset) -> bytes:
    return b"".join(FORMATS["bfcl"].write(Selection(dataset), Outcome()))


def rows_of(text: bytes) -> list[str]:
    return [exact(json.loads(line)) for line in text.splitlines()]


@needs_files
def test_all_published_files_go_in_out_and_in_again_unchanged(dataset, load):
    """Each published row comes back as it was, and our own zip changes nothing."""
    folder = Path(FOLDER) / "bfcl"
    paths = [*folder.glob("BFCL_v4_*.json"), *folder.glob("possible_answer/BFCL_v4_*.json")]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    assert load(zipped(files), "bfcl").report["added"] == 3641
    out = exported(dataset)
    with zipfile.ZipFile(io.BytesIO(out)) as packed:
        assert set(packed.namelist()) == {*files, "summary.json"}
        for name, text in files.items():
            written, published = rows_of(packed.read(name)), rows_of(text)
            # An answer file need not have the order of its questions; ours has.
            assert sorted(written) == sorted(published), name
    assert load(out, "bfcl").report["unchanged"] == 3641
    assert exported(dataset) == out
