"""Stores files handed in, until the job that reads them is done."""

from __future__ import annotations

from django.db import models

from toolevals.workspace.accounts.models import User
from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.projects.models import Project


def upload_path(upload: Upload, filename: str) -> str:
    """Return where the file is kept: named by the upload's id alone, never by what the sender called it."""
    return f"{upload.project_id}/{upload.id}"


class Upload(models.Model):
    """One file as it arrived."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # What the sender called it: for people to read, never a path.
    name = models.CharField(max_length=255)
    file = models.FileField(upload_to=upload_path, max_length=200)
    size = models.PositiveBigIntegerField()
    created_at = MomentField(auto_now_add=True)
