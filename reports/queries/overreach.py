"""What a grading's wrong calls cost and give away; kept, because a finished grading does not change."""

from __future__ import annotations

from django.core.cache import cache

from reports.analyses.overreach import Overreach, overreach_of
from reports.filters.asked import Filters
from reports.filters.offered import A_DAY, specs_by_name
from reports.filters.placing import matrix_counts
from toolevals.runs.counted import View
from toolevals.runs.models import Grading


def grading_overreach(grading: Grading) -> Overreach:
    """Return the cells of the matrix of aligned calls in which more was called than was due."""
    key = f"reports:overreach:{grading.pk}"
    found: Overreach | None = cache.get(key)
    if found is None:
        found = overreach_of(matrix_counts(grading, Filters(View.ALIGNED)), specs_by_name(grading))
        cache.set(key, found, timeout=A_DAY)
    return found
