"""Says what goes with a project that is deleted: everything in it, traces too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolevals.runs import trash
from toolevals.traces.models import Trace


class Projects(trash.Projects):
    """Projects with everything in them, traces too."""

    def takes(self, row: Any) -> Sequence[tuple[int, str, str]]:
        return [*super().takes(row), (Trace.objects.filter(project=row).count(), "trace", "traces")]
