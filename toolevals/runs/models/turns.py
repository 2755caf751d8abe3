"""At which turn of its conversation an example stands: counted once, because nobody reads inputs to filter by it."""

from __future__ import annotations

from django.db import models

from labeling.models import Revision


class RevisionTurn(models.Model):
    """How many messages of the user a revision shows; it never changes, as the revision does not."""

    revision = models.OneToOneField(Revision, on_delete=models.CASCADE, primary_key=True, related_name="+")
    turn = models.PositiveIntegerField()
