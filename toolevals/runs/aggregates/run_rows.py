"""Show runs as a list has them: how far, how good, and whether the gold has moved on since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import F, Max

from labeling.models import VersionEntry
from toolevals.grading.metrics.clustered import Rate
from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.grading.values.verdicts import CALLS, EXPECTED, decided_words, parts_of
from toolevals.presentation import numbers
from toolevals.presentation.numbers import short_words
from toolevals.runs.aggregates.label_noise import noises_of
from toolevals.runs.aggregates.spending import Spending
from toolevals.runs.aggregates.sums import verdict_rates
from toolevals.runs.models import Run, VerdictCount
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Job, JobState

A_MINUTE, A_DAY = 60, 24 * 3600
# No act is still on its way after so long.
LONGEST_ACT: Final = timedelta(hours=1)
# Whether gold has changed -> why a run is stale.
STALE: Final = {1: "gold has changed", 0: "the pass rule has changed"}
# What acts on these changes no gold: they are most of what happens while runs are looked at.
NO_GOLD: Final = ("runs.", "reports.", "registry.", "workspace.job", "workspace.membership", "workspace.apitoken")


@dataclass(frozen=True, slots=True)
class Deciding:
    """The parts that decide the cases of a grading, each with its count of cases, the most frequent first."""

    counts: tuple[tuple[str, int], ...] = ((EXPECTED, 0),)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.counts]

    @property
    def words(self) -> str:
        """Return what decides, in words; where it differs between examples, that too."""
        words = decided_words(self.names[0])
        others = sum(count for _, count in self.counts[1:])
        return f"{words}, something else in {numbers.count(others)}" if others else words

    @property
    def is_usual(self) -> bool:
        """Return whether the gold alone decides every case, as it does unless someone chose otherwise."""
        return self.names == [EXPECTED]

    @property
    def has_calls(self) -> bool:
        """Return whether the calls decide every case, alone or with others: no failed call passes then."""
        return all(CALLS in (parts_of(name) or (CALLS,)) for name in self.names)


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. `job` is that of its newest grading, with `items_done` and `items_total`."""

    run: Run
    rate: Rate | None
    job: Job | None
    stale: str
    decided: Deciding = field(default_factory=Deciding)
    noise: LabelNoise | None = None

    @property
    def noise_points(self) -> str:
        """By how many points wrong gold could move the rate: "±2.3"; empty where that is unknown."""
        return short_words(self.noise) if self.rate else ""

    @property
    def took(self) -> Spending:
        """Return what its conversations took."""
        return Spending.of(self.run.grading.spending if self.run.grading else None)

    @property
    def share(self) -> str:
        """The rate in percent."""
        return numbers.percent(self.rate.value) if self.rate else ""

    @property
    def span(self) -> str:
        """The interval of the rate in percent."""
        return numbers.span(self.rate.low, self.rate.high) if self.rate else ""

    @property
    def state(self) -> str:
        """One of the job states; a run whose job is gone counts by whether it is graded."""
        if self.job is not None:
            return self.job.state
        return JobState.SUCCEEDED if self.run.grading_id else JobState.FAILED

    @property
    def reason(self) -> str:
        """Say why its newest work failed; empty where it did not."""
        return self.job.reason if self.job is not None else ""

    @property
    def is_running(self) -> bool:
        return self.state == JobState.RUNNING

    @property
    def is_paused(self) -> bool:
        return self.state == JobState.PAUSED

    @property
    def can_retry(self) -> bool:
        return self.job is not None and self.state in (JobState.FAILED, JobState.CANCELLED)

    @property
    def can_regrade(self) -> bool:
        return self.run.grading_id is not None and not self.is_running and not self.is_paused


def run_rows(runs: Iterable[Any]) -> list[RunRow]:
    """Return the rows of runs that were read `with_everything` and `with_newest`.

    At most four queries, and some for each dataset and version of which nothing is kept yet.
    """
    listed = list(runs)
    stale, noises = stale_reasons(listed), noises_of(listed)
    return [replace(row, stale=stale.get(row.run.pk, ""), noise=noises.get(row.run.pk)) for row in run_states(listed)]


