"""Decide as an adjudicator, take a decision back, dispute gold, and start an example again.

Nothing is overwritten: another round of labels begins, or earlier gold is put in force again. To change gold is an
adjudication.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, NamedTuple

from django.db import transaction

from labeling.adjudicate.resolution import gold_set, revision_evaluate, revision_locked, revision_set_aside, slots_close
from labeling.agreement.cache import agreement_forget
from labeling.blindness import RESOLVED, TO_DECIDE, decides_own, judges_own
from labeling.errors import InvalidAct
from labeling.expectations.reading import answer_read, expectation_read, rationale_required, text_required
from labeling.feedback.services import feedback_give
from labeling.models import (
    Adjudication,
    Dispute,
    Draft,
    Feedback,
    Gold,
    GoldSource,
    LabelAnswer,
    LabelSlot,
    Resolution,
    Revision,
    SecondLook,
    Skip,
)
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonObject
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Role, User

OWN_DISPUTE = "You have disputed this gold label; someone else must decide."
REOPENED = "revision_reopen"


def dispute_open(*, revision: Revision, actor: User | None, reason: str, expectation: Any = None) -> Dispute:
    """Ask an adjudicator to look at a revision's gold again, or at why it was set aside.

    The same dispute while it is open is the same row.

    `expectation`: what it should be, where that is known. Raises InvalidDocument for a bad one or a missing reason,
    InvalidAct where the revision is not resolved, or its dataset was deleted.
    """
    text = text_required(reason, name="reason")
    document = None if expectation is None else expectation_read(revision, expectation)
    with transaction.atomic():
        locked = revision_locked(revision.pk)
        if locked.example.dataset.is_deleted:
            raise InvalidAct("The dataset of this example was deleted: its gold cannot be disputed any more.")
        if locked.resolution not in RESOLVED:
            raise InvalidAct("This example has no gold to dispute.")
        for dispute in Dispute.objects.filter(revision=locked, actor=actor, reason=text).open():
            if dispute.expectation == document:
                return dispute
        dispute = Dispute.objects.create(revision=locked, actor=actor, reason=text, expectation=document)
        audit_record(
            project=locked.example.dataset.project,
            actor=actor,
            verb="dispute_open",
            target=dispute,
            detail={"revision": str(locked.pk)},
        )
    return dispute


def dispute_settle(*, dispute: Dispute, actor: User) -> Dispute:
    """Close a dispute and leave the gold as it is.

    Raises InvalidAct where `actor` has labelled the revision, or disputes its gold.
    """
    with transaction.atomic():
        revision = revision_locked(dispute.revision_id)
        require_stranger(revision, actor)
        if Dispute.objects.filter(pk=dispute.pk).open().update(settled_at=database_now()):
            audit_record(
                project=revision.example.dataset.project,
                actor=actor,
                verb="dispute_settle",
                target=dispute,
                detail={"revision": str(revision.pk)},
            )
    dispute.refresh_from_db()
    return dispute


@transaction.atomic
def dispute_assign(*, dispute: Dispute, actor: User, person: User | None, due_on: date | None = None) -> Dispute:
    """Say who should decide an open dispute and until when, or no one; others still may.

    Raises InvalidAct where the dispute is settled, or the person may not decide it: who does not adjudicate here, has
    labelled the example, or disputes its gold.
    """
    revision = revision_locked(dispute.revision_id)
    if revision.resolution not in RESOLVED or not Dispute.objects.filter(pk=dispute.pk).open().exists():
        raise InvalidAct("This dispute is settled, or its example is labelled again.")
    project = revision.example.dataset.project
    if person is not None:
        adjudicators = project.memberships.filter(role__gte=Role.ADJUDICATOR, user__is_active=True)
        if not adjudicators.filter(user=person).exists():
            raise InvalidAct(f"{person.name} does not adjudicate in this project.")
        if decides_own(revision, person) or judges_own(revision, person):
            raise InvalidAct(f"{person.name} has labelled the example or disputes its gold, and may not decide it.")
    dispute.assignee, dispute.due_on = person, due_on if person else None
    dispute.save(update_fields=["assignee", "due_on"])
    detail = {"person": str(person.pk) if person else None, "due_on": str(dispute.due_on) if dispute.due_on else None}
    audit_record(project=project, actor=actor, verb="dispute_assign", target=dispute, detail=detail)
    return dispute


class DecisionContent(NamedTuple):
    """The content of a decision."""

    answer: str
    expectation: Any | None
    rationale: str


def adjudication_decide(
    *, revision: Revision, actor: User, expectation: Any, rationale: str, seconds: float = 0
) -> Gold:
    """Decide what is right where labels differ, two people passed the example on, or the gold is disputed.

    The expectation becomes gold, and open disputes are settled. Where someone went over to an agent's proposal, the
    gold says so, whatever is decided. The same decision again returns its gold. Raises
    InvalidDocument for a bad expectation or a missing rationale, InvalidAct where `actor` has labelled the revision or
    disputes its gold, or there is nothing to decide.
    """
    content = DecisionContent(LabelAnswer.EXPECTATION, expectation, rationale)
    made = _decide(revision, actor, content, seconds)
    return Gold.objects.get(adjudication=made)


def adjudication_set_aside(
    *, revision: Revision, actor: User, answer: str, rationale: str, seconds: float = 0
) -> Adjudication:
    """Decide that there is no gold, and why: a LabelAnswer other than an expectation. Else as `adjudication_decide`."""
    if answer == LabelAnswer.EXPECTATION:
        raise InvalidDocument([Problem("/answer", "must say why there is no gold: ambiguous or missing_tool")])
    return _decide(revision, actor, DecisionContent(answer, None, rationale), seconds)


def adjudication_withdraw(*, adjudication: Adjudication, actor: User) -> Revision:
    """Take one's decision back within the project's undo time: what was in force before is again.

    Its rows stay, marked as taken back; doing it twice is doing it once. Raises InvalidAct where it is another's, too
    late, or something has happened since.
    """
    if adjudication.adjudicator_id != actor.pk:
        raise InvalidAct("Only the person who decided can undo the decision.")
    with transaction.atomic():
        revision = revision_locked(adjudication.revision_id)
        locked = Adjudication.objects.select_for_update().get(pk=adjudication.pk)
        if locked.withdrawn_at is not None:
            return revision
        now = database_now()
        project = revision.example.dataset.project
        if not is_in_force(locked, revision) or now > locked.created_at + timedelta(seconds=project.undo_seconds):
            raise InvalidAct("The time to take this decision back has passed. Reopen the example, or dispute its gold.")
        locked.withdrawn_at = now
        locked.save(update_fields=["withdrawn_at"])
        _restore(revision, locked.before)
        agreement_forget(revision.example.dataset)
        feedback_give(revision)
        audit_record(
            project=project,
            actor=actor,
            verb="adjudication_withdraw",
            target=locked,
            detail={"revision": str(revision.pk)},
        )
        revision_evaluate(revision)
    return revision


def is_in_force(adjudication: Adjudication, revision: Revision) -> bool:
    """Tell whether nothing has changed since a decision about the revision."""
    newest = Adjudication.objects.filter(revision=revision).order_by("-id").values_list("pk", flat=True).first()
    if newest != adjudication.pk or adjudication.withdrawn_at is not None:
        return False
    if adjudication.answer != LabelAnswer.EXPECTATION:
        return revision.set_aside_as == adjudication.answer
    gold = Gold.objects.filter(pk=revision.gold_id).first()
    return gold is not None and gold.adjudication_id == adjudication.pk


def require_no_own_label(revision: Revision, actor: User) -> None:
    """Raise InvalidAct where `actor` has ever labelled the revision: no one decides about their own work.

    Unless the project lets them, for teams of two.
    """
    if decides_own(revision, actor):
        raise InvalidAct("You have labelled this example; someone else must decide.")


def require_stranger(revision: Revision, actor: User) -> None:
    """Raise InvalidAct where `actor` has labelled the revision, or disputes its gold: no one decides their own case."""
    require_no_own_label(revision, actor)
    if judges_own(revision, actor):
        raise InvalidAct(OWN_DISPUTE)


def _decide(revision: Revision, actor: User, entered: DecisionContent, seconds: float) -> Adjudication:
    reason = rationale_required(entered.rationale)
    content = DecisionContent(entered.answer, answer_read(revision, entered.answer, entered.expectation), reason)
    with transaction.atomic():
        locked = revision_locked(revision.pk)
        require_stranger(locked, actor)
        disputes = Dispute.objects.filter(revision=locked).open()
        if locked.resolution not in TO_DECIDE and not (locked.resolution in RESOLVED and disputes.exists()):
            return _same_decision(locked, actor, content)
        made = Adjudication.objects.create(
            revision=locked,
            adjudicator=actor,
            **content._asdict(),
            seconds=max(0.0, seconds),
            before=_before(locked, [str(pk) for pk in disputes.values_list("pk", flat=True)]),
        )
        _put_in_force(locked, made)
        disputes.update(settled_at=database_now())
        Draft.objects.filter(revision=locked, user=actor).delete()
        feedback_give(locked)
        audit_record(
            project=locked.example.dataset.project,
            actor=actor,
            verb="adjudication_decide",
            target=made,
            detail={"revision": str(locked.pk), "gold": str(locked.gold_id) if locked.gold_id else None},
        )
    return made


def _put_in_force(revision: Revision, adjudication: Adjudication) -> None:
    if adjudication.expectation is None:
        revision_set_aside(revision, LabelAnswer(adjudication.answer))
        return
    looks = SecondLook.objects.of_weight(revision)
    agents = list(looks.order_by().values_list("proposal__plan__agent", flat=True).distinct())
    gold_set(
        revision,
        actor=adjudication.adjudicator,
        expectation=adjudication.expectation,
        rationale=adjudication.rationale,
        source=GoldSource.SECOND_LOOK if agents else GoldSource.ADJUDICATED,
        adjudication=adjudication,
        after_agents=agents,
    )


def _before(revision: Revision, disputes: list[str]) -> JsonObject:
    return {
        "resolution": str(revision.resolution),
        "set_aside_as": revision.set_aside_as,
        "gold": str(revision.gold_id) if revision.gold_id else None,
        "disputes": disputes,
    }


def _restore(revision: Revision, before: JsonObject) -> None:
    revision.resolution, revision.set_aside_as = before["resolution"], before["set_aside_as"]
    revision.gold = Gold.objects.get(pk=before["gold"]) if before["gold"] else None
    revision.save(update_fields=["resolution", "set_aside_as", "gold"])
    Dispute.objects.filter(pk__in=before["disputes"]).update(settled_at=None)


def _same_decision(revision: Revision, actor: User, content: DecisionContent) -> Adjudication:
    made = Adjudication.objects.filter(revision=revision).order_by("-id").first()
    if made is None or made.adjudicator_id != actor.pk or not is_in_force(made, revision):
        raise InvalidAct("Nothing to decide: the labels agree, or the example is already decided.")
    if DecisionContent(made.answer, made.expectation, made.rationale) != content:
        raise InvalidAct("You have decided this already. Dispute the gold to have it decided once more.")
    return made


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
            raise InvalidAct("This is an old revision. Only the current revision can be reopened.")
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
            verb=REOPENED,
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
