"""Write into the queue where agents differ about an example: it is worth a person's time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from labeling.batches.ordering import disagreement_set
from labeling.models import Dataset, VersionEntry
from toolevals.runs.counts.outcome_patterns import OutcomePatterns
from toolevals.runs.counts.packing import alike_cases_of
from toolevals.runs.models import Grading, Run

# So many of a dataset's newest graded runs are compared.
RUNS: Final = 20
# The first calls of an example's trials in one grading, those that have a place in the matrix.
_Answers = tuple[str, ...]


def disagreement_write(dataset: Dataset, grading: Grading) -> int:
    """Write how far agents differ about the revisions that a grading holds; return how many values changed.

    It compares the first calls of all trials in the shown gradings of the dataset's newest runs, as they are packed.
    """
    run = grading.run
    revisions = {run.dataset_version_id: _revisions(run.dataset_version_id)}
    held = map(revisions[run.dataset_version_id].__getitem__, run.positions)
    said: dict[UUID, list[_Answers]] = {revision: [] for revision in held}
    for other, alike in _shown(dataset):
        version = other.dataset_version_id
        if version not in revisions:
            revisions[version] = _revisions(version)
        answers = list(_answers(alike))
        for position, number in zip(other.positions, alike.places.numbers, strict=True):
            if answers[number] and (found := said.get(revisions[version][position])) is not None:
                found.append(answers[number])
    return disagreement_set(dataset=dataset, values=differing(said))


def differing(said: Mapping[Any, Sequence[_Answers]]) -> dict[Any, float]:
    """Return each key's share of answers that are not the commonest one: 0 where all are the same.

    A key without answers is left out.
    """
    share = cache(_share)
    return {key: share(tuple(answers)) for key, answers in said.items() if answers}


def _share(answers: tuple[_Answers, ...]) -> float:
    counts = Counter(chain.from_iterable(answers))
    return 1 - max(counts.values()) / counts.total()


def _revisions(version: UUID) -> dict[int, UUID]:
    """Return the revisions of a dataset version by their positions."""
    return dict(_entries(version))


def _shown(dataset: Dataset) -> Iterator[tuple[Run, OutcomePatterns]]:
    """Yield the newest graded runs that people made, and the examples of the gradings that they show."""
    runs = list(_runs(dataset))
    gradings: list[Grading] = []
    for run in runs:
        if (grading := run.grading) is not None:
            grading.run = run
            gradings.append(grading)
    yield from zip(runs, alike_cases_of(gradings), strict=True)


def _answers(alike: OutcomePatterns) -> Iterator[_Answers]:
    """Yield the first calls of each pattern of trials; a place of 0 is outside the matrix."""
    for numbers in alike.places.distinct:
        trials: Iterable[int] = numbers if isinstance(numbers, tuple) else (numbers,)
        yield tuple(alike.cells[number - 1][1] for number in trials if number)


def _runs(dataset: Dataset) -> QuerySet[Run]:
    shown = Run.objects.of_people().filter(dataset_version__dataset=dataset, grading__isnull=False)
    return shown.select_related("grading", "dataset_version").order_by("-number")[:RUNS]


def _entries(version: UUID) -> QuerySet[VersionEntry, Any]:
    return VersionEntry.objects.filter(version=version).order_by().values_list("position", "revision")
