"""Say who sees what while people rate a judge's cases. Every read of ratings and of judges' verdicts goes through here.

- While a calibration is open, what judges say by its rubric of the examples in it is shown to no one, in no role: not
  in the calibration, and nowhere else, whichever run or grading it is looked up in, since two runs may have done the
  same. Counts and rates stay, and so do other examples.
- A rating is shown to who gave it; to others once the calibration is closed. What came of it is shown to no one before.
- How many ratings someone has given is told to owners, from the beginning: it says nothing about what was said.
- Names of raters are for owners, always.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from toolevals.json_types import JsonMapping, JsonObject
from toolevals.workspace.models import Role, User

if TYPE_CHECKING:
    from toolevals.runs.models import CaseGrade, JudgeCalibration

HIDDEN = "Hidden while people rate this case blind."


def ratings_shown(user: User) -> Q:
    """Return the condition on a rating under which this person sees it."""
    return Q(rater=user) | Q(case__calibration__closed_at__isnull=False)


def shows_results(calibration: JudgeCalibration) -> bool:
    """Tell whether what came of a calibration may be shown, to anyone."""
    return not calibration.is_open


def names_raters(role: Role) -> bool:
    """Tell whether this person is told who rated."""
    return role >= Role.OWNER


def verdict_hidden() -> Exists:
    """Return the condition on a row of `JudgedCase` under which it is shown to no one."""
    from toolevals.runs.models import CalibratedCase

    return Exists(
        CalibratedCase.objects.filter(
            calibration__closed_at=None,
            calibration__judge__rubric__name=OuterRef("rubric"),
            case__transcript__entry__revision=OuterRef("case__transcript__entry__revision"),
        )
    )


def hidden_rubrics(revision: UUID) -> set[str]:
    """Return the rubrics by which judges' verdicts on an example are shown to no one."""
    from toolevals.runs.models import CalibratedCase

    rows = CalibratedCase.objects.filter(calibration__closed_at=None, case__transcript__entry__revision=revision)
    return set(rows.values_list("calibration__judge__rubric__name", flat=True))


def hidden_examples(rubric: str) -> set[UUID]:
    """Return the examples of which no one is shown what judges say by a rubric's name."""
    from toolevals.runs.models import CalibratedCase

    rows = CalibratedCase.objects.filter(calibration__closed_at=None, calibration__judge__rubric__name=rubric)
    return set(rows.values_list("case__transcript__entry__revision", flat=True))


def shown_detail(case: CaseGrade) -> JsonObject:
    """Return a case's detail without the judges' verdicts that are shown to no one."""
    hidden = hidden_rubrics(case.transcript.entry.revision_id) if case.detail.get("judged") else set()
    return detail_without(case.detail, hidden)


def hidden_in(project: UUID) -> dict[UUID, set[str]]:
    """Return what `hidden_rubrics` does, for every example of a project with anything hidden."""
    from toolevals.runs.models import CalibratedCase

    hidden: dict[UUID, set[str]] = {}
    rows = CalibratedCase.objects.filter(calibration__closed_at=None, calibration__judge__project=project)
    for revision, rubric in rows.values_list("case__transcript__entry__revision", "calibration__judge__rubric__name"):
        hidden.setdefault(revision, set()).add(rubric)
    return hidden


def detail_without(detail: JsonMapping, hidden: Collection[str]) -> JsonObject:
    """Return a case's detail without what judges say by these rubrics."""
    judged = detail.get("judged")
    if not judged or not hidden:
        return dict(detail)
    return {**detail, "judged": {name: said for name, said in judged.items() if name not in hidden}}
