"""Store the turn of its conversation at which an example is: counted once, so that filters need not read inputs."""

from __future__ import annotations

from django.db import models

from labeling.models import Revision


class RevisionTurn(models.Model):
    """The number of the user's messages that a revision shows; it never changes, as the revision does not."""

    revision = models.OneToOneField(Revision, on_delete=models.CASCADE, primary_key=True, related_name="+")
    turn = models.PositiveIntegerField()
