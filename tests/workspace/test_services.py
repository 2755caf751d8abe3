"""Services that no page shows in full."""

from __future__ import annotations

import io

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Upload, User
from toolevals.workspace.uploads.services import KEPT, upload_store, uploads_forget


def test_an_upload_is_kept_under_its_id_whatever_it_is_called(project, owner):
    upload = upload_store(project=project, actor=owner, file=io.BytesIO(b"{}\n"), name="../../etc/passwd")
    assert upload.file.name == f"{project.pk}/{upload.pk}"
    with upload.file.open() as file:
        assert file.read() == b"{}\n"
    assert (upload.name, upload.size) == ("../../etc/passwd", 3)
    assert AuditEntry.objects.get(verb="upload_store").actor == owner


def test_an_upload_that_is_too_large_is_refused_and_leaves_nothing(project, settings):
    settings.UPLOAD_MAX_BYTES = 2
    with pytest.raises(InvalidDocument, match="the limit is 2"):
        upload_store(project=project, actor=None, file=io.BytesIO(b"abc"), name="a")
    assert not Upload.objects.exists()


def test_an_upload_whose_row_cannot_be_written_leaves_no_file(project, monkeypatch):
    stored: list[Upload] = []

    def broken(**fields):
        stored.append(fields["target"])
        raise IntegrityError

    monkeypatch.setattr("toolevals.workspace.uploads.services.audit_record", broken)
    with pytest.raises(IntegrityError):
        upload_store(project=project, actor=None, file=io.BytesIO(b"abc"), name="a")
    assert not stored[0].file.storage.exists(f"{project.pk}/{stored[0].pk}")


def test_old_uploads_are_deleted_with_their_files(project):
    upload = upload_store(project=project, actor=None, file=io.BytesIO(b"abc"), name="a")
    assert uploads_forget(database_now()) == 0
    assert uploads_forget(database_now() + KEPT) == 1
    assert not upload.file.storage.exists(f"{project.pk}/{upload.pk}")
    assert not Upload.objects.exists()


@pytest.mark.parametrize(("email", "password"), [("nonsense", None), ("a@example.org", "short")])
def test_a_malformed_address_and_a_weak_password_are_refused(db, email, password):
    with pytest.raises(ValidationError):
        user_create(actor=None, email=email, name="A", password=password)
    assert not User.objects.exists()


def test_an_address_belongs_to_one_account(db):
    user_create(actor=None, email="a@example.org", name="A")
    with pytest.raises((ValidationError, IntegrityError)):
        user_create(actor=None, email=" A@EXAMPLE.org", name="A")
