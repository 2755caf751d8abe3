"""Every format out: what it holds, what it leaves out and says so, and what comes back in."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as files
import pytest
from django.urls import reverse

from labeling.adjudicate.resolution import gold_set, settle_due
from labeling.datasets.services import dataset_create
from labeling.exports import FORMATS, Outcome, Selection
from labeling.exports.formats import PARQUET
from labeling.exports.table import EXAMPLE_COLUMNS
from labeling.imports.parts import Settings
from labeling.imports.readers.columns import detected_targets
from labeling.imports.readers.langsmith import langsmith_row
from labeling.imports.services import examples_import
from labeling.models import Dataset, GoldSource, Label
from labeling.versions.services import version_freeze
from tests.labeling.importing import load
from tests.labeling.rows import NO_CALL, call, document, row
from tests.labeling.windows import later
from toolevals.grading.reading.bfcl import CATEGORIES
from toolevals.grading.reading.examples import read_example
from toolevals.grading.values.canonical import exact
from toolevals.presentation.csv import safe_cell

__all__ = ["load"]

FOLDER = os.environ.get("TOOLEVALS_BENCHMARK_DATA", "")
SAMPLE = Path(__file__).parent.parent / "grading" / "data" / "bfcl" / "oracle_sample.jsonl"
PLAIN = {"expected_tool": "get_order", "expected_args": {"order_id": "A-1"}}


def write(dataset: Dataset, name: str, outcome: Outcome | None = None) -> bytes:
    return b"".join(FORMATS[name].write(Selection(dataset), outcome or Outcome()))


def lines(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def cells(parquet: bytes) -> list[dict[str, str]]:
    """Return the rows of a Parquet file as one of CSV has them."""
    rows = files.read_table(io.BytesIO(parquet), use_threads=False).to_pylist()
    return [{name: str(safe_cell(cell)) for name, cell in row.items()} for row in rows]


def fill(dataset: Dataset, *documents: dict[str, Any]) -> None:
    examples_import(dataset=dataset, actor=None, rows=[read_example(each) for each in documents])


def test_csv_comes_back_and_runs_no_formula(project, dataset, load):
    hostile = '=HYPERLINK("http://x.example","a")'
    fill(
        dataset,
        document("-1+1", **PLAIN, rationale=hostile, strata={"bucket": "@sum"}),
        document("none", expected_tool=None),
        document("some", expectation={"kind": "some_call"}),
        document("complex", expectation=call()),
        document("open"),
    )
    text = write(dataset, "csv")
    table = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
    assert tuple(table[0]) == tuple(EXAMPLE_COLUMNS)
    assert not any(cell[:1] in set("=+-@\t\r") for each in table for cell in each.values())
    assert [each["expected_tool"] for each in table] == ["get_order", "(none)", "(any)", "get_order", ""]
    assert [each["expected_args"] for each in table] == ['{"order_id":"A-1"}', "", "", '{"order_id":"A-1"}', ""]
    assert table[0]["offered"] == "get_order cancel_order"
    native = lines(write(dataset, "jsonl"))
    assert cells(write(dataset, "parquet")) == table
    job = load(text, "csv", {"columns": detected_targets(tuple(EXAMPLE_COLUMNS))})
    assert (job.report["unchanged"], job.report["added"]) == (5, 0)
    assert lines(write(dataset, "jsonl")) == native


def test_langsmith_comes_back(project, dataset):
    fill(
        dataset,
        document("a", **PLAIN, rationale="r", strata={"difficulty": "easy"}),
        document("b", expectation=call()) | {"input": {"messages": [{"role": "user"}], "context": {"a": 1}}},
        document("c"),
    )
    written = lines(write(dataset, "langsmith"))
    assert written[0]["outputs"]["tool_calls"] == [{"name": "get_order", "args": {"order_id": "A-1"}}]
    assert written[2]["outputs"] == {}
    again = dataset_create(project=project, actor=None, slug="again", name="Again")
    examples_import(dataset=again, actor=None, rows=[langsmith_row(each, Settings()) for each in written])
    assert lines(write(again, "jsonl")) == lines(write(dataset, "jsonl"))


def test_openai_chat_holds_the_one_answer_and_names_what_it_cannot(dataset):
    vague = {"tool": "get_order", "arguments": {"order_id": {"pattern": "A"}}}
    pattern = {"kind": "calls", "alternatives": [{"ordered": [vague]}]}
    steps = {"kind": "calls", "alternatives": [{"ordered": [{"tool": "get_order"}, {"tool": "cancel_order"}]}]}
    both = {"kind": "calls", "alternatives": [{"unordered": [{"tool": "get_order"}, {"tool": "cancel_order"}]}]}
    fill(
        dataset,
        document("plain", **PLAIN),
        document("both", expectation=both),
        document("words", expectation={"kind": "no_call", "answer": {"exact": "Hello!"}}),
        document("silent", expected_tool=None),
        document("pattern", expectation=pattern),
        document("steps", expectation=steps),
        document("open"),
    )
    outcome, known = Outcome(), document("plain", **PLAIN)
    plain, parallel, words = lines(write(dataset, "openai_chat", outcome))
    assert plain["messages"][0]["role"] == "user"
    (made,) = plain["messages"][-1]["tool_calls"]
    assert made["function"] == {"name": "get_order", "arguments": '{"order_id":"A-1"}'}
    assert [tool["function"]["name"] for tool in plain["tools"]] == ["get_order", "cancel_order"]
    assert len(parallel["messages"][-1]["tool_calls"]) == 2
    known["input"]["context"] = {"user": "u-1"}
    fill(dataset, known)
    first = lines(write(dataset, "openai_chat"))[0]["messages"][0]
    assert first == {"role": "system", "content": 'Context: {"user":"u-1"}'}
    assert words["messages"][-1] == {"role": "assistant", "content": "Hello!"}
    assert [each["id"] for each in outcome.listed] == ["silent", "pattern", "steps", "open"]
    assert (outcome.written, outcome.skipped.total()) == (3, 4)


def test_a_version_is_written_as_it_was_frozen(dataset):
    fill(dataset, document("a", **PLAIN), document("open"))
    version = version_freeze(dataset=dataset, actor=None)
    fill(dataset, document("a", expected_tool=None), document("b", expected_tool=None))
    for name in ("jsonl", "csv", "langsmith", "openai_chat", "bfcl"):
        outcome = Outcome()
        b"".join(FORMATS[name].write(Selection(dataset, version), outcome))
        assert (outcome.written, outcome.skipped.total()) == (1, 0)
    frozen = b"".join(FORMATS["csv"].write(Selection(dataset, version), Outcome()))
    assert [each["expected_tool"] for each in csv.DictReader(io.StringIO(frozen.decode()))] == ["get_order"]


def test_no_file_holds_a_label_of_what_is_not_resolved(dataset, ann, ben, submit):
    examples_import(dataset=dataset, actor=None, rows=[row("ex")])
    submit(ann, call(order="S3CRET-1"), rationale="S3CRET-2")
    submit(ben, call(order="S3CRET-3"))
    assert Label.objects.count() == 2
    for each in FORMATS.values():
        whole = b"".join(each.write(Selection(dataset), Outcome()))
        parts = [whole]
        if each.content_type == "application/zip":
            packed = zipfile.ZipFile(io.BytesIO(whole))
            parts = [packed.read(name) for name in packed.namelist()]
        if each.content_type == PARQUET:
            parts = [str(cells(whole)).encode()]
        assert not any(b"S3CRET" in part for part in parts), each.name


def test_labels_of_what_is_resolved_leave_with_stable_ids(dataset, ann, ben, submit):
    examples_import(dataset=dataset, actor=None, rows=[row("ex"), row("other")])
    submit(ann, call())
    submit(ben, call())
    settle_due(later())
    submit(ann, NO_CALL)
    table = list(csv.DictReader(io.StringIO(write(dataset, "labels_csv").decode())))
    resolved = Label.objects.filter(revision__example__external_id="ex").values_list("pk", flat=True)
    assert {each["label_id"] for each in table} == {str(pk) for pk in resolved}
    assert {each["reviewer"] for each in table} == {ann.name, ben.name}
    assert cells(write(dataset, "labels_parquet")) == table


def sample_rows() -> Iterator[dict[str, Any]]:
    """Yield the committed sample's questions, each once, as the command sends them."""
    seen = set()
    for line in SAMPLE.read_text().splitlines():
        given = json.loads(line)
        name = given["id"].split("#")[0]
        if name not in seen and "$tuple" not in line:
            seen.add(name)
            question = {"id": name, "question": [[{"role": "user", "content": "Do."}]], "function": given["functions"]}
            answer = {"id": name, "ground_truth": given["possible_answer"]}
            yield {"question_row": question, "answer_row": answer, "category": given["category"]}


