"""Say how far a judge can be trusted by its newest calibration, and the words that flag its numbers where it cannot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from toolevals.grading.metrics.calibration import JudgeTable
from toolevals.grading.metrics.rates import Estimate
from toolevals.runs.drift.results import DriftCounts, counts_of
from toolevals.runs.judge_calibrations.results import table_of
from toolevals.runs.models import DriftCheck, Grading, Judge, JudgeCalibration, Measure
from toolevals.workspace.clock import database_now

# After so long a judge is to be held beside people again.
A_MONTH = timedelta(days=30)


class Trust(StrEnum):
    """The trust in a judge by calibrations and checks for drift. All but the first are flagged next to its numbers."""

    REACHED = "reached"
    DRIFTED = "drifted"
    BELOW = "below"
    UNKNOWN = "unknown"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Drift:
    """The newest check for drift that compared anything, held to the judge's threshold and tolerance."""

    check: DriftCheck
    counts: DriftCounts
    measure: str
    threshold: float
    tolerance: float

    @property
    def now(self) -> Estimate:
        """The figure next to people that is held to the threshold, by the answers of now."""
        return _figure(self.counts.now, self.measure)

    @property
    def has_fallen(self) -> bool:
        """Return whether that figure reached the threshold by the answers of old, and does not now."""
        then, now = _figure(self.counts.then, self.measure).value, self.now.value
        return then is not None and now is not None and now < self.threshold <= then

    @property
    def words(self) -> str:
        """Return what the flag says; empty where no more has changed than may."""
        changes, found = self.counts.changes, []
        if changes.has_moved(self.tolerance):
            changed = f"{changes.changed} of {changes.compared} verdicts changed when asked a second time"
            found.append(f"drifted: {changed}, {100 * self.tolerance:g} % may")
        if self.has_fallen:
            found.append(f"{self.measure} now {self.now.value:.2f}, wanted {self.threshold:g}")
        return "; ".join(found)


@dataclass(frozen=True, slots=True)
class Standing:
    """The facts about a judge: its newest closed calibration next to its threshold, and whether it has drifted."""

    trust: Trust
    measure: str
    threshold: float
    calibration: JudgeCalibration | None = None
    table: JudgeTable | None = None
    drift: Drift | None = None

    @property
    def is_flagged(self) -> bool:
        """Return whether its numbers are marked."""
        return self.trust is not Trust.REACHED

    @property
    def figure(self) -> Estimate | None:
        """The figure that is held to the threshold; None without a calibration."""
        return _figure(self.table, self.measure) if self.table else None

    @property
    def calibrated_at(self) -> datetime | None:
        """Return when its newest calibration was closed."""
        return self.calibration.closed_at if self.calibration else None

    @property
    def is_old(self) -> bool:
        """Return whether its newest calibration is older than a month."""
        at = self.calibrated_at
        return at is not None and database_now() - at > A_MONTH

    @property
    def words(self) -> str:
        """Return what the flag says; empty where there is none."""
        found = (self._words, self.drift.words if self.drift else "")
        return "; ".join(words for words in found if words)

    @property
    def _words(self) -> str:
        if self.trust is Trust.NEVER:
            return "never compared with people"
        if self.trust is Trust.BELOW:
            value = self.figure.value if self.figure else None
            return f"below its threshold: {self.measure} {value:.2f}, wanted {self.threshold:g}"
        return f"{self.measure} not known" if self.trust is Trust.UNKNOWN else ""


def standings_of(judges: Iterable[Judge]) -> dict[UUID, Standing]:
    """Return each judge's standing, by its id: by the newest calibration and check of its rubric version and model."""
    found = list(judges)
    rows = JudgeCalibration.objects.filter(judge__rubric__in={judge.rubric_id for judge in found})
    newest: dict[tuple[UUID, str], JudgeCalibration] = {}
    closed = rows.filter(closed_at__isnull=False).select_related("judge").order_by("closed_at")
    for row in closed:
        newest[row.judge.rubric_id, row.judge.model] = row
    drifts = _newest_drifts(found)
    keys = {judge.pk: (judge.rubric_id, judge.model) for judge in found}
    return {judge.pk: _standing(judge, newest.get(keys[judge.pk]), drifts.get(keys[judge.pk])) for judge in found}


def grading_standings(grading: Grading) -> dict[str, Standing]:
    """Return the standing of each judge of a grading, by the name of its rubric; nothing is asked without judges."""
    if not grading.judges:
        return {}
    rubrics = {UUID(seat["judge"]): seat["rubric"] for seat in grading.judges}
    standings = standings_of(Judge.objects.filter(pk__in=rubrics))
    return {rubrics[pk]: standing for pk, standing in standings.items()}


def _newest_drifts(judges: Iterable[Judge]) -> dict[tuple[UUID, str], tuple[DriftCheck, DriftCounts]]:
    """Return the newest finished check that compared anything, by rubric and model."""
    rows = DriftCheck.objects.filter(judge__rubric__in={judge.rubric_id for judge in judges})
    newest = {}
    for row in rows.filter(finished_at__isnull=False).select_related("judge").order_by("finished_at"):
        counts = counts_of(row)
        if counts is not None and counts.changes.compared:
            newest[row.judge.rubric_id, row.judge.model] = (row, counts)
    return newest


def _standing(
    judge: Judge, calibration: JudgeCalibration | None, checked: tuple[DriftCheck, DriftCounts] | None
) -> Standing:
    if calibration is None:
        return Standing(Trust.NEVER, judge.measure, judge.threshold)
    table = table_of(calibration)
    drift = Drift(*checked, judge.measure, judge.threshold, judge.tolerance) if checked else None
    trust = _trust(_figure(table, judge.measure).value, judge.threshold)
    if trust is Trust.REACHED and drift and drift.words:
        trust = Trust.DRIFTED
    return Standing(trust, judge.measure, judge.threshold, calibration, table, drift)


def _trust(value: float | None, threshold: float) -> Trust:
    if value is None:
        return Trust.UNKNOWN
    return Trust.REACHED if value >= threshold else Trust.BELOW


def _figure(table: JudgeTable, measure: str) -> Estimate:
    return table.kappa if measure == Measure.KAPPA else table.agreement
