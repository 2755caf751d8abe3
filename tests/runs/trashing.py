"""Deleting in tests: what was deleted is past its days, and workers destroy it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from toolevals.workspace.models.trash import KEPT
from toolevals.workspace.services.trash import trash_put, trash_sweep

LONG = 1000.0


def destroyed(row: Any, actor: Any = None) -> int:
    """Delete a row and let its days in the trash pass; return how many rows the sweeper destroyed."""
    if not type(row).with_trash.get(pk=row.pk).is_deleted:
        trash_put(row=row, actor=actor)
    return swept()


def swept() -> int:
    """Let the days of everything in the trash pass; return how many rows the sweeper destroyed."""
    return trash_sweep(timezone.now() + KEPT + timedelta(minutes=1), LONG)
