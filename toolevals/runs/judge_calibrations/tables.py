"""Write the ratings of a calibration as lines of a table, as one person may see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from toolevals.grading.judging import Rubric
from toolevals.grading.judging.raters import people_say
from toolevals.presentation.csv import Cell
from toolevals.runs.judging.blindness import hidden_examples, names_raters, shows_results
from toolevals.runs.models import JudgeCalibration, Rating
from toolevals.workspace.models import Role, User

# `rater` is for owners; what judge and people say stands there once the calibration is closed.
COLUMNS: Final = (
    "calibration_id",
    "case_id",
    "set",
    "graded_case_id",
    "transcript_id",
    "external_id",
    "rating_id",
    "rater",
    "is_own",
    "value",
    "passes",
    "note",
    "created_at",
    "judge_value",
    "judge",
    "people",
)


def rating_rows(calibration: JudgeCalibration, user: User, role: Role) -> Iterator[Sequence[Cell]]:
    """Yield a line for each rating that this person may see, by case; the case itself is named once it is closed."""
    closed, named = shows_results(calibration), names_raters(role)
    scale = Rubric.from_document(calibration.judge.rubric.document).scale
    ratings = Rating.objects.visible_to(user).filter(case__calibration=calibration).select_related("rater")
    by_case: dict[UUID, list[Rating]] = {}
    for rating in ratings:
        by_case.setdefault(rating.case_id, []).append(rating)
    hidden = hidden_examples(calibration.judge.rubric.name)
    cases = calibration.cases.filter(pk__in=by_case).defer("questions", "case__detail")
    for case in cases.select_related("case__transcript__entry__revision__example"):
        transcript = case.case.transcript
        said = people_say([rating.value for rating in by_case[case.pk]], scale)
        about: tuple[Cell, ...] = ("", "", "")
        if closed:
            about = (case.case_id, transcript.pk, transcript.entry.revision.example.external_id)
        told = closed and transcript.entry.revision_id not in hidden
        for rating in by_case[case.pk]:
            yield (
                calibration.pk,
                case.pk,
                case.set_name,
                *about,
                rating.pk,
                rating.rater.name if named and rating.rater else "",
                rating.rater_id == user.pk,
                rating.value,
                None if rating.value is None else scale.passes(rating.value),
                rating.note,
                rating.created_at,
                case.value if told else None,
                ("passed" if case.passed else "failed") if told else None,
                said if closed else None,
            )
