"""A person is deleted: every table and every file is searched for them before and afterwards."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.base import ContentFile
from django.db import IntegrityError, connection, models, transaction
from django.test import Client

from tests.access.populated import populate
from tests.access.world import World
from tests.fixtures.people import member, person
from tests.workspace.searched import files_with, places
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.fields import DocumentField
from toolevals.workspace.jobs.services import job_create
from toolevals.workspace.models import AuditEntry, Invitation, Job, Role, SignInFailure, Upload, User
from toolevals.workspace.people.departure import user_delete
from toolevals.workspace.people.rows import column_name, person_columns, person_export, rule_of
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.uploads.services import file_store

NAME, MAILBOX = "Zilpha Quagmire", "zilpha.quagmire"
EMAIL = f"{MAILBOX}@walk.example"
WORDS = (NAME, EMAIL, MAILBOX)


def everything_named(world: World, zilpha: User) -> None:
    """Let a row of every table name the person, by every column and every text that can."""
    EmailAddress.objects.create(user=zilpha, email=EMAIL)
    Authenticator.objects.create(user=zilpha, type="totp", data={"secret": "hush"})
    SocialAccount.objects.create(user=zilpha, provider="openid", uid=EMAIL, extra_data={"name": NAME})
    UserSession.objects.create(user=zilpha, ip="192.0.2.7", user_agent="walk", session_key="hush")
    said: Any = {"by": NAME, "to": [f"{EMAIL.upper()}: done"]}
    # Acts are only ever added.
    audit_record(project=world.project, actor=zilpha, verb="job_cancel", target=world.project, detail=said)
    for column in person_columns():
        if column.model is AuditEntry:
            continue
        row = column.model._base_manager.order_by("pk").first()
        assert row is not None, column.model
        try:
            with transaction.atomic():
                column.model._base_manager.filter(pk=row.pk).update(**{column.name: zilpha.pk})
        except IntegrityError:
            assert column.model._base_manager.filter(**{column.name: zilpha.pk}).exists(), column
    for name in settings.PERSON_TEXTS:
        label, _, text = name.partition(":")
        model: type[models.Model] = apps.get_model(label)
        if model is AuditEntry:
            continue
        is_document = isinstance(model._meta.get_field(text), DocumentField)
        row = model._base_manager.order_by("pk").first()
        assert row is not None, name
        model._base_manager.filter(pk=row.pk).update(**{text: said if is_document else EMAIL})
    stored = file_store(project=world.project, actor=zilpha, content=ContentFile(EMAIL.encode()), name="labels.csv")
    job = job_create(project=world.project, actor=zilpha, kind="export", title="An export", batches=[])
    Job.objects.filter(pk=job.pk).update(report={"upload": str(stored.pk)})
    SignInFailure.objects.create(email=EMAIL, address="192.0.2.7")


def the_world() -> World:
    project = project_create(actor=None, slug="shop", name="Shop support")
    return World(project, {role: member(project, role) for role in Role}, person("Outsider"))


@pytest.mark.django_db(transaction=True)
def test_nothing_names_a_deleted_person() -> None:
    world = the_world()
    zilpha = User.objects.create_user(email=EMAIL, name=NAME, password="a long enough password")
    member_set(project=world.project, actor=None, user=zilpha, role=Role.REVIEWER)
    populate(world)
    everything_named(world, zilpha)
    client = Client()
    client.force_login(zilpha)
    sessions = Session.objects.count()
    before = places(*WORDS)
    assert {"workspace_user.name", "workspace_user.email", "workspace_signinfailure.email"} <= before
    assert {name.replace(".", "_").replace(":", ".") for name in settings.PERSON_TEXTS} <= before
    assert {path.parent.name for path in files_with(*WORDS)} >= {str(world.project.pk)}
    assert (Path(settings.DATABASES["default"]["NAME"]).name in before) == (connection.vendor == "sqlite")
    decided = set(Invitation.objects.filter(email=EMAIL).values_list("pk", flat=True))
    exported = exported_tables(zilpha)
    kept = {
        column_name(column): column.model._base_manager.filter(**{column.name: zilpha.pk}).count()
        for column in person_columns()
    }

    pseudonym = user_delete(person=zilpha, actor=None)

    assert places(*WORDS) == set()
    zilpha.refresh_from_db()
    assert (zilpha.name, zilpha.email, zilpha.state) == (pseudonym, "former-member-1@deleted.invalid", "deleted")
    assert Session.objects.count() == sessions - 1
    assert client.get("/profile/").status_code == 302
    assert {each.email for each in Invitation.objects.filter(pk__in=decided)} == {zilpha.email}
    assert AuditEntry.objects.get(verb="user_delete").target_id == zilpha.pk
    # The files that jobs wrote are gone.
    kept["workspace.upload:user"] -= 2
    # The one mention went with whom it mentions.
    kept["workspace.mention:actor"] -= 1
    for column in person_columns():
        left = column.model._base_manager.filter(**{column.name: zilpha.pk}).count()
        assert left == (kept[column_name(column)] if rule_of(column) == "kept" else 0), column_name(column)
    assert {column.model._meta.db_table for column in person_columns()} <= exported.keys()
    assert not Upload.objects.filter(name="labels.csv").exists()


def exported_tables(zilpha: User) -> dict[str, list[Any]]:
    """Return the rows of the person's export by table; none of them is a secret."""
    with io.BytesIO() as file:
        person_export(zilpha, file)
        with zipfile.ZipFile(file) as opened:
            texts = {name: opened.read(name).decode() for name in opened.namelist()}
    assert "argon2" not in str(texts)
    assert "hush" not in str(texts)
    assert zilpha.password not in str(texts)
    rows = {
        name.removesuffix(".jsonl"): [json.loads(line) for line in text.splitlines()]
        for name, text in texts.items()
        if name.endswith(".jsonl")
    }
    assert [(each["name"], each["email"]) for each in rows["workspace_user"]] == [(NAME, EMAIL)]
    return rows


def test_every_column_that_points_to_a_person_has_a_rule_and_every_rule_a_column() -> None:
    assert settings.PERSON_ROWS.keys() == {column_name(column) for column in person_columns()}


def test_columns_that_hold_secrets_are_in_no_export() -> None:
    looks_secret = ("password", "sealed", "secret", "private")
    columns = {column_name(column) for model in apps.get_models() for column in model._meta.concrete_fields}
    for name in columns:
        if any(word in name.partition(":")[2] for word in looks_secret):
            assert name in settings.SECRET_COLUMNS, name
    assert set(settings.SECRET_COLUMNS) <= columns
