"""Test that counting a grading passes over no example twice, however many there are."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labeling.batches.ordering import disagreement_set
from labeling.models import Revision
from tests.runs.building import STATUS, example, version_of
from toolevals.runs.counts import turns
from toolevals.runs.models import RevisionTurn, Run

pytestmark = pytest.mark.django_db
FEW = 5


@pytest.fixture
def version(project):
    return version_of(project, [example(f"turn-{n}", "Where is it?", STATUS) for n in range(FEW)])


def reads(captured: Any) -> list[str]:
    return [query["sql"] for query in captured if query["sql"].startswith("SELECT")]


def test_turns_are_looked_for_behind_what_was_written(version, monkeypatch):
    monkeypatch.setattr(turns, "AT_ONCE", 2)
    with CaptureQueriesContext(connection) as captured:
        turns.turns_write(Run(dataset_version=version))
    first, *later = reads(captured)
    assert '"position" >' not in first
    assert len(later) == 3
    assert all('"position" >' in query for query in later)
    written = set(RevisionTurn.objects.values_list("revision", "turn"))
    assert written == {(pk, 1) for pk in version.entries.values_list("revision", flat=True)}
    with CaptureQueriesContext(connection) as captured:
        turns.turns_write(Run(dataset_version=version))
    assert len(captured) == 1


def test_disagreement_is_read_by_the_revisions_alone(project, version):
    other = version_of(project, [example("elsewhere", "Where is it?", STATUS)], slug="other")
    own, foreign = (each.entries.values_list("revision", flat=True)[0] for each in (version, other))
    with CaptureQueriesContext(connection) as captured:
        assert disagreement_set(dataset=version.dataset, values={own: 0.5, foreign: 0.5}) == 1
    # A condition on the dataset makes SQLite go through all of its examples.
    conditions = reads(captured)[0].partition(" WHERE ")[2]
    assert "dataset_id" not in conditions
    found = dict(Revision.objects.filter(pk__in=[own, foreign]).values_list("pk", "disagreement"))
    assert found == {own: 0.5, foreign: 0}
