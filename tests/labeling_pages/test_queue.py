"""The queue's pages: order, batches, assignment, and how a project labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.batches.services import Choice, batch_create
from labeling.models import Dataset, LabelBatch, LabelSlot, QueueOrder
from tests.labeling_pages.conftest import body
from toolevals.workspace.models import Job, Project, User


@pytest.fixture
def batch(dataset: Dataset, reviewer: User) -> LabelBatch:
    """A batch of one example."""
    return batch_create(dataset=dataset, actor=None, name="First", choice=Choice(names=("ex-1",)), owner=reviewer)


def address(name: str, *more: Any) -> str:
    return reverse(f"labeling:{name}", args=["shop", *more])


def test_an_adjudicator_makes_a_batch_and_reviewers_see_it(
    dataset: Dataset, adjudicator: User, reviewer: User, as_user: Callable[[User], Client]
):
    client = as_user(adjudicator)
    said = {"name": "Friday", "owner": str(reviewer.pk), "due_on": "2030-05-03", "names": "ex-0\nex-2\n", "first": ""}
    made = client.post(address("queue", "core"), said)
    batch = LabelBatch.objects.get()
    assert made["Location"] == address("batch", "core", batch.pk)
    page = body(as_user(reviewer).get(address("queue", "core")))
    assert "Friday" in page
    assert "0 of 4" in page
    assert "Create batch" not in page
    again = client.post(address("queue", "core"), said)
    assert again.status_code == 422
    assert "A batch with this name already exists." in body(again)


def test_a_batch_of_nothing_is_refused(dataset: Dataset, adjudicator: User, as_user: Callable[[User], Client]):
    batch_create(dataset=dataset, actor=None, name="All", choice=Choice())
    answer = as_user(adjudicator).post(address("queue", "core"), {"name": "Nothing", "names": "ex-0"})
    assert answer.status_code == 422
    assert "None of these examples can be added" in body(answer)


def test_the_order_is_changed(dataset: Dataset, adjudicator: User, as_user: Callable[[User], Client]):
    as_user(adjudicator).post(address("queue-order", "core"), {"order": "random", "order_seed": "7"})
    dataset.refresh_from_db()
    assert (dataset.order, dataset.order_seed) == (QueueOrder.RANDOM, 7)
    as_user(adjudicator).post(address("queue-order", "core"), {"order": "no such", "order_seed": "7"})
    dataset.refresh_from_db()
    assert dataset.order == QueueOrder.RANDOM


def test_a_batch_is_changed_assigned_and_closed(
    batch: LabelBatch, adjudicator: User, reviewer: User, as_user: Callable[[User], Client]
):
    client, here = as_user(adjudicator), [batch.dataset.slug, batch.pk]
    client.post(address("batch", *here), {"name": "Second", "owner": "", "due_on": "", "note": "soon"})
    batch.refresh_from_db()
    assert (batch.name, batch.owner, batch.note) == ("Second", None, "soon")
    client.post(address("batch-assign", *here), {"person": str(reviewer.pk)})
    assert LabelSlot.objects.get(assignee=reviewer).batch == batch
    assert "1 example is kept" in body(client.get(address("batch", *here)))
    client.post(address("batch-assign", *here), {"person": str(reviewer.pk), "unassign": "1"})
    assert not LabelSlot.objects.exclude(assignee=None).exists()
    client.post(address("batch-close", *here))
    page = body(client.get(address("batch", *here)))
    assert "closed" in page
    assert "Assign" not in page


def test_labelling_within_a_batch_stays_there(
    batch: LabelBatch, reviewer: User, as_user: Callable[[User], Client], swap: dict[str, str]
):
    client = as_user(reviewer)
    first = client.get(address("label") + f"?batch={batch.pk}")["Location"]
    assert first.endswith(f"?batch={batch.pk}")
    page = body(client.get(first))
    assert f'name="scope" value="batch:{batch.pk}"' in page
    slot = LabelSlot.objects.get(reviewer=reviewer)
    assert slot.batch == batch
    done = client.post(address("label-skip", slot.pk), {"scope": f"batch:{batch.pk}"}, headers=swap)
    assert not LabelSlot.objects.filter(reviewer=reviewer).exists()
    assert "Skipped ex-1" in body(done)


@pytest.mark.parametrize("key", ["no-uuid", "01a20131-7a08-7000-8000-0000153be2c8"])
def test_batches_that_are_not_there(dataset: Dataset, reviewer: User, as_user: Callable[[User], Client], key: str):
    assert as_user(reviewer).get(address("label") + f"?batch={key}").status_code == 404


def test_owners_set_how_the_project_labels(
    project: Project, dataset: Dataset, owner: User, as_user: Callable[[User], Client]
):
    client = as_user(owner)
    said = {"labels_wanted": "3", "share_percent": "20", "undo_seconds": "5", "decide_own": "on"}
    client.post(address("labelling-settings"), said)
    project.refresh_from_db()
    assert (project.labels_wanted, project.labels_share, project.undo_seconds) == (3, 0.2, 5)
    assert (project.decide_own, project.suggestions) == (True, False)
    assert Job.objects.get().kind == "overlap"
    client.post(address("labelling-settings"), said)
    assert Job.objects.count() == 1
    refused = client.post(address("labelling-settings"), said | {"labels_wanted": "6"})
    assert refused.status_code == 422


def test_the_list_of_batches_takes_as_many_queries_for_many(
    dataset: Dataset, adjudicator: User, as_user: Callable[[User], Client], django_assert_max_num_queries: Any
):
    client = as_user(adjudicator)
    for number in range(3):
        batch_create(dataset=dataset, actor=None, name=f"B{number}", choice=Choice(first=1))
    with django_assert_max_num_queries(18):
        assert body(client.get(address("queue", "core"))).count("0 of 2") == 3


def test_an_id_that_is_none_is_named_with_its_line_and_nothing_is_kept(
    batch: LabelBatch, dataset: Dataset, adjudicator: User, reviewer: User, as_user: Callable[[User], Client]
):
    client = as_user(adjudicator)
    said = {"person": str(reviewer.pk), "names": "ex-1\n\n<b>\nex-2"}
    page = body(client.post(address("batch-assign", "core", batch.pk), said, follow=True))
    assert "Nothing was assigned: No example of this batch has the id “&lt;b&gt;” (line 3), “ex-2” (line 4)." in page
    new = {"name": "Other", "names": "ex-0\nex-9"}
    assert "No example of this dataset has the id “ex-9” (line 2)." in body(client.post(address("queue", "core"), new))
    ask: dict[str, Any] = {"content_type": "application/json"}
    by_rest = {"person": str(reviewer.pk), "external_ids": ["ex-0", "ex-9"]}
    for act in (client.post, client.delete):
        refused = act("/api/v1/projects/shop/datasets/core/assignments/", by_rest, **ask)
        assert (refused.status_code, "/external_ids/1" in refused.content.decode()) == (422, True)
    assert not LabelSlot.objects.exclude(assignee=None).exists()
    assert LabelBatch.objects.get() == batch


def test_rest(dataset: Dataset, owner: User, reviewer: User, as_user: Callable[[User], Client]):
    client, base = as_user(owner), "/api/v1/projects/shop/"
    put: dict[str, Any] = {"content_type": "application/json"}
    said = {"labels_wanted": 2, "labels_share": 1.0, "undo_seconds": 0, "decide_own": False, "suggestions": True}
    assert client.put(f"{base}labelling/", said, **put).json() == said | {"job": None}
    assert client.get(f"{base}labelling/").json() == said
    order = client.put(f"{base}datasets/core/queue/", {"order": "random", "seed": 3}, **put)
    assert order.json() == {"order": "random", "seed": 3, "job": None}
    new = {"name": "API", "owner": str(reviewer.pk), "external_ids": ["ex-0"], "due_on": "2030-01-01"}
    made = client.post(f"{base}datasets/core/batches/", new, **put)
    assert made.status_code == 201, made.content
    assert (made.json()["wanted"], made.json()["labels"]) == (2, 0)
    assert client.post(f"{base}datasets/core/batches/", new, **put).status_code == 422
    assert client.post(f"{base}datasets/core/batches/", new | {"name": "B"}, **put).status_code == 409
    keep = {"person": str(reviewer.pk), "batch": made.json()["id"]}
    assert client.post(f"{base}datasets/core/assignments/", keep, **put).json() == {"examples": 1}
    assert client.delete(f"{base}datasets/core/assignments/", keep, **put).json() == {"examples": 1}
    claim = as_user(reviewer).post(f"{base}claims/", {"batch": made.json()["id"]}, **put)
    assert claim.json()["external_id"] == "ex-0"
    one = f"{base}datasets/core/batches/{made.json()['id']}/"
    assert client.put(one, {"name": "Other", "note": "now"}, **put).json()["note"] == "now"
    assert client.delete(one).json()["closed_at"]
    assert client.put(one, {"name": "Other"}, **put).status_code == 409
    bad = client.post(f"{base}datasets/core/batches/", {"name": "X", "strata": {"id": "1"}}, **put)
    assert bad.status_code == 422
