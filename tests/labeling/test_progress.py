"""Test that of few labels those alone are read that came since, and that one's progress is exact all the same."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim
from labeling.label.open_tasks import progress_of
from labeling.label.services import label_submit, label_withdraw
from labeling.models import Label
from tests.labeling.rows import NO_CALL, call, row

pytestmark = pytest.mark.django_db


@pytest.fixture
def many(dataset):
    examples_import(dataset=dataset, actor=None, rows=[row(f"ex-{n}") for n in range(8)])
    return dataset


def label(dataset, person, seconds: float) -> Label:
    slot = slot_claim(dataset_or_project=dataset, actor=person)
    assert slot is not None
    return label_submit(slot=slot, actor=person, expectation=NO_CALL, seconds=seconds)


def read(dataset, person) -> tuple[list[float | None], list[str]]:
    """Return what is shown, and the statements that read labels for it."""
    with CaptureQueriesContext(connection) as captured:
        found = progress_of(dataset, person)
    reads = [query["sql"] for query in captured if query["sql"].startswith('SELECT "labeling_label"."id"')]
    return [found.done, found.today, found.seconds_each], reads


def test_what_came_since_is_all_that_is_read(many, ann):
    assert len(read(many, ann)[1]) == 1
    assert read(many, ann) == ([0, 0, None], [])
    for number, seconds in enumerate((10, 20, 60), 1):
        label(many, ann, seconds)
        shown, reads = read(many, ann)
        assert shown == [number, number, 20 if number == 3 else None]
        assert len(reads) == 1
    label(many, ann, 30)
    label(many, ann, 40)
    shown, reads = read(many, ann)
    assert shown == [5, 5, 30]
    (one,) = reads
    assert '"labeling_label"."id" >' in one


def test_a_label_taken_back_or_changed_counts_as_it_stands(many, ann):
    labels = [label(many, ann, seconds) for seconds in (10, 20, 60, 80)]
    assert read(many, ann)[0] == [4, 4, 40]
    label_withdraw(label=labels[-1], actor=ann)
    assert read(many, ann)[0] == [3, 3, 20]
    label_submit(slot=labels[2].slot, actor=ann, expectation=call(), seconds=14)
    shown = read(many, ann)[0]
    newest = Label.objects.filter(reviewer=ann, withdrawn_at=None).order_by("-id")
    assert shown == [3, 3, 17]
    assert [each.seconds for each in newest] == [14, 60, 20, 10]
