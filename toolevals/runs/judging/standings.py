"""How far a judge can be trusted by its newest calibration, and the words that flag its numbers where it cannot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.utils import timezone

from toolevals.grading.metrics.calibration import JudgeTable
from toolevals.grading.metrics.estimates import Estimate
from toolevals.runs.judging.calibration_results import table_of
from toolevals.runs.models import Grading, Judge, JudgeCalibration, Measure

# After so long a judge is to be held beside people again.
A_MONTH = timedelta(days=30)


class Trust(StrEnum):
    """What a judge's calibration says of it. All but the first are flagged wherever its numbers stand."""

    REACHED = "reached"
    BELOW = "below"
    UNKNOWN = "unknown"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a judge: its newest closed calibration, held to its threshold."""

    trust: Trust
    measure: str
    threshold: float
    calibration: JudgeCalibration | None = None
    table: JudgeTable | None = None

    @property
    def is_flagged(self) -> bool:
        """Whether its numbers are marked."""
        return self.trust is not Trust.REACHED

    @property
    def figure(self) -> Estimate | None:
        """The figure that is held to the threshold; None without a calibration."""
        return _figure(self.table, self.measure) if self.table else None

    @property
    def calibrated_at(self) -> datetime | None:
        """When its newest calibration was closed."""
        return self.calibration.closed_at if self.calibration else None

    @property
    def is_old(self) -> bool:
        """Whether its newest calibration is older than a month."""
        at = self.calibrated_at
        return at is not None and timezone.now() - at > A_MONTH

    @property
    def words(self) -> str:
        """What the flag says; empty where there is none."""
        if self.trust is Trust.NEVER:
            return "never compared with people"
        if self.trust is Trust.BELOW:
            value = self.figure.value if self.figure else None
            return f"below its threshold: {self.measure} {value:.2f}, wanted {self.threshold:g}"
        return f"{self.measure} not known" if self.trust is Trust.UNKNOWN else ""


def standings_of(judges: Iterable[Judge]) -> dict[UUID, Standing]:
    """Return each judge's standing, by its id: by the newest closed calibration of its rubric version and model."""
    found = list(judges)
    rows = JudgeCalibration.objects.filter(judge__rubric__in={judge.rubric_id for judge in found})
    newest: dict[tuple[UUID, str], JudgeCalibration] = {}
    closed = rows.filter(closed_at__isnull=False).select_related("judge").order_by("closed_at")
    for row in closed:
        newest[row.judge.rubric_id, row.judge.model] = row
    return {judge.pk: _standing(judge, newest.get((judge.rubric_id, judge.model))) for judge in found}


def grading_standings(grading: Grading) -> dict[str, Standing]:
    """Return the standing of each judge of a grading, by the name of its rubric; nothing is asked without judges."""
    if not grading.judges:
        return {}
    rubrics = {UUID(seat["judge"]): seat["rubric"] for seat in grading.judges}
    found = standings_of(Judge.objects.filter(pk__in=rubrics))
    return {rubrics[pk]: standing for pk, standing in found.items()}


def _standing(judge: Judge, calibration: JudgeCalibration | None) -> Standing:
    if calibration is None:
        return Standing(Trust.NEVER, judge.measure, judge.threshold)
    table = table_of(calibration)
    value = _figure(table, judge.measure).value
    return Standing(_trust(value, judge.threshold), judge.measure, judge.threshold, calibration, table)


def _trust(value: float | None, threshold: float) -> Trust:
    if value is None:
        return Trust.UNKNOWN
    return Trust.REACHED if value >= threshold else Trust.BELOW


def _figure(table: JudgeTable, measure: str) -> Estimate:
    return table.kappa if measure == Measure.KAPPA else table.agreement
