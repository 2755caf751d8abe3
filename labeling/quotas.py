"""How many examples of what a dataset should hold, and what it lacks."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from django.db.models import Count

from labeling.models import Dataset, Example

# The shares of a well-made set, by stratum and value.
SHARES: Mapping[tuple[str, str], float] = {
    ("bucket", "selection"): 0.40,
    ("bucket", "arguments"): 0.10,
    ("bucket", "result_use"): 0.20,
    ("bucket", "error_recovery"): 0.15,
    ("bucket", "no_call"): 0.15,
    ("difficulty", "easy"): 0.4,
    ("difficulty", "medium"): 0.4,
    ("difficulty", "hard"): 0.2,
}


def deficits(dataset: Dataset) -> dict[tuple[str, str], int]:
    """Return how many examples with gold each (stratum, value) lacks; what lacks none is left out."""
    examples = Example.objects.of_dataset(dataset).order_by()
    size = examples.count()
    found: dict[tuple[str, str], int] = {}
    for name in {stratum for stratum, _ in SHARES}:
        rows = examples.exclude(current__gold=None).values_list(name).annotate(n=Count("pk"))
        found.update({(name, value): count for value, count in rows})
    missing = {pair: ceil(share * size) - found.get(pair, 0) for pair, share in SHARES.items()}
    return {pair: count for pair, count in missing.items() if count > 0}
