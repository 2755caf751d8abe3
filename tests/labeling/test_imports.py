from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from celery import current_app

from labeling.imports import parts
from labeling.imports.parts import lines_in, parts_of
from labeling.imports.services import examples_import, import_start
from labeling.models import (
    Example,
    GoldSource,
    ImportPart,
    LabelSlot,
    Resolution,
    StagedExample,
)
from tests.labeling.rows import NO_CALL, call, document, row
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.jobs.services import job_retry
from toolevals.workspace.models import AuditEntry, Job, JobState
from toolevals.workspace.uploads.services import upload_store


@pytest.fixture
def load(dataset, adjudicator, run_jobs) -> Callable[..., Job]:
    """Return a function that imports a file's text, or rows, as a job and returns the job when it is over."""

    def do(content: bytes | Iterable[Any], source: str = "jsonl") -> Job:
        text = content if isinstance(content, bytes) else b"".join(json.dumps(r).encode() + b"\n" for r in content)
        upload = upload_store(project=dataset.project, actor=adjudicator, file=io.BytesIO(text), name="rows.jsonl")
        job = import_start(dataset=dataset, actor=adjudicator, upload=upload, source=source)
        run_jobs()
        job.refresh_from_db()
        return job

    return do


def many(count: int, **more: Any) -> list[dict[str, Any]]:
    return [document(f"ex-{number:03}", **more) for number in range(count)]


def current(name: str) -> Any:
    """Return the revision that an example shows."""
    return Example.objects.select_related("current__gold").get(external_id=name).current


def read(text: bytes, parts: Iterable[tuple[int, int]]) -> list[bytes | None]:
    """Return a file's lines as the parts find them."""
    return [line for start, end in parts for _, line in lines_in(io.BytesIO(text), start, end)]


def errors(job: Job) -> list[tuple[int, str]]:
    return [(each["line"], each["pointer"]) for each in job.report["errors"]]


def test_rows_become_examples_with_slots_or_gold(dataset, load):
    job = load([document("a"), document("b", expectation=call(), rationale="r"), document("c", expected_tool=None)])
    assert job.state == JobState.SUCCEEDED
    assert (job.report["rows"], job.report["added"], job.report["unchanged"]) == (3, 3, 0)
    assert list(Example.objects.order_by("id").values_list("external_id", flat=True)) == ["a", "b", "c"]
    first, second, third = (current(name) for name in "abc")
    assert first.resolution == Resolution.OPEN
    assert first.slots.count() == 2
    assert second.resolution == third.resolution == Resolution.RESOLVED
    assert (second.gold.source, second.gold.rationale) == (GoldSource.IMPORTED, "r")
    assert third.gold.expectation == {"kind": "no_call"}
    assert LabelSlot.objects.count() == 2
    assert not StagedExample.objects.exists()
    assert not ImportPart.objects.exists()


def test_parts_of_a_file_are_read_apart_and_published_in_the_files_order(dataset, load, monkeypatch):
    monkeypatch.setattr(parts, "PART_BYTES", 1000)
    job = load(many(60))
    assert job.batches.filter(stage=1).count() > 5
    assert job.report["added"] == 60
    names = Example.objects.order_by("id").values_list("external_id", flat=True)
    assert list(names) == [f"ex-{number:03}" for number in range(60)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 1000])
@pytest.mark.parametrize("text", [b"", b"a\nb\nc", b"\n\na\n\n", b"aaaa\nbb\r\ncccccc\n", b"\xef\xbb\xbfa\nb\n"])
def test_every_line_is_read_once_however_the_file_is_cut(monkeypatch, size, text):
    monkeypatch.setattr(parts, "PART_BYTES", size)
    found = [line for start, end in parts_of(len(text)) for _, line in lines_in(io.BytesIO(text), start, end)]
    assert b"".join(line for line in found if line is not None) == text.removeprefix(b"\xef\xbb\xbf")
    assert len(found) == len(text.splitlines())


def test_a_line_too_long_is_named_and_the_next_is_read(monkeypatch):
    monkeypatch.setattr(parts, "MAX_LINE_BYTES", 8)
    text = b"a\n" + b"x" * 50 + b"\nb\n"
    found = [line for start, end in [(0, 20), (20, len(text))] for _, line in lines_in(io.BytesIO(text), start, end)]
    assert found == [b"a\n", None, b"b\n"]


