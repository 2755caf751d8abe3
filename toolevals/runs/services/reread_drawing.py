"""Tell what a re-reading is drawn from: of each example of a grading one scored trial, by its outcome."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple
from uuid import UUID

from toolevals.grading.judging.sampling import one_trial_each
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.counts.packed_cases import LETTERS
from toolevals.runs.models import CaseGrade, Grading
from toolevals.runs.services.packing import packed_cases

_CHUNK = 400
_OUTCOME = VERDICT_NAMES.index("outcome")
_SCORED = {LETTERS[name]: name for name in ("passed", "failed")}


class Place(NamedTuple):
    """Where a case stands: its example's place in the dataset version, its trial, and how many of those are scored."""

    position: int
    trial: int
    scored: int


def strata_of(grading: Grading, seed: str) -> dict[str, list[Place]]:
    """Return one scored trial of each example, drawn by chance, by its outcome: passed or failed."""
    packed = packed_cases(grading)
    letters = [packed.letters_of(number)[_OUTCOME] for number in range(len(packed.verdicts) + 1)]
    examples = []
    for place, position in enumerate(grading.run.positions):
        numbers = packed.outcomes[place * packed.trials : (place + 1) * packed.trials]
        said = [(trial, _SCORED[letter]) for trial, n in enumerate(numbers) if (letter := letters[n]) in _SCORED]
        if said:
            examples.append([(status, Place(position, trial, len(said))) for trial, status in said])
    return one_trial_each(examples, seed)


def cases_at(grading: Grading, places: Collection[Place]) -> Mapping[Place, UUID]:
    """Return the cases of a grading that stand at these places."""
    return dict(_cases(grading, places))


def _cases(grading: Grading, places: Collection[Place]) -> Iterator[tuple[Place, UUID]]:
    wanted = {(place.position, place.trial): place for place in places}
    positions = sorted({place.position for place in places})
    for start in range(0, len(positions), _CHUNK):
        some = positions[start : start + _CHUNK]
        rows = CaseGrade.objects.filter(grading=grading, transcript__entry__position__in=some).order_by()
        for position, trial, pk in rows.values_list("transcript__entry__position", "transcript__trial", "pk"):
            if (case := wanted.get((position, trial))) is not None:
                yield case, pk
