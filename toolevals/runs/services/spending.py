"""Count the tokens, cost and time of a run's conversations, from their columns and never from their documents."""

from __future__ import annotations

from math import floor
from typing import Any

from django.db.models import Count, QuerySet, Sum

from toolevals.grading.metrics.percentiles import percentile_of_sorted
from toolevals.runs.counts.spending import Spending
from toolevals.runs.models import Run, Transcript


def spending_of(run: Run, *, measured: int = 0) -> dict[str, Any] | None:
    """Return the document of a run's Spending; None where its transcripts say nothing of it.

    `measured` tools have calls of which it is known what they took.
    """
    rows = Transcript.objects.of_run(run).order_by()
    sums = rows.aggregate(
        conversations=Count("pk"),
        told=Count("tokens_in"),
        tokens_in=Sum("tokens_in"),
        tokens_out=Sum("tokens_out"),
        tokens_cached=Sum("tokens_cached"),
        timed=Count("latency_ms"),
    )
    spending = Spending(
        ends=_counts(rows, "ended"),
        models=_counts(rows, "model"),
        measured=measured,
        latency_p50=_percentile(rows, sums["timed"], 0.5),
        latency_p95=_percentile(rows, sums["timed"], 0.95),
        # What was asked again was paid for, too.
        cost=Transcript.objects.filter(run=run).aggregate(cost=Sum("cost"))["cost"],
        **sums,
    )
    return spending.to_document() if spending.says_anything else None


def _counts(rows: QuerySet[Transcript], column: str) -> dict[str, int]:
    counted = rows.exclude(**{column: ""}).order_by(column).values_list(column).annotate(count=Count("pk"))
    return dict(counted)


def _percentile(rows: QuerySet[Transcript], timed: int, share: float) -> float | None:
    """Return a percentile of the latencies as the core defines it, from the two numbers that it lies between."""
    if not timed:
        return None
    place = share * (timed - 1)
    ordered = rows.filter(latency_ms__isnull=False).order_by("latency_ms").values_list("latency_ms", flat=True)
    near = [value for value in ordered[floor(place) : floor(place) + 2] if value is not None]
    return percentile_of_sorted(near, place - floor(place) if len(near) > 1 else 0)
