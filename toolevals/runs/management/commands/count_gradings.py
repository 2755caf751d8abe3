"""Count for gradings from before counts were kept: `manage.py count_gradings`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from toolevals.runs.aggregates.read_cases import counted_ensure
from toolevals.runs.models import CountedCases, Grading


class Command(BaseCommand):
    """Counts every finished grading that is not counted yet, the newest first."""

    help = "Count gradings from before an update by all that reports narrow them by; else their first view does."

    def handle(self, *args: Any, **options: Any) -> None:
        waiting = Grading.objects.filter(finished_at__isnull=False).exclude(
            pk__in=CountedCases.objects.values("grading")
        )
        for done, grading in enumerate(waiting.select_related("run__dataset_version").order_by("-created_at"), start=1):
            counted_ensure(grading)
            self.stdout.write(f"{done}: run {grading.run.number}, {grading}")
