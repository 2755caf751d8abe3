"""Decide as an adjudicator, and take a decision back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from django.db import transaction

from labeling.agreement.cache import agreement_forget
from labeling.blindness import RESOLVED, TO_DECIDE, decides_own, judges_own
from labeling.errors import InvalidAct
from labeling.models import Adjudication, Dispute, Draft, Gold, GoldSource, LabelAnswer, Revision, SecondLook
from labeling.services.expectations import answer_read, rationale_required
from labeling.services.feedback import feedback_give
from labeling.services.resolution import gold_set, revision_evaluate, revision_locked, revision_set_aside
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

OWN_DISPUTE = "You have disputed this gold label; someone else must decide."


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
        raise InvalidAct("Only who decided can take a decision back.")
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


def _before(revision: Revision, disputes: list[str]) -> dict[str, Any]:
    return {
        "resolution": str(revision.resolution),
        "set_aside_as": revision.set_aside_as,
        "gold": str(revision.gold_id) if revision.gold_id else None,
        "disputes": disputes,
    }


def _restore(revision: Revision, before: dict[str, Any]) -> None:
    revision.resolution, revision.set_aside_as = before["resolution"], before["set_aside_as"]
    revision.gold = Gold.objects.get(pk=before["gold"]) if before["gold"] else None
    revision.save(update_fields=["resolution", "set_aside_as", "gold"])
    Dispute.objects.filter(pk__in=before["disputes"]).update(settled_at=None)


def _same_decision(revision: Revision, actor: User, content: DecisionContent) -> Adjudication:
    made = Adjudication.objects.filter(revision=revision).order_by("-id").first()
    if made is None or made.adjudicator_id != actor.pk or not is_in_force(made, revision):
        raise InvalidAct("There is nothing to decide: the labels do not differ, or someone has decided already.")
    if DecisionContent(made.answer, made.expectation, made.rationale) != content:
        raise InvalidAct("You have decided this already. Dispute the gold to have it decided once more.")
    return made
