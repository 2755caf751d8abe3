"""Release a claimed example when its page is closed or left."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from labeling.models import LabelSlot, SlotState
from toolevals.workspace.models import User

# Long enough for a reload, or a step aside and back, to find the claim still held.
GRACE = timedelta(seconds=60)


def slot_leave(*, slot: LabelSlot, actor: User) -> bool:
    """Let a claim that `actor` holds end in a minute unless it is renewed; return whether they hold it.

    Like a renewal it leaves no audit row: it decides nothing.
    """
    held = LabelSlot.objects.filter(pk=slot.pk, reviewer=actor, state=SlotState.CLAIMED)
    until = timezone.now() + GRACE
    held.filter(lease_until__gt=until).update(lease_until=until)
    return held.exists()
