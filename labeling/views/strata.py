"""The strata that the rows of a page can be narrowed by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeling.models import Dataset, Example

MAX_STRATUM_VALUES = 30
# So many of a dataset's oldest and newest examples say which values there are.
LOOK_AT = 500


def strata_choices(dataset: Dataset, chosen: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the strata that have values here, each with its values and which is `chosen`."""
    found = Example.objects.of_dataset(dataset).strata_values(most=LOOK_AT)
    return [
        {
            "name": name,
            "title": name.replace("_", " "),
            "values": sorted({*values, *filter(None, [chosen.get(name, "")])}),
            "chosen": chosen.get(name, ""),
        }
        for name, values in found.items()
        if len(values) < MAX_STRATUM_VALUES
    ]
