"""Work out how much of the gold that runs were graded against is wrong at least, as far as double labels tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count

from labeling.agreement.cache import pairs_tallied
from labeling.agreement.cases import DECIDED
from labeling.models import DatasetVersion, GoldSource, VersionEntry
from toolevals.grading.metrics.label_noise import TOO_FEW, GoldCounts, LabelNoise, label_noise
from toolevals.grading.values.canonical import digest
from toolevals.runs.models import Run
from toolevals.workspace.models import User

KEPT: Final = 24 * 3600
NOT_COUNTED: Final = "the labels are not counted yet"


def run_noise(
    run: Run, version: DatasetVersion | None = None, *, actor: User | None = None, begin: bool = False
) -> LabelNoise:
    """Return the label noise of the gold that a run was graded against, by default its own version's.

    Runs and versions have their dataset loaded. `begin` lets a job count the labels of a large dataset.
    """
    version = version or run.dataset_version
    tally = pairs_tallied(run.dataset_version.dataset, actor=actor, begin=begin)
    noise = label_noise(gold_counts(run, version), tally.pairs, tally.differing)
    return replace(noise, reason=NOT_COUNTED) if noise.reason == TOO_FEW and not tally.counted_at else noise


def noises_of(runs: Iterable[Any]) -> Mapping[UUID, LabelNoise]:
    """Return that of each graded run, as its shown grading has it."""
    return {run.pk: run_noise(run, run.grading.dataset_version) for run in runs if run.grading_id}


def gold_counts(run: Run, version: DatasetVersion) -> GoldCounts:
    """Return where the gold of a run's examples comes from, in a version that never changes."""
    own = version.pk == run.dataset_version_id
    sources = _all_sources(version) if own and run.only is None else _part_sources(run, version)
    return GoldCounts(
        single=sources.get(GoldSource.SINGLE, 0),
        agreed=sources.get(GoldSource.AGREED, 0),
        decided=sum(sources.get(source, 0) for source in DECIDED),
        # Of labels given elsewhere no one knows if they were given blind.
        imported=sources.get(GoldSource.IMPORTED, 0) + sources.get(GoldSource.ELSEWHERE, 0),
    )


def _all_sources(version: DatasetVersion) -> Mapping[str, int]:
    """Return the sources of all examples, as they were counted when the version was frozen, or count them."""
    key = f"runs:gold-sources:{version.pk}"
    counts: Mapping[str, int] | None = version.gold_sources or cache.get(key)
    if counts is None:
        rows = VersionEntry.objects.filter(version=version).order_by()
        counts = dict(rows.values_list("gold__source").annotate(Count("pk")))
        cache.set(key, counts, timeout=KEPT)
    return counts


def _part_sources(run: Run, version: DatasetVersion) -> Mapping[str, int]:
    key = f"runs:gold-sources:{version.pk}:{digest([str(run.dataset_version_id), run.only])}"
    counts: Mapping[str, int] | None = cache.get(key)
    if counts is None:
        counts = _sources(run, version)
        cache.set(key, counts, timeout=KEPT)
    return counts


def _sources(run: Run, version: DatasetVersion) -> dict[str, int]:
    """Return the sources of the examples that a run takes, as another version, or a part of its own, holds them."""
    own = VersionEntry.objects.filter(version=run.dataset_version_id).order_by()
    taken = None if run.only is None else set(run.only)
    revisions = {
        pk for place, pk in own.values_list("position", "revision").iterator() if taken is None or place in taken
    }
    held = VersionEntry.objects.filter(version=version).order_by().values_list("revision", "gold__source")
    return dict(Counter(source for revision, source in held.iterator() if revision in revisions))
