"""Release what a person holds in a project in which they do not label any more."""

from __future__ import annotations

from labeling.models import LabelSlot, SlotState
from labeling.services.slots import FREE
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import Project, Role, User


def places_release(*, project: Project, user: User, role: Role | None, actor: User | None) -> None:
    """Give everything back to the queue that a former reviewer has claimed, or that is kept for them.

    Their labels and drafts stay. Runs in the transaction that changes the membership, after that: claims wait for the
    membership's row, so that none comes after.
    """
    if role is not None and role >= Role.REVIEWER:
        return
    slots = LabelSlot.objects.in_project(project)
    for slot in slots.filter(reviewer=user, state=SlotState.CLAIMED).select_for_update(of=("self",)).order_by("pk"):
        LabelSlot.objects.filter(pk=slot.pk).update(**FREE)
        audit_record(project=project, actor=actor, verb="slot_release", target=slot, detail={"user": str(user.pk)})
    kept = list(slots.filter(assignee=user, state=SlotState.OPEN).order_by("pk").values_list("pk", flat=True))
    LabelSlot.objects.filter(pk__in=kept, assignee=user).update(assignee=None)
