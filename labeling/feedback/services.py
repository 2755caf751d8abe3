"""Give people feedback on their labels where another person decided."""

from __future__ import annotations

from django.db import transaction

from labeling.blindness import RESOLVED
from labeling.expectations.meaning import meaning
from labeling.models import Adjudication, Feedback, Gold, GoldSource, Label, LabelAnswer, Revision
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User

# The gold in force is what people said: there is nothing to tell, except to those who said otherwise before.
BY_LABELS = frozenset({GoldSource.AGREED, GoldSource.ELSEWHERE, GoldSource.SINGLE, GoldSource.IMPORTED})


def feedback_give(revision: Revision) -> None:
    """Tell everyone who labelled a locked revision, in whatever round, what is in force now, and whether it differs.

    It takes the place of what they were told before. Runs in the caller's transaction, which leaves the audit row.
    """
    Feedback.objects.filter(label__revision=revision).delete()
    if revision.resolution not in RESOLVED:
        return
    gold = Gold.objects.select_related("adjudication").filter(pk=revision.gold_id).first()
    by_labels = gold is not None and gold.source in BY_LABELS
    decision = gold.adjudication if gold else _set_aside_by(revision)
    if gold is None and decision is None:
        by_labels = True
    answer = LabelAnswer.EXPECTATION if gold else LabelAnswer(revision.set_aside_as)
    decided = meaning(answer, gold.expectation if gold else None)
    rows = [
        Feedback(
            label=label,
            reviewer=label.reviewer,
            gold=gold,
            adjudication=decision,
            differs=meaning(label.answer, label.expectation) != decided,
        )
        for label in Label.objects.filter(revision=revision, reviewer__isnull=False).newest().select_related("reviewer")
    ]
    Feedback.objects.bulk_create(row for row in rows if row.differs or not by_labels)


@transaction.atomic
def feedback_mark_seen(*, project: Project, actor: User) -> int:
    """Mark what this person was told in a project as read; return how much that was."""
    seen = Feedback.objects.for_reviewer(project, actor).unseen().update(seen_at=database_now())
    if seen:
        audit_record(project=project, actor=actor, verb="feedback_mark_seen", target=project, detail={"seen": seen})
    return seen


def _set_aside_by(revision: Revision) -> Adjudication | None:
    """Return the decision that set the revision aside; None where its labels agreed on that."""
    newest = Adjudication.objects.filter(revision=revision, withdrawn_at=None).order_by("-id").first()
    if newest is None or newest.answer != revision.set_aside_as:
        return None
    later = Label.objects.filter(revision=revision, created_at__gt=newest.created_at, withdrawn_at=None)
    return None if later.exists() else newest
