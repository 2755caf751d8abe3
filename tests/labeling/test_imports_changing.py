"""Large imports that change what was there: decided in short transactions, done in one that is short too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labeling.adjudicate.resolution import settle_due
from labeling.imports import publish_import
from labeling.imports import services as imports
from labeling.imports.publish_import import Publication
from labeling.imports.services import examples_import
from labeling.models import Dispute, Example, Gold, ImportPart, Label, Resolution, Revision, StagedChange, StagedExample
from tests.labeling.rows import NO_CALL, call, document, row
from tests.labeling.test_imports import current, load, many
from tests.labeling.test_imports_in_parts import contents, few_at_once
from tests.labeling.windows import later
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import JobState

__all__ = ["few_at_once", "load"]
OTHER_INPUT = {"input": {"messages": [{"role": "user", "content": "Changed"}]}}


@pytest.fixture
def before_showing(monkeypatch) -> Callable[[Callable[[], Any]], None]:
    """Return a function that has something done once all is decided, before it is shown."""
    decide = publish_import.arrival_decide

    def do(act: Callable[[], Any]) -> None:
        acts = [act]

        def decided(*args: Any) -> None:
            decide(*args)
            if acts:
                acts.pop()()

        monkeypatch.setattr(imports, "arrival_decide", decided)

    return do


@pytest.fixture
def statements(load, monkeypatch) -> Callable[[list[Any]], int]:
    """Return a function that imports rows and says how many statements the showing of them took, row for row."""
    show = publish_import.arrival_show
    counts: list[int] = []

    def shown(*args: Any, **more: Any) -> Any:
        with CaptureQueriesContext(connection) as taken:
            published = show(*args, **more)
        # Django notes an `executemany` as "20 times: UPDATE ...".
        heads = [each["sql"].split(" times:", 1)[0] for each in taken.captured_queries]
        counts.append(sum(int(head) if head.isdigit() else 1 for head in heads))
        return published

    def do(rows: list[Any]) -> int:
        assert load(rows).state == JobState.SUCCEEDED
        return counts[-1]

    monkeypatch.setattr(imports, "arrival_show", shown)
    return do


@pytest.mark.parametrize(
    ("changed", "counted"),
    [
        ({"expectation": NO_CALL}, "gold_changed"),
        (OTHER_INPUT, "revised"),
        ({"strata": {"bucket": "selection"}, "decided_by": "end_state"}, "strata_changed"),
    ],
)
def test_what_others_wait_for_takes_as_many_statements_however_much_is_changed(load, statements, changed, counted):
    rows = many(24, expectation=call())
    load(rows)
    few = statements([each | changed for each in rows[:5]] + rows[5:])
    more = statements([each | changed for each in rows])
    assert 5 < few == more
    # And back: an earlier revision, newer gold, other strata.
    back = {"strata": {"bucket": "other"}, "decided_by": "calls"} if counted == "strata_changed" else {}
    assert statements([each | back for each in rows[:5]]) == statements([each | back for each in rows])


def test_labels_pass_while_a_large_change_is_published(dataset, load, members, submit, monkeypatch):
    load([*many(12, expectation=call()), *[document(f"open-{number}") for number in range(12)]])
    people, labelled = iter(members(12)), []

    def label() -> None:
        assert not Gold.objects.filter(expectation=NO_CALL).exists()
        labelled.append(submit(next(people), NO_CALL))

    monkeypatch.setattr(publish_import, "others_write_first", label)
    monkeypatch.setattr(imports, "staged_sweep", lambda: 0)
    job = load(many(12, expectation=NO_CALL))
    # Three parts are looked at for what is new, and three for what changes, with a pause after each.
    assert (job.state, job.report["gold_changed"], len(labelled)) == (JobState.SUCCEEDED, 12, 6)
    assert Label.objects.count() == 6


def test_who_begins_to_label_meanwhile_is_not_overruled(dataset, load, ann, submit, before_showing):
    load(many(6))
    before_showing(lambda: submit(ann, call()))
    report = load(many(6, expectation=NO_CALL)).report
    assert (report["gold_changed"], report["disputed"], report["unchanged"]) == (5, 1, 0)
    assert Dispute.objects.get().revision == Label.objects.get().revision
    assert Revision.objects.filter(resolution=Resolution.OPEN).get() == Label.objects.get().revision


def test_gold_that_people_decide_meanwhile_stays(dataset, load, ann, ben, submit, before_showing):
    load([*many(5, expectation=call()), document("z")])

    def decide() -> None:
        submit(ann, call())
        submit(ben, call())
        settle_due(later())

    before_showing(decide)
    report = load([*many(5, expectation=NO_CALL), document("z", expectation=NO_CALL)]).report
    assert (report["gold_changed"], report["disputed"]) == (5, 1)
    assert current("z").gold.expectation == call()


def test_what_another_import_changes_meanwhile_is_looked_at_again(dataset, load, before_showing):
    load(many(8, expectation=call()))
    same = {"expectation": NO_CALL, "strata": {"bucket": "selection"}}
    others = [
        document("ex-000", **same),
        document("ex-001", **same),
        document("ex-002", expectation=call()) | OTHER_INPUT,
    ]
    before_showing(lambda: examples_import(dataset=dataset, actor=None, rows=[read_example(each) for each in others]))
    report = load([*[document(f"ex-00{number}", **same) for number in range(8)]]).report
    # The first two are as this import wants them. The third shows its earlier revision again, with other gold.
    assert (report["unchanged"], report["gold_changed"], report["revised"], report["strata_changed"]) == (2, 6, 1, 6)
    assert {
        gold.expectation["kind"] for gold in Gold.objects.filter(pk__in=Example.objects.values("current__gold"))
    } == {"no_call"}
    assert {each.strata["bucket"] for each in Example.objects.all()} == {"selection"}
    assert Revision.objects.count() == 9


def test_strata_that_a_person_changes_meanwhile_become_the_files(dataset, load, before_showing):
    load(many(6, strata={"bucket": "selection"}))
    before_showing(lambda: Example.objects.filter(external_id="ex-003").update(bucket="other"))
    report = load(many(6, strata={"bucket": "selection"})).report
    assert (report["strata_changed"], report["unchanged"]) == (1, 5)
    assert set(Example.objects.values_list("bucket", flat=True)) == {"selection"}


def test_the_same_content_that_another_import_brings_meanwhile_is_one_revision(dataset, load, before_showing):
    load(many(6))
    other = read_example(document("ex-002") | OTHER_INPUT)

    def there_and_back() -> None:
        examples_import(dataset=dataset, actor=None, rows=[other])
        examples_import(dataset=dataset, actor=None, rows=[row("ex-002")])

    before_showing(there_and_back)
    assert load([each | OTHER_INPUT for each in many(6)]).report["revised"] == 6
    assert Revision.objects.count() == 12
    assert current("ex-002").number == 2


def test_a_dispute_that_another_import_begins_meanwhile_is_not_begun_twice(dataset, load, ann, submit, before_showing):
    load(many(6))
    submit(ann, call())
    disputed = Label.objects.get().revision.example.external_id
    same = [row(disputed, expectation=NO_CALL)]
    before_showing(lambda: examples_import(dataset=dataset, actor=None, rows=same))
    report = load(many(6, expectation=NO_CALL)).report
    assert (report["gold_changed"], report["disputed"], report["unchanged"]) == (5, 0, 1)
    assert Dispute.objects.count() == 1


@pytest.mark.parametrize("killed", ["between parts", "before showing", "while showing"])
def test_a_worker_that_dies_changes_nothing_or_all(dataset, load, run_jobs, monkeypatch, killed):
    first = many(10, expectation=call())
    load(first)
    held = contents(dataset)
    changed = [each | OTHER_INPUT for each in first[:5]] + many(10, expectation=NO_CALL)[5:]
    calls = iter(range(1000))
    name, number = {
        "between parts": ("decide", 1),
        "before showing": ("show", 0),
        "while showing": ("_execute", 8),
    }[killed]
    act = getattr(Publication, name)

    def dying(self: Publication, *args: Any) -> Any:
        if next(calls) == number:
            raise ConnectionError("killed")
        return act(self, *args)

    monkeypatch.setattr(Publication, name, dying)
    job = load(changed)
    assert (job.state, contents(dataset)) == (JobState.RUNNING, held)
    run_jobs(impatient=True)
    job.refresh_from_db()
    assert (job.state, job.report["revised"], job.report["gold_changed"]) == (JobState.SUCCEEDED, 5, 5)
    assert Revision.objects.count() == 15
    assert Gold.objects.count() == 20
    publish_import.staged_sweep()
    assert not StagedChange.objects.exists()
    assert not ImportPart.objects.exists()


def test_each_line_is_told_what_it_changed_in_the_end(dataset, load, ann, submit, before_showing, monkeypatch):
    load(many(6))
    before_showing(lambda: submit(ann, call()))
    told: dict[str, str] = {}

    def noted() -> int:
        told.update(StagedExample.objects.values_list("external_id", "fate"))
        return 0

    monkeypatch.setattr(imports, "staged_sweep", noted)
    load(many(6, expectation=NO_CALL))
    assert told.pop(Label.objects.get().revision.example.external_id) == "disputed"
    assert list(told.values()) == ["gold changed"] * 5
