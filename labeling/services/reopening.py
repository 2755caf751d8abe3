"""Start another round of labels, or put earlier gold in force again. Nothing is overwritten."""

from __future__ import annotations

from django.db import transaction

from labeling.agreement.cache import agreement_forget
from labeling.blindness import RESOLVED, TO_DECIDE
from labeling.errors import InvalidAct
from labeling.models import Dispute, Draft, Feedback, Gold, GoldSource, LabelSlot, Resolution, Revision, Skip
from labeling.services.adjudication import require_no_own_label, require_stranger
from labeling.services.expectations import text_required
from labeling.services.feedback import feedback_give
from labeling.services.resolution import gold_set, revision_locked, slots_close
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

VERB = "revision_reopen"


def revision_reopen(*, revision: Revision, actor: User, reason: str) -> Revision:
    """Begin another round of labels: the gold is no longer in force, what waits for a decision need not be decided.

    As many fresh slots as the project wants come first in the queue; skips no longer stand, disputes are settled by
    it. Raises InvalidDocument without a reason, InvalidAct where the revision is being labelled already or is not the
    one that its example shows, or where `actor` has labelled it and it is not resolved.
    """
    why = text_required(reason, name="reason")
    with transaction.atomic():
        locked = revision_locked(revision.pk)
        if locked.example.current_id != locked.pk:
            raise InvalidAct("The example shows other content now; an earlier revision is not labelled again.")
        if locked.resolution not in RESOLVED:
            require_no_own_label(locked, actor)
        if locked.resolution not in (*RESOLVED, *TO_DECIDE):
            raise InvalidAct("This example is being labelled already.")
        detail = {"revision": str(locked.pk), "reason": why, "gold": str(locked.gold_id) if locked.gold_id else None}
        slots_close(locked)
        locked.round += 1
        locked.resolution, locked.gold, locked.set_aside_as, locked.settles_at = Resolution.OPEN, None, "", None
        locked.save(update_fields=["round", "resolution", "gold", "set_aside_as", "settles_at"])
        now = database_now()
        Skip.objects.filter(revision=locked).standing().update(undone_at=now)
        Dispute.objects.filter(revision=locked).open().update(settled_at=now)
        # A decision half made compares labels that no longer count.
        Draft.objects.filter(revision=locked, user=actor).delete()
        Feedback.objects.filter(label__revision=locked).delete()
        agreement_forget(locked.example.dataset)
        _slots_add(locked)
        audit_record(
            project=locked.example.dataset.project,
            actor=actor,
            verb=VERB,
            target=locked,
            detail=detail | {"round": locked.round},
        )
    return locked


def gold_restore(*, gold: Gold, actor: User, reason: str) -> Gold:
    """Put earlier gold of a revision in force again, as new gold, and settle its disputes; labels are wanted no more.

    What is in force already is returned as it is. Raises InvalidDocument without a reason, InvalidAct where `actor` has
    labelled the revision, or disputes its gold.
    """
    why = text_required(reason, name="reason")
    with transaction.atomic():
        revision = revision_locked(gold.revision_id)
        require_stranger(revision, actor)
        if revision.gold_id == gold.pk or _is_restored(revision, gold, actor, why):
            return Gold.objects.get(pk=revision.gold_id)
        restored = gold_set(
            revision,
            actor=actor,
            expectation=gold.expectation,
            rationale=why,
            source=GoldSource.SECOND_LOOK if gold.after_agents else GoldSource.RESTORED,
            after_agents=gold.agents_seen,
        )
        Dispute.objects.filter(revision=revision).open().update(settled_at=database_now())
        feedback_give(revision)
        audit_record(
            project=revision.example.dataset.project,
            actor=actor,
            verb="gold_restore",
            target=restored,
            detail={"revision": str(revision.pk), "restored": str(gold.pk)},
        )
    return restored


def _is_restored(revision: Revision, gold: Gold, actor: User, reason: str) -> bool:
    """Tell whether the same was done before: a retry adds nothing."""
    again = [GoldSource.RESTORED, GoldSource.SECOND_LOOK]
    now = Gold.objects.filter(pk=revision.gold_id, source__in=again, actor=actor, rationale=reason).first()
    return now is not None and now.expectation == gold.expectation


def _slots_add(revision: Revision) -> None:
    dataset = revision.example.dataset
    LabelSlot.objects.bulk_create(
        LabelSlot(dataset=dataset, revision=revision, round=revision.round, number=number, priority=revision.priority)
        for number in range(dataset.project.labels_wanted)
    )
