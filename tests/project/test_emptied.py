"""After a test with real transactions PostgreSQL's tables are empty, large or small, and as strict as before."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.fixtures import emptied
from toolevals.workspace.models import AuditEntry, Membership, Project, Role

pytestmark = pytest.mark.django_db(transaction=True)


def rows() -> dict[str, int]:
    """Return how many rows each table has that has any."""
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.django_table_names(only_existing=True, include_views=False):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
            found[table] = cursor.fetchone()[0]
    return {table: number for table, number in found.items() if number}


# Every table that holds a row has a page of 8 KB: the first makes all of them large, the second those of two pages.
@pytest.mark.parametrize(("large", "truncates"), [(1, True), (8193, True), (emptied.LARGE, False)])
def test_every_table_is_emptied_and_foreign_keys_are_asked_again(owner, project, monkeypatch, large, truncates):
    monkeypatch.setattr(emptied, "LARGE", large)
    AuditEntry.objects.bulk_create(AuditEntry(project=project, verb="x" * 40, target_id=project.pk) for _ in range(200))
    assert rows().keys() >= {Project._meta.db_table, Membership._meta.db_table, AuditEntry._meta.db_table}
    with CaptureQueriesContext(connection) as asked:
        call_command("flush", verbosity=0, interactive=False, reset_sequences=False, inhibit_post_migrate=True)
    assert rows() == {}
    assert any("TRUNCATE" in query["sql"] for query in asked) is truncates
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(project_id=project.pk, user_id=owner.pk, role=Role.VIEWER)


def test_sequences_start_anew_where_that_is_asked_for():
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('django_content_type', 'id'))")
    call_command("flush", verbosity=0, interactive=False, reset_sequences=True, inhibit_post_migrate=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('django_content_type', 'id'))")
        assert cursor.fetchone() == (1,)
