from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from celery import current_app

from labeling.imports import lines
from labeling.models import (
    Dispute,
    Example,
    Gold,
    GoldSource,
    ImportPart,
    LabelSlot,
    Resolution,
    Revision,
    StagedExample,
)
from labeling.services import examples_import, import_start, settle_due
from tests.labeling.rows import NO_CALL, SHOP_TOOLS, call, document, row
from tests.labeling.test_labels import later
from toolevals.grading.problems import InvalidDocument
from toolevals.registry.models import ToolList
from toolevals.workspace.jobs import job_retry
from toolevals.workspace.models import AuditEntry, Job, JobState
from toolevals.workspace.services import upload_store


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
    return [line for start, end in parts for _, line in lines.lines_in(io.BytesIO(text), start, end)]


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
    monkeypatch.setattr(lines, "PART_BYTES", 1000)
    job = load(many(60))
    assert job.batches.filter(stage=1).count() > 5
    assert job.report["added"] == 60
    names = Example.objects.order_by("id").values_list("external_id", flat=True)
    assert list(names) == [f"ex-{number:03}" for number in range(60)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 1000])
@pytest.mark.parametrize("text", [b"", b"a\nb\nc", b"\n\na\n\n", b"aaaa\nbb\r\ncccccc\n", b"\xef\xbb\xbfa\nb\n"])
def test_every_line_is_read_once_however_the_file_is_cut(monkeypatch, size, text):
    monkeypatch.setattr(lines, "PART_BYTES", size)
    found = [
        line for start, end in lines.parts_of(len(text)) for _, line in lines.lines_in(io.BytesIO(text), start, end)
    ]
    assert b"".join(line for line in found if line is not None) == text.removeprefix(b"\xef\xbb\xbf")
    assert len(found) == len(text.splitlines())


def test_a_line_too_long_is_named_and_the_next_is_read(monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 8)
    text = b"a\n" + b"x" * 50 + b"\nb\n"
    found = [
        line for start, end in [(0, 20), (20, len(text))] for _, line in lines.lines_in(io.BytesIO(text), start, end)
    ]
    assert found == [b"a\n", None, b"b\n"]


def test_errors_are_listed_by_line_and_pointer_and_nothing_is_imported(dataset, load, monkeypatch):
    monkeypatch.setattr(lines, "PART_BYTES", 150)
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


def test_importing_again_changes_nothing(dataset, load):
    rows = [*many(3), document("gold", expectation=call(), strata={"bucket": "selection"})]
    load(rows)
    before = [list(model.objects.order_by("pk").values()) for model in (Example, Revision, Gold, LabelSlot)]
    job = load(rows)
    assert (job.report["added"], job.report["unchanged"]) == (0, 4)
    assert [list(model.objects.order_by("pk").values()) for model in (Example, Revision, Gold, LabelSlot)] == before


def test_the_order_of_keys_is_no_change(dataset, load):
    load([document("a", expectation=call())])
    turned = dict(reversed(document("a", expectation=call()).items()))
    (trajectory,) = turned["expectation"]["alternatives"]
    trajectory["ordered"][0]["arguments"] |= {"verbose": {"exact": True}}
    load([turned])
    trajectory["ordered"][0]["arguments"] = dict(reversed(trajectory["ordered"][0]["arguments"].items()))
    job = load([turned])
    assert (job.report["gold_changed"], job.report["unchanged"]) == (0, 1)
    assert Gold.objects.count() == 2


def test_changed_input_is_a_further_revision_and_labels_stay_with_theirs(dataset, load, ann, submit, claim):
    load([document("a")])
    label = submit(ann, NO_CALL)
    old = label.revision
    changed = document("a") | {"input": {"messages": [{"role": "user", "content": "Changed"}]}}
    job = load([changed])
    assert job.report["revised"] == 1
    new = current("a")
    assert (new.number, new.slots.count(), label.revision) == (2, 2, old)
    assert list(old.slots.order_by("number").values_list("state", flat=True)) == ["submitted", "closed"]
    assert claim(ann).revision == new
    assert load([document("a")]).report["revised"] == 1
    assert current("a") == old
    assert Revision.objects.count() == 2
    assert set(old.slots.values_list("state", flat=True)) == {"submitted", "open"}


def test_other_tools_make_a_revision(dataset, load):
    load([document("a")])
    load([document("a", tools=SHOP_TOOLS[:1])])
    assert Revision.objects.count() == 2
    assert ToolList.objects.count() == 2
    load([document("a", tools="shop@1")])
    assert current("a").number == 1


def test_changed_expectation_is_newer_gold_where_it_was_imported(dataset, load):
    load([document("a", expectation=call())])
    job = load([document("a", expectation=NO_CALL)])
    assert job.report["gold_changed"] == 1
    revision = Revision.objects.get()
    assert [gold.expectation["kind"] for gold in Gold.objects.history_of(revision)] == ["no_call", "calls"]
    assert revision.gold == Gold.objects.history_of(revision)[0]


def test_expectation_for_an_example_nobody_has_labelled_becomes_gold(dataset, load, ann, claim):
    load([document("a")])
    slot = claim(ann)
    assert load([document("a", expectation=NO_CALL)]).report["gold_changed"] == 1
    slot.refresh_from_db()
    assert slot.state == "closed"
    assert Revision.objects.get().resolution == Resolution.RESOLVED


def test_import_never_replaces_peoples_gold_but_disputes_it_once(dataset, load, ann, ben, submit):
    load([document("a")])
    submit(ann, call())
    submit(ben, call())
    settle_due(later())
    gold = Gold.objects.get()
    assert load([document("a", expectation=call())]).report["disputed"] == 0
    assert load([document("a", expectation=NO_CALL)]).report["disputed"] == 1
    assert load([document("a", expectation=NO_CALL)]).report["disputed"] == 0
    assert Revision.objects.get().gold == gold
    assert Dispute.objects.get().expectation == NO_CALL


def test_import_waits_for_people_who_have_begun_and_is_settled_by_their_gold(dataset, load, ann, ben, submit):
    load([document("a")])
    submit(ann, NO_CALL)
    assert load([document("a", expectation=NO_CALL)]).report["disputed"] == 1
    submit(ben, NO_CALL)
    settle_due(later())
    assert Gold.objects.get().source == GoldSource.AGREED
    assert Dispute.objects.get().settled_at is not None


def test_strata_are_metadata(dataset, load):
    load([document("a", strata={"bucket": "selection", "difficulty": "easy"})])
    job = load([document("a", strata={"bucket": "selection", "difficulty": "hard"})])
    assert job.report["strata_changed"] == 1
    assert load([document("a")]).report["unchanged"] == 1
    assert Example.objects.get().strata == {"bucket": "selection", "difficulty": "hard"}
    assert Revision.objects.count() == 1


def test_labels_that_do_not_fit_the_tools_are_imported_with_a_warning(dataset, load):
    job = load([document("a", expectation=call(tool="sell_order"))])
    assert job.state == JobState.SUCCEEDED
    assert job.report["warning_count"] == 1
    assert job.report["warnings"][0]["line"] == 1
    assert job.report["warnings"][0]["pointer"].startswith("/expectation/alternatives/0")


def test_without_tools_a_row_is_refused(project, load, dataset):
    dataset.default_tools = None
    dataset.save()
    assert errors(load([document("a")])) == [(1, "/tools")]


def test_batches_done_again_change_nothing(dataset, adjudicator, run_jobs, load):
    job = load(many(5))
    before = list(Example.objects.values())
    for batch in job.batches.all():
        current_app.tasks[batch.task](str(batch.pk))
    assert list(Example.objects.values()) == before


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
