"""Tell which of two runs' shared examples are compared.

Those of a stratum, or with a tag; and how strata divide them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from labeling.models import Example, VersionEntry
from reports.filters.case_filters import Filters, text
from toolevals.runs.models import CaseTag, Run

# What examples can be picked by: strata as the candidate's examples say them today, and tags on a case of either run.
PART: Final = (*Example.STRATA, "tagged")
Pairs = Sequence[tuple[int, int]]


class RunPair(Protocol):
    """A baseline, a candidate, and the conditions on their examples."""

    @property
    def before(self) -> Run: ...
    @property
    def after(self) -> Run: ...
    @property
    def part(self) -> Filters: ...


def read_part(parameters: Mapping[str, str]) -> Filters:
    """Return which examples the address asks for."""
    part: dict[str, Any] = {name: text(parameters, name) for name in PART}
    return Filters(**part)


def pairs_in(runs: RunPair, pairs: Pairs | None) -> Pairs | None:
    """Return those of the pairs of places (None: all, each next to its like) that are in the part that is asked for."""
    conditions = runs.part.conditions
    tag = conditions.pop("tagged", "")
    if conditions:
        entries = VersionEntry.objects.filter(version=runs.after.dataset_version_id)
        wanted = entries.filter(**{f"revision__example__{name}": value for name, value in conditions.items()})
        places = set(places_at(runs.after, wanted.values_list("position", flat=True).iterator()))
        pairs = [pair for pair in every_pair(runs, pairs) if pair[1] in places]
    if tag:
        sides = [_tagged(run, tag) for run in (runs.before, runs.after)]
        pairs = [pair for pair in every_pair(runs, pairs) if pair[0] in sides[0] or pair[1] in sides[1]]
    return pairs


def every_pair(runs: RunPair, pairs: Pairs | None) -> Pairs:
    """Return the pairs of places, one by one."""
    return [(place, place) for place in range(runs.before.size)] if pairs is None else pairs


def stratum_of_pairs(runs: RunPair, pairs: Pairs | None, name: str) -> list[str]:
    """Return the value of a stratum of each compared example, in their order; "" where it says none."""
    entries = VersionEntry.objects.filter(version=runs.after.dataset_version_id)
    values = dict(entries.values_list("position", f"revision__example__{name}").iterator())
    positions = runs.after.positions
    return [values.get(positions[after], "") for _, after in every_pair(runs, pairs)]


def places_at(run: Run, positions: Iterable[int]) -> Iterable[int]:
    """Return the places in a run of those positions in its version that it takes."""
    known = {position: place for place, position in enumerate(run.positions)}
    return (known[position] for position in positions if position in known)


def _tagged(run: Run, tag: str) -> set[int]:
    tags = CaseTag.objects.filter(transcript__run=run, transcript__replaced_at=None, tag=tag).order_by()
    return set(places_at(run, tags.values_list("transcript__entry__position", flat=True)))
