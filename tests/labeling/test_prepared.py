"""A query that is put together once answers as the one that is put together each time."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from labeling.models import Dataset, Draft, LabelSlot
from toolevals.workspace.models import AuditEntry, Project, User
from toolevals.workspace.querysets.prepared import A_MOMENT, A_NUMBER, A_TEXT, ANOTHER_MOMENT, PreparedQuery, an_id
from toolevals.workspace.querysets.prepared_writes import PreparedDelete, PreparedInsert, PreparedUpdate


def test_each_value_takes_the_place_of_its_stand_in(dataset, examples, ann, ben, claim, django_assert_num_queries):
    def build(dataset: Any, actor: Any, now: Any) -> Any:
        slots = LabelSlot.objects.of_dataset(dataset).free(now).for_reviewer(actor)
        return slots.in_turn().values_list("number", "revision__example__external_id")

    query = PreparedQuery(build, {"dataset": an_id(1), "actor": an_id(2), "now": A_MOMENT})
    claim(ann)
    for user in (ann, ben, ann):
        now = timezone.now()
        expected = list(build(dataset.pk, user.pk, now))
        with django_assert_num_queries(1):
            assert query.rows(dataset=dataset.pk, actor=user.pk, now=now) == expected
    assert query.rows(dataset=an_id(3), actor=ann.pk, now=timezone.now()) == []


def test_objects_come_with_what_is_joined_and_added(dataset, examples, ann, claim, django_assert_num_queries):
    def build(actor: Any) -> Any:
        slots = LabelSlot.objects.filter(reviewer=actor).select_related("revision__tools", "batch")
        return slots.annotate(name=F("revision__example__external_id"))

    query, slot = PreparedQuery(build, {"actor": an_id(1)}), claim(ann)
    for _ in range(2):
        with django_assert_num_queries(1):
            found = query.first(actor=ann.pk)
            assert found == slot
            assert found.revision.tools == slot.revision.tools
            assert found.batch is None
            assert found.name == slot.revision.example.external_id
        assert (found.lease_until, found.revision.input) == (slot.lease_until, slot.revision.input)
    found.save()
    assert query.first(actor=an_id(2)) is None


def test_values_are_those_of_python(dataset):
    def build(most: int) -> Any:
        rows = Dataset.objects.annotate(place=Window(RowNumber(), order_by="pk"))
        return rows.filter(place__lte=most).values_list("pk", "place", "created_at")

    query = PreparedQuery(build, {"most": A_NUMBER})
    assert query.values(most=1) == [[dataset.pk, 1, dataset.created_at]]
    assert query.values(most=0) == []


def test_a_text_takes_the_place_of_its_stand_in(dataset):
    query = PreparedQuery(lambda slug: Dataset.objects.filter(slug=slug), {"slug": A_TEXT})
    assert query.first(slug="nothing") is None
    assert query.first(slug=dataset.slug) == dataset


def test_a_number_takes_the_place_of_its_stand_in(dataset):
    query = PreparedQuery(lambda seconds: Project.objects.filter(undo_seconds=seconds), {"seconds": A_NUMBER})
    dataset.project.undo_seconds = 61
    dataset.project.save()
    assert query.objects(seconds=60) == []
    assert query.objects(seconds=61) == [dataset.project]


def test_the_database_plans_a_query_once_for_a_connection(dataset):
    query = PreparedQuery(lambda slug: Dataset.objects.filter(slug=slug).values_list("slug"), {"slug": A_TEXT})
    with CaptureQueriesContext(connection) as sent:
        for _ in range(2):
            assert query.rows(slug=dataset.slug) == [(dataset.slug,)]
    # A log tells the statement as it tells every other.
    assert f"'{dataset.slug}'" in sent[1]["sql"]
    with connection.cursor() as cursor:
        planned = "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement = %s"
        cursor.execute(planned, [place(query)])
        assert cursor.fetchall() == [(2,)]


def test_no_query_is_planned_again_for_its_values(dataset, examples, ann, ben):
    def build(dataset: Any, actor: Any, now: Any) -> Any:
        return LabelSlot.objects.of_dataset(dataset).free(now).for_reviewer(actor).values_list("pk")

    query = PreparedQuery(build, {"dataset": an_id(1), "actor": an_id(2), "now": A_MOMENT})
    for _ in range(8):
        for user in (ann, ben):
            assert query.rows(dataset=dataset.pk, actor=user.pk, now=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE %s",
            ["%labeling_questionview%"],
        )
        assert cursor.fetchall() == [(16, 0)]


def test_what_depends_on_its_values_is_planned_each_time(dataset):
    query = PreparedQuery(
        lambda slug: Dataset.objects.filter(slug=slug).values_list("order"), {"slug": A_TEXT}, by_values=True
    )
    assert query.rows(slug=dataset.slug) == [(dataset.order,)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM pg_prepared_statements WHERE statement = %s", [place(query)])
        assert cursor.fetchall() == [(0,)]


def test_an_update_changes_what_it_finds_and_tells_how_many(dataset, examples, ann, claim, django_assert_num_queries):
    update = PreparedUpdate(
        lambda actor, until: (LabelSlot.objects.filter(reviewer=actor), {"lease_until": until, "assignee": None}),
        {"actor": an_id(1), "until": ANOTHER_MOMENT},
    )
    slot, others = claim(ann), LabelSlot.objects.filter(lease_until=None).count()
    for until in (timezone.now(), timezone.now()):
        with django_assert_num_queries(1):
            assert update.run(actor=ann.pk, until=until) == 1
        slot.refresh_from_db()
        assert slot.lease_until == until
    assert update.run(actor=an_id(3), until=timezone.now()) == 0
    assert LabelSlot.objects.filter(lease_until=None).count() == others


def test_an_insert_stores_what_the_manager_would(project, ann, django_assert_num_queries):
    insert, said = PreparedInsert(AuditEntry), {"verb": "try", "target_type": "x", "target_id": an_id(1)}
    for actor, detail in ((ann, {"a": [1, None, "é"]}), (None, {})):
        with django_assert_num_queries(1):
            made = insert.create(project=project, actor=actor, detail=detail, **said)
        stored = AuditEntry.objects.get(pk=made.pk)
        assert (stored.actor, stored.detail, stored.at, stored.verb) == (actor, detail, made.at, "try")
        made.verb = "again"
        made.save()
        assert AuditEntry.objects.get(pk=made.pk).verb == "again"


def test_behind_a_pool_nothing_is_prepared(dataset, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {})
    query = PreparedQuery(lambda slug: Dataset.objects.filter(slug=slug).values_list("name"), {"slug": A_TEXT})
    assert query.rows(slug=dataset.slug) == [(dataset.name,)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM pg_prepared_statements WHERE statement = %s", [place(query)])
        assert cursor.fetchall() == [(0,)]


@pytest.mark.parametrize(("is_pooled", "cursors"), [(True, 0), (False, 1)])
def test_behind_a_pool_no_cursor_stays_open(dataset, monkeypatch, is_pooled, cursors):
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", is_pooled)
    query = PreparedQuery(lambda slug: Dataset.objects.filter(slug=slug).values_list("name"), {"slug": A_TEXT})
    for rows in (query.stream(slug=dataset.slug), Dataset.objects.filter(slug=dataset.slug).iterator(chunk_size=1)):
        assert next(rows)
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM pg_cursors WHERE name LIKE '%%django%%'")
            assert cursor.fetchall() == [(cursors,)]
        assert list(rows) == []


def place(query: PreparedQuery) -> str:
    """Return the text of a query as the database is sent it."""
    text: str = query._compiled["postgresql"].text
    return text.replace("%s", "$1")


def test_a_deletion_takes_the_rows_of_its_values_alone(dataset, examples, ann, ben, django_assert_num_queries):
    revision, other = examples[:2]
    for user, place in ((ann, revision), (ann, other), (ben, revision)):
        Draft.objects.create(user=user, revision=place, document={})
    deletion = PreparedDelete(
        lambda revision, user: Draft.objects.filter(revision=revision, user=user),
        {"revision": an_id(1), "user": an_id(2)},
    )
    for expected in (1, 0):
        with django_assert_num_queries(1):
            assert deletion.run(revision=revision.pk, user=ann.pk) == expected
    left = set(Draft.objects.values_list("user", "revision"))
    assert left == {(ann.pk, other.pk), (ben.pk, revision.pk)}


def test_an_account_is_found_by_its_id_and_only_where_it_belongs(project, ann, ben, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert User.objects.get(pk=ann.pk) == ann
    with pytest.raises(User.DoesNotExist):
        User.objects.get(pk=an_id(1))
    assert User.objects.get(pk=str(ann.pk), email=ann.email) == ann
    assert project.members.get(pk=ann.pk) == ann
    project.memberships.filter(user=ben).delete()
    with pytest.raises(User.DoesNotExist):
        project.members.get(pk=ben.pk)
