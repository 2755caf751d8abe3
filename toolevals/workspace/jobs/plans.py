"""Tell what a job is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.workspace.models import Queue


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """A part of a job: the Celery task that does it, what to do, and how many items it holds.

    `payload` is JSON: ids and ranges, not contents. Batches of one stage run at once and in any order; a stage begins
    when the one before is done. `queue` is the kind of work, by which workers share it.
    """

    task: str
    payload: Mapping[str, Any]
    size: int = 1
    stage: int = 0
    queue: Queue = Queue.IO
