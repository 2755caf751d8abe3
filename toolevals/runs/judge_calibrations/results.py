"""Tell what came of a calibration: judge next to people, and the judge's pass rate put right by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from uuid import UUID

from toolevals.grading.judging import Rubric
from toolevals.grading.judging.raters import Comparison, PeopleSay, RatedCase, compare, corrected_rate, people_say
from toolevals.grading.metrics.calibration import JudgeTable
from toolevals.grading.metrics.clustered import ExampleSums, rate
from toolevals.grading.metrics.rates import Estimate
from toolevals.runs.aggregates.sums import kept_sums
from toolevals.runs.judging.blindness import hidden_examples
from toolevals.runs.models import CalibratedCase, Grading, JudgeCalibration, JudgeCount, Rating

SETS = ("held_out", "tuning", "thumbs")


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of a calibration with what judge and people say of it. `ratings` are in the order they came.

    `is_hidden` says that people rate the example in another calibration now, so that no one is shown what judges say.
    """

    case: CalibratedCase
    judge: str
    people: PeopleSay
    ratings: tuple[Rating, ...]
    is_hidden: bool

    @property
    def shown_judge(self) -> str:
        """The judge's verdict as anyone may see it now."""
        return "hidden" if self.is_hidden else self.judge

    @property
    def shown_value(self) -> float | None:
        """Its value as anyone may see it now."""
        return None if self.is_hidden else self.case.value


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one set of a calibration's cases. `names` are raters' names by the ids in `comparison`."""

    cases: tuple[CaseResult, ...]
    comparison: Comparison
    names: Mapping[str, str]
    # The judge's pass rate in the grading as it stands, and put right; None where its grading does not say enough.
    stated: Estimate | None
    corrected: Estimate | None


def results_of(calibration: JudgeCalibration, chosen: str = "held_out") -> Results:
    """Return what came of a closed calibration, on its held-out cases or on those for tuning.

    Corrected is always by the held-out cases. Those that thumbs proposed are listed, and compared in no figure.
    """
    rubric = Rubric.from_document(calibration.judge.rubric.document)
    rows = _rows(calibration, chosen)
    hidden = hidden_examples(rubric.name)
    cases = tuple(
        CaseResult(
            case=row,
            judge="passed" if row.passed else "failed",
            people=people_say([rating.value for rating in row.ratings.all()], rubric.scale),
            ratings=tuple(row.ratings.all()),
            is_hidden=row.case.transcript.entry.revision_id in hidden,
        )
        for row in rows
    )
    stated, corrected = _rates(calibration)
    return Results(
        cases=cases,
        comparison=compare([_rated(row) for row in rows if not row.by_thumb], rubric.scale),
        names={_rater(rating): rating.rater.name for row in rows for rating in row.ratings.all() if rating.rater},
        stated=stated,
        corrected=corrected,
    )


def held_out_table(calibration: JudgeCalibration) -> dict[str, int]:
    """Return the counts that a calibration is kept by: `JudgeTable` of its held-out cases."""
    rubric = Rubric.from_document(calibration.judge.rubric.document)
    rows = _rows(calibration, "held_out")
    return asdict(compare([_rated(row) for row in rows], rubric.scale).table)


def table_of(calibration: JudgeCalibration) -> JudgeTable:
    """Return the counts of a closed calibration."""
    return JudgeTable(**calibration.table)


def corrected_count(count: JudgeCount, table: JudgeTable, sums: ExampleSums | None) -> Estimate | None:
    """Return a judge's pass rate in a grading put right by people; None where no one counted what rules settled.

    `sums` are those of its verdicts over the examples, where these have several trials.
    """
    if count.settled is None:
        return None
    return corrected_rate(count.passed, count.failed, table, settled=count.settled, sums=sums)


def _rates(calibration: JudgeCalibration) -> tuple[Estimate | None, Estimate | None]:
    rubric = calibration.judge.rubric.name
    count = JudgeCount.objects.filter(grading=calibration.grading_id, rubric=rubric).first()
    if count is None or not (total := count.passed + count.failed):
        return None, None
    grading = Grading.objects.select_related("run").get(pk=calibration.grading_id)
    sums = kept_sums(grading, "judgements").get((rubric,))
    stated = rate(count.passed, total, sums)
    return Estimate(stated.value, stated.interval, total), corrected_count(count, table_of(calibration), sums)


def _rows(calibration: JudgeCalibration, chosen: str) -> list[CalibratedCase]:
    wanted = {"is_held_out": chosen not in SETS[1:], "by_thumb": chosen == "thumbs"}
    cases = calibration.cases.ratable().filter(**wanted).prefetch_related("ratings__rater")
    return list(cases.select_related("case__transcript__entry__revision__example").defer("questions", "case__detail"))


def _rated(row: CalibratedCase) -> RatedCase:
    return RatedCase(row.value or 0.0, {_rater(rating): rating.value for rating in row.ratings.all()})


def _rater(rating: Rating) -> str:
    # Someone who left is still someone, and no other.
    return str(rating.rater_id or f"left {rating.pk}")


def progress_of(calibration: JudgeCalibration) -> list[tuple[UUID, str, int]]:
    """Return (id, name, number of ratings) of everyone who has rated, by name."""
    counted: dict[tuple[UUID, str], int] = {}
    rows = Rating.objects.filter(case__calibration=calibration, rater__isnull=False)
    for key in rows.values_list("rater", "rater__name"):
        counted[key] = counted.get(key, 0) + 1
    return [(pk, name, count) for (pk, name), count in sorted(counted.items(), key=lambda item: item[0][1])]