def test_errors_are_listed_by_line_and_pointer_and_nothing_is_imported(dataset, load, monkeypatch):
    monkeypatch.setattr(parts, "PART_BYTES", 150)
    bad: list[Any] = many(9)
    bad[1] = {"id": "no input"}
    bad[3] = document("ex-000")
    bad[5] = document("kind", expectation={"kind": "maybe"})
    bad[6] = document("registry", tools="nowhere@2")
    bad[7] = document("stratum", strata={"mood/colour": "blue"})
    text = b"".join(json.dumps(each).encode() + b"\n" for each in bad) + b"\n{oops\n"
    job = load(text)
    assert job.state == JobState.FAILED
    assert errors(job) == [
        (2, ""),
        (4, "/id"),
        (6, "/expectation/kind"),
        (7, "/tools"),
        (8, "/strata/mood~1colour"),
        (11, ""),
    ]
    assert job.report["error_count"] == 6
    assert not Example.objects.exists()
    assert not StagedExample.objects.exists()


def test_refused_file_stays_refused_when_retried(dataset, load, run_jobs):
    job = load(b"{}\n")
    job_retry(job=job, actor=None)
    run_jobs()
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert not Example.objects.exists()


def test_many_errors_are_counted_and_the_first_are_listed(dataset, load):
    job = load(b"{}\n" * 350)
    assert job.report["error_count"] == 700
    assert len(job.report["errors"]) == 100
    assert job.report["errors"][0]["line"] == 1


@pytest.mark.parametrize(
    "text",
    [
        b'{"id": "a", "id": "b"}',
        b'{"id": "a\\u0000", "input": {"messages": [{"role": "user"}]}}',
        b'{"id": "a", "input": {"messages": [{"role": "\\ud800"}]}}',
        b'{"id": "a", "input": {"messages": [{"role": "user", "n": NaN}]}}',
        b'{"id": "\xff"}',
        b"[" * 100_000,
        b'{"id": "' + b"x" * 201 + b'", "input": {"messages": [{"role": "user"}]}}',
    ],
)
def test_text_that_json_cannot_hold_exactly_is_refused(dataset, load, text):
    job = load(text + b"\n")
    assert job.state == JobState.FAILED
    assert job.report["errors"][0]["line"] == 1


def test_hostile_text_is_only_text(dataset, load):
    name = "'; DROP TABLE labeling_example; --<script>%(job)s {0} \U0001f4a9\u202e"
    load([document(name, rationale=name, expectation=NO_CALL, strata={"bucket": name[:40]})])
    assert Example.objects.get(external_id=name).bucket == name[:40]
    assert current(name).gold.rationale == name


def test_labels_that_do_not_fit_the_tools_are_imported_with_a_warning(dataset, load):
    job = load([document("a", expectation=call(tool="sell_order"))])
    assert job.state == JobState.SUCCEEDED
    read = job.report["read"]
    assert read["warning_count"] == 1
    assert read["warnings"][0]["line"] == 1
    assert read["warnings"][0]["pointer"].startswith("/expectation/alternatives/0")


def test_without_tools_a_row_is_refused(project, load, dataset):
    dataset.default_tools = None
    dataset.save()
    assert errors(load([document("a")])) == [(1, "/tools")]


def test_batches_done_again_change_nothing(dataset, adjudicator, run_jobs, load):
    job = load(many(5))
    before = list(Example.objects.order_by("pk").values())
    for batch in job.batches.all():
        current_app.tasks[batch.task](str(batch.pk))
    assert list(Example.objects.order_by("pk").values()) == before


def test_rows_in_memory_are_all_or_nothing(dataset):
    done = examples_import(dataset=dataset, actor=None, rows=[row("a"), row("b", expectation=NO_CALL)])
    assert (done.rows, done.added) == (2, 2)
    with pytest.raises(InvalidDocument) as error:
        examples_import(dataset=dataset, actor=None, rows=[row("c"), row("c")])
    assert [problem.pointer for problem in error.value.problems] == ["/1/id"]
    assert Example.objects.count() == 2
    assert AuditEntry.objects.filter(verb="examples_import").count() == 1


def test_unknown_format_is_refused(dataset, load):
    with pytest.raises(InvalidDocument):
        load(b"", source="xml")


def test_empty_file_imports_nothing(dataset, load):
    job = load(b"")
    assert (job.state, job.report["rows"]) == (JobState.SUCCEEDED, 0)