def run_states(runs: Iterable[Any]) -> list[RunRow]:
    """Return the same without what has become stale, which costs a look at whole versions.

    Three queries, and one more where any has several trials.
    """
    listed = list(runs)
    graded = [run for run in listed if run.grading_id]
    several = [run.grading_id for run in graded if run.trials > 1]
    rates = verdict_rates([run.grading_id for run in graded], "outcome", several=several)
    deciding = _deciding([run.grading_id for run in graded])
    jobs = _jobs([run.newest_grading for run in listed if run.newest_grading])
    return [
        RunRow(
            run,
            rates.get(run.grading_id, {}).get("outcome"),
            jobs.get(run.newest_grading) or run.job,
            "",
            deciding.get(run.grading_id, Deciding()),
        )
        for run in listed
    ]


def deciding_of(counts: Mapping[str, Mapping[str, int]]) -> Deciding:
    """Return what decides the cases of a grading, from its counts by column and value.

    A grading from before it was kept says nothing of it: whatever the gold expected decided.
    """
    ordered = sorted(counts.get("decided_by", {}).items(), key=lambda item: (-item[1], item[0]))
    return Deciding(tuple(ordered)) if ordered else Deciding()


def _deciding(gradings: Sequence[UUID]) -> dict[UUID, Deciding]:
    found: dict[UUID, dict[str, int]] = {}
    rows = VerdictCount.objects.filter(grading__in=gradings, column="decided_by")
    for grading, value, count in rows.values_list("grading_id", "value", "count"):
        found.setdefault(grading, {})[value] = count
    return {grading: deciding_of({"decided_by": counts}) for grading, counts in found.items()}


def stale_reasons(runs: Iterable[Any]) -> dict[UUID, str]:
    """Return why the shown grading of a run is not on today's gold, by the run's id; runs `with_newest`."""
    graded = [run for run in runs if run.grading_id]
    newer = {run.pk: f"v{run.newest_version} is newer" for run in graded if run.newest_version > _graded_on(run).number}
    # Only versions that are still the newest are read whole; there are few of them on a page.
    newest = {run.pk: _graded_on(run).pk for run in graded if run.pk not in newer}
    changed = _changed({version: run.project_id for run in graded if (version := newest.get(run.pk))})
    return newer | {pk: reason for pk, version in newest.items() if (reason := changed[version])}


def _changed(projects: Mapping[UUID, UUID]) -> dict[UUID, str]:
    """Return what is no longer in force in versions, each of a project: gold, or what decides; else an empty text.

    A version is read whole for it, so that the answer is kept until someone acts on what may have gold: none changes
    without a row in the audit log. Two who act at the same moment may be seen in the wrong order, so not for long
    after an act.
    """
    acts = {project: _newest_act(project) for project in {*projects.values()}}
    keys = {version: f"runs:stale-2:{version}:{acts[project][0]}" for version, project in projects.items()}
    known: dict[str, str] = cache.get_many(keys.values())
    unknown = {version for version, key in keys.items() if key not in known}
    if unknown:
        rows = VersionEntry.objects.stale().filter(version__in=unknown).order_by()
        stale = dict(rows.values_list("version").annotate(Max("has_other_gold")))
        known |= {keys[each]: STALE[stale[each]] if each in stale else "" for each in unknown}
        for version in unknown:
            cache.set(keys[version], known[keys[version]], timeout=acts[projects[version]][1])
    return {version: known[key] for version, key in keys.items()}


def _newest_act(project: UUID) -> tuple[UUID | None, int]:
    """Return the newest act in a project that may have changed gold, and for how many seconds what it left is sure."""
    acts = AuditEntry.objects.filter(project=project).order_by("-id")
    for kind in NO_GOLD:
        acts = acts.exclude(target_type__startswith=kind)
    newest = acts.values_list("pk", "at").first()
    if newest is None:
        return None, A_DAY
    return newest[0], A_DAY if database_now() - newest[1] > LONGEST_ACT else A_MINUTE


def _graded_on(run: Run) -> Any:
    return run.grading.dataset_version if run.grading else run.dataset_version


def _jobs(gradings: Sequence[UUID]) -> dict[UUID, Job]:
    """Return the job of each grading, with its progress."""
    if not gradings:
        return {}
    jobs = Job.objects.filter(gradings__in=gradings).with_progress().annotate(of_grading=F("gradings"))
    return {vars(job)["of_grading"]: job for job in jobs}