def real_rows() -> Iterator[dict[str, Any]]:
    """Yield every category's questions and answers from the leaderboard's own files."""
    folder = Path(FOLDER) / "bfcl"
    for category in CATEGORIES:
        name = f"BFCL_v4_{category}.json"
        path = folder / "possible_answer" / name
        answers = {each["id"]: each for each in lines(path.read_bytes())} if path.exists() else {}
        for question in lines((folder / name).read_bytes()):
            yield {"question_row": question, "answer_row": answers.get(question["id"]), "category": category}


def unpacked(packed: bytes) -> dict[str, list[str]]:
    """Return the canonical lines of each file of a leaderboard export."""
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        return {
            name: [exact(json.loads(line)) for line in files.read(name).splitlines()]
            for name in files.namelist()
            if name != "summary.json"
        }


def expected_files(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for each in rows:
        name = f"BFCL_v4_{each['category']}.json"
        files.setdefault(name, []).append(exact(each["question_row"]))
        if each["answer_row"] is not None:
            files.setdefault(f"possible_answer/{name}", []).append(exact(each["answer_row"]))
    return files


@pytest.mark.parametrize("which", ["sample", "real"])
def test_bfcl_goes_out_as_it_came_in(dataset, load, which):
    if which == "real" and not FOLDER:
        pytest.skip("TOOLEVALS_BENCHMARK_DATA does not say where the benchmark is")
    rows = list(real_rows() if which == "real" else sample_rows())
    assert len(rows) == 3641 if which == "real" else len(rows) > 20
    assert load(rows, "bfcl").report["added"] == len(rows)
    outcome = Outcome()
    assert unpacked(write(dataset, "bfcl", outcome)) == expected_files(rows)
    assert (outcome.written, outcome.skipped.total()) == (len(rows), 0)


def test_bfcl_an_edited_answer_is_written_anew_and_the_question_stays(dataset, load):
    (first, *_) = sample_rows()
    load([first], "bfcl")
    name = first["question_row"]["id"]
    changed = read_example(
        {"id": name, "input": {"messages": [{"role": "user", "content": "Do."}]}, "expectation": {
            "kind": "calls", "profile": "bfcl", "alternatives": [{"additional_calls": False, "ordered": [
                {"tool": "t", "additional_arguments": False, "arguments": {
                    "a": {"one_of": [1, 2], "optional": True}, "b": {"exact": {"c": "d"}}, "e": {"absent": True}}}]}]}}
    )  # fmt: skip
    revision = dataset.examples.get().current
    assert revision is not None
    assert changed.expectation is not None
    expectation = changed.expectation.to_document()
    gold_set(revision, actor=None, expectation=expectation, rationale="", source=GoldSource.RESTORED)
    files = unpacked(write(dataset, "bfcl"))
    (question,) = files[f"BFCL_v4_{first['category']}.json"]
    assert question == exact(first["question_row"])
    (answer,) = (values for file, values in files.items() if file.startswith("possible_answer/"))
    assert json.loads(answer[0])["ground_truth"] == [{"t": {"a": [1, 2, ""], "b": [{"c": ["d"]}], "e": [""]}}]


def test_bfcl_what_was_made_here_is_written_where_it_has_a_form(dataset):
    fill(
        dataset,
        document("one", **PLAIN),
        document("none", expected_tool=None),
        document("open arguments", expectation=call()),
        document("context", **PLAIN) | {"input": {"messages": [{"role": "user"}], "context": {"a": 1}}},
    )
    outcome = Outcome()
    files = unpacked(write(dataset, "bfcl", outcome))
    assert set(files) == {"BFCL_v4_multiple.json", "possible_answer/BFCL_v4_multiple.json", "BFCL_v4_irrelevance.json"}
    (question,) = (json.loads(each) for each in files["BFCL_v4_multiple.json"])
    assert question["function"][0]["parameters"]["type"] == "dict"
    assert json.loads(files["possible_answer/BFCL_v4_multiple.json"][0]) == {
        "id": "one",
        "ground_truth": [{"get_order": {"order_id": ["A-1"]}}],
    }
    assert [each["id"] for each in outcome.listed] == ["open arguments", "context"]


def test_without_pyarrow_parquet_is_refused_and_says_how_to_install_it(dataset, client, owner, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    client.force_login(owner)
    slugs = [dataset.project.slug, dataset.slug]
    told = [
        client.get(reverse("labeling:export", args=slugs), {"as": "parquet"}),
        client.post(reverse("labeling:exports", args=slugs), {"format": "labels_parquet"}),
        client.get(reverse("labeling-api:export", args=slugs), {"as": "parquet"}),
    ]
    assert [(each.status_code, "toolevals[data]" in each.content.decode()) for each in told] == [(422, True)] * 3
