"""Store settings of the installation that a person changed on the page."""

from __future__ import annotations

from django.db import models

from toolevals.workspace.accounts.models import User
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField


class InstallationSetting(models.Model):
    """A setting that stands in place of its default; where the environment sets it, the row is not asked."""

    id = PublicIdField()
    name = models.CharField(max_length=60, unique=True)
    value = DocumentField()
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    changed_at = MomentField(auto_now=True)
