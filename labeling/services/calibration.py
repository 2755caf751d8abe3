"""Open a calibration round, answer its examples, close it.

Answers make no gold, take no place in the queue and count as no labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from labeling.blindness import RESOLVED
from labeling.calibration.choosing import MOST_ITEMS, named_examples, proposed_names
from labeling.errors import InvalidAct
from labeling.models import (
    CalibrationAnswer,
    CalibrationItem,
    CalibrationRound,
    Dataset,
    Draft,
    LabelAnswer,
    Revision,
)
from labeling.services.expectations import answer_read, rationale_read, text_required
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

USUAL_SIZE = 20


@transaction.atomic
def calibration_open(
    *,
    dataset: Dataset,
    actor: User | None,
    name: str,
    names: Sequence[str] = (),
    size: int = USUAL_SIZE,
    comes_first: bool = False,
) -> CalibrationRound:
    """Return a new round of the solved examples of these names, or, where none is named, of `size` proposed ones.

    With `comes_first` no one is handed examples of the dataset before they have answered it. Raises InvalidDocument
    for an empty name or a size that is none, InvalidAct where an example named is not solved, or none is.
    """
    title = text_required(name, name="name")
    chosen = list(names) or proposed_names(dataset, size, seed=title)
    if len(chosen) > MOST_ITEMS or not 1 <= size <= MOST_ITEMS:
        raise InvalidDocument([Problem("/size", f"a round holds 1 to {MOST_ITEMS} examples")])
    revisions = named_examples(dataset, chosen)
    if not revisions:
        raise InvalidAct("This dataset has no solved example yet: a round is compared with gold.")
    opened = CalibrationRound.objects.create(dataset=dataset, name=title[:120], comes_first=comes_first, actor=actor)
    CalibrationItem.objects.bulk_create(
        CalibrationItem(round=opened, position=place, revision_id=revision)
        for place, revision in enumerate(revisions, start=1)
    )
    detail = {"name": opened.name, "examples": len(revisions), "comes_first": comes_first}
    audit_record(project=dataset.project, actor=actor, verb="calibration_open", target=opened, detail=detail)
    return opened


def calibration_answer(
    *,
    item: CalibrationItem,
    actor: User,
    expectation: Any | None = None,
    answer: str = LabelAnswer.EXPECTATION,
    rationale: str = "",
    seconds: float = 0,
) -> CalibrationAnswer:
    """Store what a person says of one example of a round, once and for all; a retry adds nothing.

    Validated as a label is. Raises InvalidDocument as `label_submit` does, InvalidAct where they have said something
    else before, the round is closed, or the example was reopened.
    """
    document = answer_read(item.revision, answer, expectation)
    said = {"answer": str(answer), "expectation": document, "rationale": rationale_read(rationale)}
    with transaction.atomic():
        # Answers and the round's end take turns.
        calibration = CalibrationRound.objects.select_for_update().get(pk=item.round_id)
        previous = CalibrationAnswer.objects.filter(item=item, reviewer=actor).first()
        if previous is not None:
            if {name: getattr(previous, name) for name in said} != said:
                raise InvalidAct("You have answered this example: in a calibration round the first answer counts.")
            return previous
        _require_open(calibration, item)
        given = CalibrationAnswer.objects.create(item=item, reviewer=actor, seconds=max(0.0, seconds), **said)
        Draft.objects.filter(revision=item.revision_id, user=actor).delete()
        audit_record(
            project=item.revision.example.dataset.project,
            actor=actor,
            verb="calibration_answer",
            target=given,
            detail={"round": str(calibration.pk), "item": str(item.pk)},
        )
    return given


@transaction.atomic
def calibration_close(*, calibration: CalibrationRound, actor: User | None) -> CalibrationRound:
    """End a round: no one answers it any more, and everyone who labels may see what came of it.

    Closing twice is closing once.
    """
    now = database_now()
    if not CalibrationRound.objects.filter(pk=calibration.pk, closed_at=None).update(closed_at=now):
        calibration.refresh_from_db()
        return calibration
    calibration.closed_at = now
    asked = CalibrationItem.objects.filter(round=calibration).asked()
    Draft.objects.filter(revision__in=asked.order_by().values("revision")).delete()
    project = calibration.dataset.project
    audit_record(project=project, actor=actor, verb="calibration_close", target=calibration)
    return calibration


def _require_open(calibration: CalibrationRound, item: CalibrationItem) -> None:
    if calibration.closed_at is not None:
        raise InvalidAct("This calibration round is closed.")
    if not Revision.objects.filter(pk=item.revision_id, resolution__in=RESOLVED).exists():
        raise InvalidAct("This example was reopened: the round goes on without it until it is resolved again.")
