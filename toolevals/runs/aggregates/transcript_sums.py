"""Sum up the transcripts of a run: how they ended, who answered, and what they took, in one query."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from math import floor
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, Max, Min, Q, QuerySet, Sum

from toolevals.grading.metrics.means import percentile_of_sorted
from toolevals.json_types import JsonObject
from toolevals.runs.aggregates.spending import Spending
from toolevals.runs.models import Run, Transcript

_TOKENS = ("tokens_in", "tokens_out", "tokens_cached")


@dataclass(frozen=True, slots=True)
class TranscriptSums:
    """The sums over a run's transcripts, by whether they hold, how they ended, and who answered.

    Tokens, cost and time come from columns and never from documents.
    """

    run: Run
    rows: list[JsonObject]

    @property
    def first(self) -> datetime | None:
        """Return when the first of the transcripts was made, those included that were replaced."""
        return min((row["first"] for row in self.rows), default=None)

    @property
    def last(self) -> datetime | None:
        """Return when the last was made."""
        return max((row["last"] for row in self.rows), default=None)

    @property
    def any_spent(self) -> bool:
        """Return whether any says its price or its tokens."""
        return any(row["told"] or row["priced"] for row in self.rows)

    def spending(self, *, measured: int = 0) -> JsonObject | None:
        """Return the document of the run's Spending; None where its transcripts say nothing of it.

        `measured` tools have calls of which it is known what they took.
        """
        rows, every = Transcript.objects.of_run(self.run).order_by(), Transcript.objects.filter(run=self.run)
        current = [row for row in self.rows if row["holds"]]
        timed = sum(row["timed"] for row in current)
        models = _counts(current, "model")
        priced = any(row["priced"] for row in self.rows)
        spending = Spending(
            conversations=sum(row["conversations"] for row in current),
            told=sum(row["told"] for row in current),
            timed=timed,
            ends=_counts(current, "ended"),
            # In the database's order of texts.
            models=models if len(models) < 2 else _counted(rows, "model"),
            measured=measured,
            latency_p50=_percentile(rows, timed, 0.5),
            latency_p95=_percentile(rows, timed, 0.95),
            # What was asked again was paid for, too. Fractions are added up in one order.
            cost=every.aggregate(cost=Sum("cost"))["cost"] if priced else None,
            **{name: _sum(current, name) for name in _TOKENS},
        )
        return spending.to_document() if spending.says_anything else None


def transcript_sums(run: Run) -> TranscriptSums:
    """Return the sums over a run's transcripts."""
    return TranscriptSums(run, [dict(zip(_NAMES, row, strict=True)) for row in _sums(run)])


def _sums(run: Run) -> QuerySet[Transcript, Any]:
    holds = ExpressionWrapper(Q(replaced_at__isnull=True), output_field=BooleanField())
    kinds = Transcript.objects.filter(run=run).annotate(holds=holds).values("holds", "ended", "model")
    return kinds.annotate(**_SUMMED).order_by("ended", "model", "holds").values_list(*_NAMES)


_SUMMED = {
    "conversations": Count("pk"),
    "told": Count("tokens_in"),
    "timed": Count("latency_ms"),
    "priced": Count("cost"),
    "first": Min("created_at"),
    "last": Max("created_at"),
    **{f"sum_{name}": Sum(name) for name in _TOKENS},
}
_NAMES = ("holds", "ended", "model", *_SUMMED)


def _sum(rows: list[JsonObject], name: str) -> int | None:
    """Return the sum of a column; None where no transcript tells it."""
    told = [row[f"sum_{name}"] for row in rows if row[f"sum_{name}"] is not None]
    return sum(told) if told else None


def _counts(rows: list[JsonObject], column: str) -> dict[str, int]:
    """Return how many transcripts have each value of a column that is not empty."""
    counts: Counter[str] = Counter()
    for row in rows:
        if row[column]:
            counts[row[column]] += row["conversations"]
    return dict(counts)


def _counted(rows: QuerySet[Transcript], column: str) -> dict[str, int]:
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
