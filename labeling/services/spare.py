"""Keep a label that came too late: its claim had ended, and others had labelled the example."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from labeling.errors import InvalidAct, NoPlaceLeft
from labeling.models import Draft, Label, LabelAnswer, LabelSlot, SpareLabel
from labeling.queue.label_page_queries import guideline_number
from labeling.services.expectations import answer_read, rationale_read
from labeling.services.labels import label_submit
from labeling.services.resolution import revision_locked
from labeling.services.slots import require_labelling, require_unread
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import AuditEntry, User


def label_hand_in(*, slot: LabelSlot, actor: User, **said: Any) -> Label | SpareLabel:
    """Store a label as `label_submit` does; where no place is left for one whom the slot was handed to, keep it.

    Raises as `label_submit` does.
    """
    try:
        return label_submit(slot=slot, actor=actor, **said)
    except NoPlaceLeft:
        if not was_handed_out(slot, actor):
            raise
        return label_keep(slot=slot, actor=actor, **said)


def label_keep(
    *,
    slot: LabelSlot,
    actor: User,
    expectation: Any | None = None,
    answer: str = LabelAnswer.EXPECTATION,
    rationale: str = "",
    flagged: bool = False,
    seconds: float = 0,
    suggestion: Any | None = None,
) -> SpareLabel:
    """Keep a label for which no place is left as a spare one, and return it; the arguments are those of a label.

    It takes no place, counts in no agreement and resolves nothing. The same content again is the same spare label.
    Raises InvalidDocument as `label_submit` does, InvalidAct where the slot was never handed to this person, or they
    have opened another's question about the example.
    """
    document = answer_read(slot.revision, answer, expectation)
    said = {"answer": answer, "expectation": document, "rationale": rationale_read(rationale), "flagged": flagged}
    with transaction.atomic():
        require_labelling(slot.revision.example.dataset.project, actor)
        revision = revision_locked(slot.revision_id)
        require_unread(revision, actor)
        if not was_handed_out(slot, actor):
            raise InvalidAct("This example was not handed to you.")
        own = SpareLabel.objects.filter(revision=revision, round=slot.round, reviewer=actor)
        previous = own.order_by("-id").first()
        if previous is not None and all(getattr(previous, name) == value for name, value in said.items()):
            return previous
        spare = SpareLabel.objects.create(
            revision=revision,
            round=slot.round,
            reviewer=actor,
            guideline=guideline_number(revision.example.dataset_id),
            suggestion=suggestion,
            seconds=max(0.0, seconds),
            **said,
        )
        Draft.objects.filter(revision=revision, user=actor).delete()
        audit_record(
            project=revision.example.dataset.project,
            actor=actor,
            verb="label_keep",
            target=spare,
            detail={"revision": str(revision.pk)},
        )
    return spare


def was_handed_out(slot: LabelSlot, actor: User) -> bool:
    """Tell whether this person has ever claimed a slot."""
    return AuditEntry.objects.filter(target_id=slot.pk, verb="slot_claim", actor=actor).exists()
