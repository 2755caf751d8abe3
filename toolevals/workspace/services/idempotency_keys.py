"""Forgets the answers that are kept for requests which are sent again. A worker asks; it has no REST interface."""

from __future__ import annotations

from datetime import datetime, timedelta

from toolevals.workspace.models import IdempotencyKey

KEPT = timedelta(days=1)


def idempotency_keys_forget(now: datetime) -> None:
    """Delete the answers that are older than a day."""
    IdempotencyKey.objects.filter(created_at__lt=now - KEPT).delete()
