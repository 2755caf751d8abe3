"""Give and take back thumbs on single judgements."""

from __future__ import annotations

from django.db import transaction

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.judging.judge_snapshots import seats_of
from toolevals.runs.models import CaseGrade, JudgedCase, Thumb
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User

LONGEST_NOTE = 2_000


@transaction.atomic
def thumb_give(*, case: CaseGrade, rubric: str, actor: User, is_up: bool | None, note: str = "") -> Thumb:
    """Keep what a person thinks of a judge's verdict on a case, in the place of what they thought before.

    None takes it back. The same again adds nothing. Raises InvalidDocument where no judge passed or failed the case by
    this rubric, where its verdict is hidden, and for a note that is no text or too long.
    """
    if len(note) > LONGEST_NOTE or "\0" in note:
        raise InvalidDocument.at("/note", f"must be text of at most {LONGEST_NOTE:,} characters")
    seat = next((each for each in seats_of(case.grading) if each.rubric == rubric), None)
    verdicts = JudgedCase.objects.filter(case=case, rubric=rubric, status__in=("passed", "failed")).shown()
    if seat is None or not verdicts.exists():
        raise InvalidDocument.at("/rubric", "is none by which a judge's verdict on this case is shown")
    # A person's thumbs on a case take turns.
    CaseGrade.objects.select_for_update(no_key=True).only("pk").get(pk=case.pk)
    own = Thumb.objects.filter(case=case, rubric=rubric, person=actor, is_current=True)
    before = own.first()
    if before is not None and (before.is_up, before.note) == (is_up, note.strip()):
        return before
    own.update(is_current=False)
    thumb = Thumb.objects.create(
        case=case, rubric=rubric, judge_id=seat.judge, person=actor, is_up=is_up, note=note.strip()
    )
    detail = {"case": str(case.pk), "rubric": rubric, "said": thumb.words}
    audit_record(project=case.grading.run.project, actor=actor, verb="thumb_give", target=thumb, detail=detail)
    return thumb
