"""Show the strata that the rows of a page can be narrowed by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeling.models import Dataset, Example
from labeling.queue.shown_strata import hidden_strata
from toolevals.workspace.models import Role

MAX_STRATUM_VALUES = 30
LOOK_AT = 500


def strata_choices(
    dataset: Dataset, chosen: Mapping[str, str], role: Role, *, most: int | None = LOOK_AT
) -> list[dict[str, Any]]:
    """Return the strata that have values someone of this role is told, each with its values and which is `chosen`.

    `most`: so many of a dataset's oldest and newest examples say which values there are; None looks at all.
    """
    hidden = hidden_strata(dataset, role)
    found = Example.objects.of_dataset(dataset).strata_values(hidden=hidden, most=most)
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
