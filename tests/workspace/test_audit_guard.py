"""The audit log is append-only in the database: only what destroys a project or deletes a person gets past it."""

from __future__ import annotations

import re
from contextlib import closing
from uuid import uuid4

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction

from scripts.dev.environment import ROOT
from toolevals.workspace.audit.services import audit_opened, audit_record
from toolevals.workspace.audit.triggers import REFUSED
from toolevals.workspace.models import AuditEntry, AuditOpening, Project, User

TABLE = AuditEntry._meta.db_table


@pytest.fixture
def entry(owner, project) -> AuditEntry:
    """The newest act in a project."""
    audit_record(project=project, actor=owner, verb="project_rename", target=project, detail={"name": "Shop"})
    return AuditEntry.objects.latest("pk")


def refused(statement: str, *values: str) -> None:
    """Check that the database refuses a statement, and that no act differs afterwards."""
    before = list(AuditEntry.objects.order_by("pk").values())
    with pytest.raises(IntegrityError, match=REFUSED), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)
    assert list(AuditEntry.objects.order_by("pk").values()) == before


CHANGES = ("actor_id = NULL", "verb = 'x'", "detail = '{}'", "project_id = NULL", "at = CURRENT_TIMESTAMP")


@pytest.mark.django_db
def test_no_statement_changes_or_removes_an_act(entry, owner):
    for change in CHANGES:
        refused(f"UPDATE {TABLE} SET {change}")
    refused(f"DELETE FROM {TABLE}")
    refused(f"DELETE FROM {TABLE} WHERE project_id IS NULL OR verb = %s", entry.verb)
    with pytest.raises(IntegrityError, match=REFUSED), transaction.atomic():
        owner.delete()
    with pytest.raises(IntegrityError, match=REFUSED), transaction.atomic():
        entry.project.delete()


@pytest.mark.django_db
def test_sqlite_replaces_no_act(entry):
    refused(f"INSERT OR REPLACE INTO {TABLE} SELECT * FROM {TABLE}")
    refused(f"UPDATE OR REPLACE {TABLE} SET verb = 'x'")


@pytest.mark.django_db(transaction=True)
def test_postgresql_truncates_no_act(entry):
    refused(f"TRUNCATE {TABLE}")
    refused(f"TRUNCATE {Project._meta.db_table} CASCADE")


@pytest.mark.django_db
def test_an_opening_lets_go_of_one_project_alone(entry, project, owner):
    other = Project.objects.create(slug="other", name="Other")
    audit_record(project=other, actor=owner, verb="project_create", target=other)
    with audit_opened(project=project):
        refused(f"UPDATE {TABLE} SET actor_id = NULL")
        project.delete()
        refused(f"DELETE FROM {TABLE}")
    assert [act.project for act in AuditEntry.objects.exclude(project=None)] == [other]
    refused(f"DELETE FROM {TABLE}")


@pytest.mark.django_db
def test_an_opening_takes_one_person_out_of_the_acts(entry, owner):
    ann = User.objects.create_user(email="ann@shop.example", name="Ann")
    audit_record(project=entry.project, actor=ann, verb="label_submit", target=entry.project)
    with audit_opened(person=ann):
        for change in CHANGES[1:2] + CHANGES[3:]:
            refused(f"UPDATE {TABLE} SET {change}")
        refused(f"UPDATE {TABLE} SET actor_id = NULL")
        refused(f"UPDATE {TABLE} SET actor_id = %s WHERE actor_id = %s", owner.pk.hex, ann.pk.hex)
        refused(f"DELETE FROM {TABLE}")
        AuditEntry.objects.filter(pk=entry.pk).update(detail={"name": "Person 7"})
        ann.delete()
    entry.refresh_from_db()
    assert (entry.detail, entry.actor) == ({"name": "Person 7"}, owner)
    assert AuditEntry.objects.get(verb="label_submit").actor is None


@pytest.mark.django_db(transaction=True)
def test_an_opening_that_is_left_cannot_be_committed(project):
    with pytest.raises(IntegrityError), transaction.atomic():
        AuditOpening.objects.create(project=project.pk, held_by_id=uuid4())
    assert not AuditOpening.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_second_role_appends_and_has_no_way_past(entry, owner, project):
    """The statements are those of docs/operating.md, for a role of the test's own."""
    role = f"toolevals_app_{uuid4().hex[:8]}"
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    [page] = re.findall(r"```sql\n(CREATE ROLE.*?)```", page, re.DOTALL)
    statements = page.replace("toolevals_app", role).replace("toolevals_owner", "CURRENT_USER")
    own = connection.get_connection_params()
    asked = {"dbname": own["dbname"], "host": own.get("host"), "port": own.get("port"), "user": role}
    with connection.cursor() as cursor:
        cursor.execute(statements)
    try:
        with closing(psycopg.connect(**asked, password="known", autocommit=True)) as app:
            for statement in (
                f"UPDATE {TABLE} SET verb = 'x'",
                f"TRUNCATE {TABLE}",
                f"ALTER TABLE {TABLE} DISABLE TRIGGER ALL",
                f"DROP TRIGGER audit_no_change ON {TABLE}",
                "DROP FUNCTION toolevals_audit_guard() CASCADE",
                "SET session_replication_role = replica",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    app.execute(statement)
            for statement in (f"DELETE FROM {TABLE}", f"UPDATE {TABLE} SET detail = '{{}}'"):
                with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match=REFUSED):
                    app.execute(statement)
            app.execute(f"UPDATE {Project._meta.db_table} SET name = 'Renamed'")
            with app.transaction():
                opening = "INSERT INTO workspace_auditopening (id, project, held_by_id) VALUES (%s, %s, %s)"
                app.execute(opening, [uuid4(), project.pk, uuid4()])
                app.execute(f"DELETE FROM {TABLE} WHERE project_id = %s", [project.pk])
                app.execute("DELETE FROM workspace_auditopening")
        assert not AuditEntry.objects.filter(project=project).exists()
        project.refresh_from_db()
        assert project.name == "Renamed"
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
