"""Read two runs to compare: which examples they share, which of these are compared, and whether they can be at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar, cast
from uuid import UUID

from django.core.cache import cache
from django.db.models import QuerySet

from labeling.models import Example, Gold, VersionEntry
from reports.compare.analysis import RunComparison, compared
from reports.compare.pairing import Paired
from reports.filters.case_filters import Filters, text
from reports.trends.queries import COMPARED, part_of
from toolevals.grading.values.canonical import digest
from toolevals.json_types import JsonObject
from toolevals.runs.aggregates.packed_cases import packed_cases_of
from toolevals.runs.models import CaseTag, Grading, Run

# What examples can be picked by: strata as the candidate's examples say them today, and tags on a case of either run.
PART: Final = (*Example.STRATA, "tagged")
Pairs = Sequence[tuple[int, int]]
Result = TypeVar("Result")


def read_part(parameters: Mapping[str, str]) -> Filters:
    """Return which examples the address asks for."""
    part: JsonObject = {name: text(parameters, name) for name in PART}
    return Filters(**part)


KEPT: Final = 24 * 3600
AT_ONCE: Final = 500
# Runs of more examples are compared where someone asks for it.
MOST_COMPARED: Final = 20_000
# Why an example is not compared -> in words.
OUTSIDE: Final[Mapping[str, str]] = {
    "only_before": "only in the baseline",
    "only_after": "only in the candidate",
    "other_gold": "graded against other gold",
}


@dataclass(frozen=True, slots=True)
class Shared:
    """The examples that two gradings share: pairs of places in their runs, None where all are the same in order.

    `outside` are the others, by why: entries of the run that holds them.
    """

    pairs: tuple[tuple[int, int], ...] | None
    outside: Mapping[str, tuple[UUID, ...]]

    @property
    def left_out(self) -> int:
        """Return how many examples are not compared."""
        return sum(map(len, self.outside.values()))


# Not slotted: what is read of the database is kept for the request.
@dataclass(frozen=True)
class TwoRuns:
    """A baseline and a candidate of one project, both graded, and the gradings that are compared.

    `part` are the conditions on their examples (`compared_part.PART`), by default none.
    """

    before: Run
    after: Run
    gradings: tuple[Grading, Grading]
    part: Filters = field(default_factory=Filters)

    @property
    def refusal(self) -> str:
        """A sentence that says why they cannot be compared; empty where they can."""
        datasets = [run.dataset_version.dataset for run in (self.before, self.after)]
        baseline_agents = [run for run in (self.before, self.after) if run.baseline_agent]
        if self.before.pk == self.after.pk:
            return f"Run {self.before.number} is not compared with itself."
        if baseline_agents:
            return "Baseline agents cannot be compared with runs here. Their scores are on the run's page."
        if datasets[0].pk != datasets[1].pk:
            names = f"run {self.before.number} is on {datasets[0].name}, run {self.after.number} on {datasets[1].name}"
            return f"These runs use different datasets and cannot be compared: {names}."
        if not self.examples:
            return f"Run {self.before.number} and run {self.after.number} share no example with the same gold."
        return ""

    @cached_property
    def shared(self) -> Shared:
        """Return which examples both hold with the same gold."""
        key = f"reports:compared:shared:{self.gradings[0].pk}:{self.gradings[1].pk}"
        return cast("Shared", cache.get_or_set(key, lambda: _shared(*self.gradings), KEPT))

    @property
    def examples(self) -> int:
        """Return how many examples are compared."""
        return self.before.size if self.shared.pairs is None else len(self.shared.pairs)

    @cached_property
    def chosen(self) -> Pairs | None:
        """The places in both runs of the shared examples in the part; None where all are, in one order."""
        chosen: Pairs | None = self.shared.pairs
        conditions = self.part.conditions
        tag = conditions.pop("tagged", "")
        if conditions:
            entries = VersionEntry.objects.filter(version=self.after.dataset_version_id)
            wanted = entries.filter(**{f"revision__example__{name}": value for name, value in conditions.items()})
            places = set(places_at(self.after, wanted.values_list("position", flat=True).iterator()))
            chosen = [pair for pair in self._listed(chosen) if pair[1] in places]
        if tag:
            sides = [_tagged(run, tag) for run in (self.before, self.after)]
            chosen = [pair for pair in self._listed(chosen) if pair[0] in sides[0] or pair[1] in sides[1]]
        return chosen

    @cached_property
    def pairs(self) -> Pairs:
        """The places in both runs of the compared examples."""
        return self._listed(self.chosen)

    def _listed(self, pairs: Pairs | None) -> Pairs:
        return [(place, place) for place in range(self.before.size)] if pairs is None else pairs

    def places(self, side: int) -> dict[int, int]:
        """Return the place among the compared examples of positions in the version of a run, 0 or 1."""
        positions = (self.before, self.after)[side].positions
        return {positions[pair[side]]: place for place, pair in enumerate(self.pairs)}

    @cached_property
    def paired(self) -> Paired:
        """Return what the compared examples came to."""
        before, after = packed_cases_of(self.gradings)
        return Paired(before, after, self.chosen)

    @cached_property
    def comparison(self) -> RunComparison:
        return self.kept("all", lambda: compared(self.paired))

    def kept(self, what: str, work_out: Callable[[], Result]) -> Result:
        """Return what is worked out of the compared examples; that of all of them is kept.

        Finished gradings do not change. Strata and tags may.
        """
        if self.part.conditions:
            return work_out()
        key = f"reports:compared:{what}:{self.gradings[0].pk}:{self.gradings[1].pk}"
        return cast("Result", cache.get_or_set(key, work_out, KEPT))

    def strata(self, name: str) -> list[str]:
        """Return the value of a stratum of each compared example, in their order; "" where it says none."""
        entries = VersionEntry.objects.filter(version=self.after.dataset_version_id)
        values = dict(entries.values_list("position", f"revision__example__{name}").iterator())
        positions = self.after.positions
        return [values.get(positions[after], "") for _, after in self.pairs]

    @property
    def differences(self) -> list[tuple[str, str, str]]:
        """Return what of agent and dataset differs: (what, before, after)."""
        sides = [{name: read(run) for name, read in COMPARED.items()} for run in (self.before, self.after)]
        differing = [(name, sides[0][name], sides[1][name]) for name in COMPARED if sides[0][name] != sides[1][name]]
        if self.before.trials != self.after.trials:
            differing.append(("trials", str(self.before.trials), str(self.after.trials)))
        return differing

    @property
    def cautions(self) -> list[str]:
        """Sentences that a reader must know before believing a number."""
        sentences = []
        versions = [grading.dataset_version for grading in self.gradings]
        if versions[0].pk != versions[1].pk:
            sentences.append(
                f"Run {self.before.number} is graded on v{versions[0].number} of the dataset, run "
                f"{self.after.number} on v{versions[1].number}: only examples that are unchanged and have the "
                f"same gold in both versions are compared."
            )
        if other := _other_graders(*self.gradings):
            sentences.append(
                f"The runs were graded with different grader versions ({other}), which can cause differences. "
                f"Re-grade both runs."
            )
        return sentences


def two_runs(runs: QuerySet[Run], before: int, after: int, part: Filters | None = None) -> TwoRuns | None:
    """Return the runs of these numbers, of all or a part of their examples; None where one is not there or graded."""
    wanted = runs.select_related(
        "agent__tools__tools", "dataset_version__dataset", "experiment", "grading__dataset_version__dataset"
    )
    graded: dict[int, tuple[Run, Grading]] = {}
    for run in wanted.filter(number__in=(before, after)):
        if run.grading is not None:
            run.grading.run = run
            graded[run.number] = run, run.grading
    if before not in graded or after not in graded:
        return None
    (first, first_grading), (second, second_grading) = graded[before], graded[after]
    return TwoRuns(first, second, (first_grading, second_grading), part or Filters())


def candidates_for(run: Run, most: int) -> list[Run]:
    """Return the newest graded runs that a run may be compared with, the newest first."""
    candidates = Run.objects.filter(project=run.project, baseline_agent="", grading__isnull=False)
    same = candidates.filter(dataset_version__dataset=run.dataset_version.dataset_id).exclude(pk=run.pk)
    return list(
        same.select_related("agent__tools", "dataset_version__dataset", "experiment").order_by("-number")[:most]
    )


def default_baseline(run: Run, choices: Sequence[Run]) -> Run | None:
    """Return the previous comparable run: of the experiment on the same part of the same version, or the nearest to it.

    `choices` are those that it may be compared with, the newest first.
    """
    earlier = [each for each in choices if each.number < run.number]

    def closeness(each: Run) -> tuple[bool, ...]:
        same_line = each.experiment_id == run.experiment_id
        same_part = each.dataset_version_id == run.dataset_version_id and part_of(each) == part_of(run)
        return same_line and same_part, same_line, each.agent.name == run.agent.name, same_part

    return max(earlier, key=closeness, default=None)


def _shared(before: Grading, after: Grading) -> Shared:
    same_version = before.run.dataset_version_id == after.run.dataset_version_id
    moved = other_gold(before, after)
    if same_version and not moved and before.run.only == after.run.only:
        return Shared(None, dict.fromkeys(OUTSIDE, ()))
    first, second = entries_taken(before), entries_taken(after)
    outside: dict[str, list[UUID]] = {name: [] for name in OUTSIDE}
    pairs = []
    for revision, (place, entry) in first.items():
        if revision not in second:
            outside["only_before"].append(entry)
        elif revision in moved:
            outside["other_gold"].append(entry)
        else:
            pairs.append((place, second[revision][0]))
    outside["only_after"] += [entry for revision, (_, entry) in second.items() if revision not in first]
    return Shared(tuple(pairs), {name: tuple(found) for name, found in outside.items()})


def entries_taken(grading: Grading) -> dict[UUID, tuple[int, UUID]]:
    """Return the place in the run, and the entry, of each revision that the run takes."""
    run = grading.run
    rows = VersionEntry.objects.filter(version=run.dataset_version_id).order_by("position")
    places = None if run.only is None else {position: place for place, position in enumerate(run.only)}
    entries: dict[UUID, tuple[int, UUID]] = {}
    for position, entry, revision in rows.values_list("position", "pk", "revision").iterator():
        place = position if places is None else places.get(position)
        if place is not None:
            entries[revision] = place, entry
    return entries


def _golds(grading: Grading) -> dict[UUID, UUID]:
    """Return the gold that each revision was graded against; one that the version does not hold has none."""
    return dict(VersionEntry.objects.filter(version=grading.dataset_version_id).values_list("revision", "gold"))


def other_gold(before: Grading, after: Grading) -> set[UUID]:
    """Return the revisions that were graded against gold that means something else, or in one grading against none."""
    if before.dataset_version_id == after.dataset_version_id:
        return set()
    first, second = _golds(before), _golds(after)
    moved = [revision for revision in first.keys() | second.keys() if first.get(revision) != second.get(revision)]
    wanted = [gold for golds in (first, second) for revision in moved if (gold := golds.get(revision))]
    said: dict[UUID | None, str] = {}
    for start in range(0, len(wanted), AT_ONCE):
        some = Gold.objects.filter(pk__in=wanted[start : start + AT_ONCE])
        said |= {gold: digest(expectation) for gold, expectation in some.values_list("pk", "expectation")}
    return {revision for revision in moved if said.get(first.get(revision)) != said.get(second.get(revision))}


def _other_graders(before: Grading, after: Grading) -> str:
    sides = [{each["name"]: each["version"] for each in grading.graders} for grading in (before, after)]
    names = sorted(name for name in sides[0].keys() | sides[1].keys() if sides[0].get(name) != sides[1].get(name))
    return ", ".join(f"{name} {sides[0].get(name, 'none')} and {sides[1].get(name, 'none')}" for name in names)


def places_at(run: Run, positions: Iterable[int]) -> Iterable[int]:
    """Return the places in a run of those positions in its version that it takes."""
    known = {position: place for place, position in enumerate(run.positions)}
    return (known[position] for position in positions if position in known)


def _tagged(run: Run, tag: str) -> set[int]:
    tags = CaseTag.objects.filter(transcript__run=run, transcript__replaced_at=None, tag=tag).order_by()
    return set(places_at(run, tags.values_list("transcript__entry__position", flat=True)))
