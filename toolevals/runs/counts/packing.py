"""Pack a grading's cases once, so that comparing it costs distinct outcomes and not a scan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any
from uuid import UUID

from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.counts.compared_run import ComparedRun
from toolevals.runs.counts.outcome_patterns import OutcomePatterns, Outcomes
from toolevals.runs.counts.packed_cases import Packed
from toolevals.runs.counts.place_kinds import PlaceKinds
from toolevals.runs.models import CaseGrade, Grading, PackedCases

_CHUNK = 5000


def cases_pack(grading: Grading) -> Packed:
    """Read and return the cases of a grading, packed."""
    cases = CaseGrade.objects.filter(grading=grading).order_by()
    rows = cases.values_list("transcript__entry__position", "transcript__trial", "expected", "actual", *VERDICT_NAMES)
    return Packed.of_cases(grading.run.positions, grading.run.trials, rows.iterator(chunk_size=_CHUNK))


def packed_store(grading: Grading, packed: Packed) -> None:
    """Keep the packed cases of a grading; a second time changes nothing."""
    alike = OutcomePatterns.of(packed)
    kept = PackedCases(
        grading=grading,
        document=packed.to_document(),
        numbers=packed.to_bytes(),
        patterns=alike.to_bytes() if packed.trials > 1 else None,
        outcomes=Outcomes.of(alike).to_bytes(),
        kinds=PlaceKinds.of(alike).to_bytes(),
    )
    PackedCases.objects.bulk_create([kept], ignore_conflicts=True)


def packed_cases(grading: Grading) -> Packed:
    """Return the packed cases of a finished grading; one from before they were kept is packed now."""
    kept = PackedCases.objects.filter(grading=grading).only("document", "numbers").first()
    if kept is None:
        packed = cases_pack(grading)
        packed_store(grading, packed)
        return packed
    return _packed(kept, grading.run.trials)


def alike_cases(grading: Grading) -> OutcomePatterns:
    """Return the examples of a finished grading by what their trials came to; it is kept if it was not before."""
    trials = grading.run.trials
    rows = PackedCases.objects.filter(grading=grading)
    if trials > 1 and (kept := rows.filter(patterns__isnull=False).only("document", "patterns").first()):
        return _alike(kept, trials)
    alike = OutcomePatterns.of(packed_cases(grading))
    if trials > 1:
        rows.filter(patterns=None).update(patterns=alike.to_bytes())
    return alike


def compared_cases(gradings: Sequence[Grading]) -> list[ComparedRun]:
    """Return the runs of finished gradings, whose parts are read for all of them at once when one is asked for.

    What was not kept before is kept then.
    """
    kept = _Compared(gradings)
    return [
        ComparedRun(
            grading.run.trials, partial(kept.outcomes, place), partial(kept.kinds, place), partial(kept.alike, place)
        )
        for place, grading in enumerate(gradings)
    ]


def outcomes_of(grading: Grading) -> Outcomes:
    """Return what the trials of a finished grading's examples came to; it is kept if it was not before."""
    return compared_cases([grading])[0].outcomes


class _Compared:
    """The parts of gradings' examples."""

    def __init__(self, gradings: Sequence[Grading]) -> None:
        self._gradings = gradings
        self._alike: dict[int, OutcomePatterns] = {}

    def outcomes(self, place: int) -> Outcomes:
        kept = self._kept_outcomes.get(self._gradings[place].pk)
        if kept:
            return Outcomes.from_bytes(bytes(kept), self._gradings[place].run.trials)
        found = Outcomes.of(self.alike(place))
        self._keep(place, "outcomes", found)
        return found

    def kinds(self, place: int) -> PlaceKinds:
        kept = self._kept_kinds.get(self._gradings[place].pk)
        if kept:
            return PlaceKinds.from_bytes(bytes(kept))
        found = PlaceKinds.of(self.alike(place))
        self._keep(place, "kinds", found)
        return found

    def alike(self, place: int) -> OutcomePatterns:
        if place not in self._alike:
            self._alike[place] = alike_cases(self._gradings[place])
        return self._alike[place]

    @cached_property
    def _kept_outcomes(self) -> dict[UUID, Any]:
        return self._read("outcomes")

    @cached_property
    def _kept_kinds(self) -> dict[UUID, Any]:
        return self._read("kinds")

    def _read(self, column: str) -> dict[UUID, Any]:
        every = [each.pk for each in self._gradings]
        return dict(PackedCases.objects.filter(grading__in=every).values_list("grading", column))

    def _keep(self, place: int, column: str, found: Outcomes | PlaceKinds) -> None:
        rows = PackedCases.objects.filter(grading=self._gradings[place], **{column: None})
        rows.update(**{column: found.to_bytes()})


def alike_cases_of(gradings: Iterable[Grading]) -> Iterator[OutcomePatterns]:
    """Yield the same of each of several finished gradings, read with their runs, in their order: by one query.

    That of each that was not kept before costs some more.
    """
    every = list(gradings)
    kept = {
        row.grading_id: row
        for row in PackedCases.objects.filter(grading__in=[each.pk for each in every]).defer("outcomes", "kinds")
    }
    for grading in every:
        row, trials = kept.get(grading.pk), grading.run.trials
        if row is None or (trials > 1 and row.patterns is None):
            yield alike_cases(grading)
        elif trials > 1:
            yield _alike(row, trials)
        else:
            yield OutcomePatterns.of(_packed(row, trials))


def _packed(kept: PackedCases, trials: int) -> Packed:
    return Packed.from_document(kept.document, bytes(kept.numbers), trials)


def _alike(kept: PackedCases, trials: int) -> OutcomePatterns:
    return OutcomePatterns.from_document(kept.document, bytes(kept.patterns or b""), trials)
