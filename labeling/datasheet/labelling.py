"""Tell who labelled the examples of a datasheet: counted in SQL, of what is resolved alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from labeling.blindness import is_resolved
from labeling.datasheet.scope import Scope
from labeling.datasheet.values import Labelling
from labeling.models import Adjudication, Dispute

# Examples with more labels are counted together with those that have so many.
MOST_OVERLAP = 5


def labelling_of(scope: Scope) -> Labelling:
    """Count labels, people, hours, decisions and disputes."""
    labels = labelling_by_person(scope)
    adjudications = _of(scope, Adjudication.objects.filter(withdrawn_at=None)).aggregate(
        n=Count("pk"), people=Count("adjudicator", distinct=True), seconds=Sum("seconds")
    )
    disputes = _of(scope, Dispute.objects.all()).aggregate(
        open=Count("pk", filter=Q(settled_at=None)), settled=Count("pk", filter=Q(settled_at__isnull=False))
    )
    guidelines: Counter[int] = Counter()
    for _, guideline, n, _, _ in labels:
        guidelines[guideline] += n
    return Labelling(
        labels=guidelines.total(),
        people=len({person for person, *_ in labels if person}),
        nameless=sum(n for person, _, n, _, _ in labels if not person),
        timed=sum(timed for *_, timed, _ in labels),
        seconds=sum(seconds or 0.0 for *_, seconds in labels),
        overlap=_overlap(scope),
        guidelines=dict(sorted(guidelines.items())),
        adjudications=adjudications["n"],
        adjudicators=adjudications["people"],
        adjudication_seconds=adjudications["seconds"] or 0.0,
        disputes_open=disputes["open"],
        disputes_settled=disputes["settled"],
    )


def labelling_by_person(scope: Scope) -> list[Any]:
    """Return a row for each person and guideline: labels, how many of them were timed, and their seconds."""
    counted = scope.labels().values_list("reviewer", "guideline").annotate(n=Count("pk"))
    return list(counted.annotate(timed=Count("pk", filter=Q(seconds__gt=0)), time=Sum("seconds")))


def _overlap(scope: Scope) -> dict[int, int]:
    rows = scope.labels().values("revision").annotate(n=Count("pk"))
    wanted = {f"of_{n}": Count("n", filter=Q(n=n)) for n in range(1, MOST_OVERLAP)}
    wanted[f"of_{MOST_OVERLAP}"] = Count("n", filter=Q(n__gte=MOST_OVERLAP))
    counts = rows.aggregate(**wanted)
    return {n: counts[f"of_{n}"] for n in range(1, MOST_OVERLAP + 1) if counts[f"of_{n}"]}


def _of(scope: Scope, rows: QuerySet[Any]) -> QuerySet[Any]:
    resolved = rows.filter(is_resolved(), revision__in=scope.revisions()).order_by()
    return resolved.filter(created_at__lte=scope.until) if scope.until and rows.model is Adjudication else resolved
