"""Pack a grading's cases once, so that comparing it costs distinct outcomes and not a scan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.counts.outcome_patterns import OutcomePatterns
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
    kept = PackedCases(grading=grading, document=packed.to_document(), numbers=packed.to_bytes())
    if packed.trials > 1:
        alike = OutcomePatterns.of(packed)
        kept.patterns, kept.kinds = alike.to_bytes(), PlaceKinds.worked_out(alike).to_bytes()
    PackedCases.objects.bulk_create([kept], ignore_conflicts=True)


def packed_cases(grading: Grading) -> Packed:
    """Return the packed cases of a finished grading; one from before they were kept is packed now."""
    kept = PackedCases.objects.filter(grading=grading).defer("patterns", "kinds").first()
    if kept is None:
        packed = cases_pack(grading)
        packed_store(grading, packed)
        return packed
    return _packed(kept, grading.run.trials)


def alike_cases(grading: Grading) -> OutcomePatterns:
    """Return the examples of a finished grading by what their trials came to; it is kept if it was not before."""
    trials = grading.run.trials
    rows = PackedCases.objects.filter(grading=grading)
    if trials > 1 and (kept := rows.filter(patterns__isnull=False).defer("numbers", "kinds").first()):
        return _alike(kept, trials)
    alike = OutcomePatterns.of(packed_cases(grading))
    if trials > 1:
        rows.filter(patterns=None).update(patterns=alike.to_bytes())
    return alike


def compared_cases(grading: Grading) -> OutcomePatterns:
    """Return `alike_cases` with the kinds of places, which are kept of several trials if they were not before."""
    trials = grading.run.trials
    rows = PackedCases.objects.filter(grading=grading)
    if trials == 1 or not (kept := rows.filter(patterns__isnull=False).defer("numbers").first()):
        return alike_cases(grading)
    alike = _alike(kept, trials, bytes(kept.kinds or b""))
    if not alike.kinds:
        alike = replace(alike, kinds=PlaceKinds.worked_out(alike).to_bytes())
        rows.filter(kinds=None).update(kinds=alike.kinds)
    return alike


def alike_cases_of(gradings: Iterable[Grading]) -> Iterator[OutcomePatterns]:
    """Yield the same of each of several finished gradings, read with their runs, in their order: by one query.

    That of each that was not kept before costs some more.
    """
    every = list(gradings)
    kept = {
        row.grading_id: row
        for row in PackedCases.objects.filter(grading__in=[each.pk for each in every]).defer("kinds")
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


def _alike(kept: PackedCases, trials: int, kinds: bytes = b"") -> OutcomePatterns:
    return OutcomePatterns.from_document(kept.document, bytes(kept.patterns or b""), trials, kinds)
