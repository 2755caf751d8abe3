"""Read one example with its cases in two runs, and its neighbours in the list that it was opened from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from labeling.models import VersionEntry
from reports.cases.queries import case_of
from reports.cases.reading import CaseReading, read_case
from reports.comparison.moved import MovedFilter, SideCase, cases_of, moved_places
from reports.comparison.runs import TwoRuns
from toolevals.runs.models import CaseGrade, Grading, Run
from toolevals.workspace.requests import ProjectRequest


@dataclass(frozen=True, slots=True)
class CaseSide:
    """One run's part: its trials, and the one that is shown, counted from 1; None where it has no case of it."""

    run: Run
    trials: tuple[SideCase, ...]
    trial: int
    case: CaseGrade | None
    reading: CaseReading | None


@dataclass(frozen=True, slots=True)
class PairedCase:
    """An example in both runs. `place` counts from 1, 0 where the list does not hold it."""

    revision: UUID
    external_id: str
    before: CaseSide
    after: CaseSide
    place: int
    count: int
    previous: UUID | None
    next: UUID | None

    @property
    def sides(self) -> tuple[tuple[str, CaseSide], ...]:
        return ("before", self.before), ("after", self.after)

    @property
    def given(self) -> CaseReading | None:
        """Return whose conversation is shown: that of either side, since both were shown the same."""
        return self.before.reading or self.after.reading


def paired_case(
    runs: TwoRuns, revision: UUID, wanted: MovedFilter, trials: Sequence[int], request: ProjectRequest
) -> PairedCase | None:
    """Return an example as both runs met it, one trial each (from 1); None where neither has it."""
    entries = VersionEntry.objects.filter(
        revision=revision, version__in={run.dataset_version_id for run in (runs.before, runs.after)}
    ).select_related("revision__example")
    by_version = {entry.version_id: entry for entry in entries}
    sides = [
        _side(grading, by_version.get(grading.run.dataset_version_id), trial, request)
        for grading, trial in zip(runs.gradings, trials, strict=True)
    ]
    entry = next(iter(by_version.values()), None)
    if entry is None or not (sides[0].trials or sides[1].trials):
        return None
    place, count, near = _in_list(runs, wanted, by_version)
    return PairedCase(revision, entry.revision.example.external_id, sides[0], sides[1], place, count, *near)


def _side(grading: Grading, entry: VersionEntry | None, trial: int, request: ProjectRequest) -> CaseSide:
    run = grading.run
    trials = cases_of(grading, [entry.pk]).get(entry.pk, ()) if entry else ()
    shown = next((each for each in trials if each.trial + 1 == trial), trials[0] if trials else None)
    case = case_of(request.project, run.number, shown.id) if shown else None
    reading = read_case(case, request.user, request.role) if case else None
    return CaseSide(run, trials, shown.trial + 1 if shown else 0, case, reading)


def _in_list(
    runs: TwoRuns, wanted: MovedFilter, entries: Mapping[UUID, VersionEntry]
) -> tuple[int, int, tuple[UUID | None, UUID | None]]:
    """Return the example's place in the list, from 1, the list's length, and the revisions before and after it."""
    listed: Sequence[Any]
    if wanted.is_outside:
        version = (runs.after if wanted.of == "only_after" else runs.before).dataset_version_id
        listed, column = runs.shared.outside[wanted.of], "pk"
    else:
        version, column = runs.before.dataset_version_id, "position"
        listed = [runs.before.positions[place] for place, _ in moved_places(runs, wanted)[1]]
    entry = entries.get(version)
    own = getattr(entry, column, None)
    if own not in listed:
        return 0, len(listed), (None, None)
    place = listed.index(own)
    near = [listed[each] if 0 <= each < len(listed) else None for each in (place - 1, place + 1)]
    rows = VersionEntry.objects.filter(
        version=version, **{f"{column}__in": [each for each in near if each is not None]}
    )
    revisions = dict(rows.values_list(column, "revision"))
    return place + 1, len(listed), (revisions.get(near[0]), revisions.get(near[1]))
