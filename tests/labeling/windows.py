"""The end of the time in which labels can be changed, without waiting for it."""

from __future__ import annotations

from datetime import datetime, timedelta

from labeling.adjudicate.resolution import revision_settle
from labeling.expectations.meaning import groups
from labeling.models import Label, Revision
from toolevals.workspace.clock import database_now

LONG = 24 * 3600.0


def later(seconds: float = LONG) -> datetime:
    """Return a moment after the time to change any label has passed, or so many seconds from now."""
    return database_now() + timedelta(seconds=seconds)


def differing_compared(revision: Revision) -> None:
    """Let the time pass for a revision whose labels differ; what agrees can still be changed."""
    if len(groups(Label.objects.filter(revision=revision).in_force())) > 1:
        revision_settle(revision=revision, now=later())
