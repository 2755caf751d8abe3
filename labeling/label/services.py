"""Hand in a label, change it, take it back: nothing is overwritten, each act adds a row or a time.

A label comes too late where its claim had ended and others had labelled the example: it is kept as a spare one. What
models suggest is kept, too, and what a person holds who does not label any more is released.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import transaction

from labeling.adjudicate.resolution import revision_evaluate, revision_locked, revision_wait
from labeling.blindness import RESOLVED, TO_DECIDE
from labeling.errors import InvalidAct, NoPlaceLeft
from labeling.expectations.reading import answer_read, expectation_read, rationale_read
from labeling.label.claims import FREE, lease_end, require_labelling, require_unread, slot_of_revision
from labeling.label.queries import guideline_number, locked_again, newest_label
from labeling.label.statements import LabelFacts, label_facts
from labeling.models import (
    Dataset,
    Draft,
    Example,
    Label,
    LabelAnswer,
    LabelSlot,
    Resolution,
    Revision,
    SlotState,
    SpareLabel,
    Suggestion,
)
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonObject
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Membership, Project, Role, User


class LabelContent(NamedTuple):
    """The content of a label."""

    answer: str
    expectation: JsonObject | None
    rationale: str
    flagged: bool


def label_submit(
    *,
    slot: LabelSlot,
    actor: User,
    expectation: Any | None = None,
    answer: str = LabelAnswer.EXPECTATION,
    rationale: str = "",
    flagged: bool = False,
    seconds: float = 0,
    suggestion: Any | None = None,
) -> Label:
    """Store a label and return it. Once it can no longer be changed, and all are in, the sweeper compares them.

    `answer` is a LabelAnswer: an expectation, or why no one can say one; only the former takes an `expectation`.
    `suggestion`: what a model suggested and the reviewer saw. The same content again is the same label: a retry adds
    nothing. Other content within the project's undo time is a change of mind: what was said first is kept, counts for
    agreement, and is shown to adjudicators. A claim that ran out still counts while any slot of the revision is
    free. Raises InvalidDocument for an answer that is none or an expectation that does not fit the offered tools,
    NoPlaceLeft where no slot is left, InvalidAct where it is too late for a change, or the example is resolved or
    reopened.
    """
    document = answer_read(slot.revision, answer, expectation)
    content = LabelContent(answer, document, rationale_read(rationale), flagged)
    with transaction.atomic():
        require_labelling(slot.revision.example.dataset.project, actor)
        revision = locked_again(slot.revision)
        facts = label_facts(revision, actor)
        place = _place(revision, slot, actor, facts)
        # Who has none in the round has none at its place.
        has_label = not facts.is_first or place.round != revision.round
        previous = _newest(place, actor) if has_label else None
        if previous is not None and _said(previous) == content:
            return previous
        if place.round != revision.round:
            raise InvalidAct("This example was reopened. Label it again.")
        if previous is not None:
            _require_changeable(revision, previous, actor)
        label: Label = Label.objects.create(
            slot=place,
            revision=revision,
            reviewer=actor,
            suggestion=suggestion,
            seconds=max(0.0, seconds),
            **content._asdict(),
            guideline=facts.guideline,
            is_first=facts.is_first,
        )
        LabelSlot.objects.filter(pk=place.pk).update(state=SlotState.SUBMITTED, lease_until=None, priority=None)
        Draft.objects.filter(revision=revision, user=actor).delete()
        audit_record(
            project=revision.example.dataset.project,
            actor=actor,
            verb="label_submit",
            target=label,
            detail={"revision": str(revision.pk)},
        )
        revision_wait(revision)
    return label


def label_withdraw(*, label: Label, actor: User) -> LabelSlot:
    """Take one's newest label back within the project's undo time and return its slot, claimed again.

    Taking it back twice is taking it back once. Raises InvalidAct where it is too late.
    """
    if label.reviewer_id != actor.pk:
        raise InvalidAct("Only the author can undo a label.")
    with transaction.atomic():
        require_labelling(label.revision.example.dataset.project, actor)
        revision = revision_locked(label.revision_id)
        slot = LabelSlot.objects.with_content().select_for_update(of=("self",)).get(pk=label.slot_id)
        newest = Label.objects.filter(slot=slot).order_by("-id")[0]
        if newest.pk != label.pk:
            raise InvalidAct("A newer label has replaced this one.")
        if newest.withdrawn_at is not None:
            return slot
        _require_time(revision, slot, label, actor)
        now = database_now()
        Label.objects.filter(pk=label.pk).update(withdrawn_at=now)
        # One that was on its way when the label was handed in, and came after it, holds less than the label.
        Draft.objects.filter(revision=revision, user=actor).delete()
        current = revision.example.current_id == revision.pk and revision.resolution != Resolution.PASSED_ON
        slot.state = SlotState.CLAIMED if current else SlotState.CLOSED
        slot.claimed_at, slot.lease_until = now, lease_end(now) if current else None
        slot.priority = revision.priority if current else None
        slot.save(update_fields=["state", "claimed_at", "lease_until", "priority"])
        audit_record(
            project=revision.example.dataset.project,
            actor=actor,
            verb="label_withdraw",
            target=label,
            detail={"revision": str(revision.pk)},
        )
        revision_evaluate(revision)
    return slot


def _require_time(revision: Revision, slot: LabelSlot, label: Label, actor: User) -> None:
    """Raise InvalidAct where the time to take a label back has passed."""
    if slot.round != revision.round or not may_change(label, revision.example.dataset.project):
        raise InvalidAct("The time to take this label back has passed.")
    _require_changeable(revision, label, actor)


def may_change(label: Label, project: Project) -> bool:
    """Tell whether the time to change a label, or to take it back, has not passed; it is the same for every label."""
    return database_now() <= label.created_at + timedelta(seconds=project.undo_seconds)


def _require_changeable(revision: Revision, label: Label, actor: User) -> None:
    """Raise InvalidAct where a label of a locked revision no longer changes.

    Where adjudicators may decide what they have labelled, they see the other labels once all are in: from then on
    their own stays what it was.
    """
    if revision.resolution in RESOLVED:
        raise InvalidAct("This example is resolved; its labels no longer change. You can dispute its gold.")
    project = revision.example.dataset.project
    if not may_change(label, project):
        raise InvalidAct("The time to change this label has passed.")
    if project.decide_own and revision.resolution in TO_DECIDE:
        chiefs = Membership.objects.filter(project=project, user=actor, role__gte=Role.ADJUDICATOR)
        if chiefs.exists():
            raise InvalidAct(
                "All labels are in. Because you may adjudicate this example, your label can no longer be changed."
            )


def _place(revision: Revision, slot: LabelSlot, actor: User, facts: LabelFacts) -> LabelSlot:
    """Return the slot that takes this person's label of a locked revision. Raises InvalidAct."""
    if slot.round != revision.round and _newest(slot, actor) is not None:
        return slot
    if facts.skipped:
        raise InvalidAct("You skipped this example. Undo the skip first.")
    place = slot_of_revision(revision, actor)
    if place is None:
        require_unread(revision, actor)
        raise NoPlaceLeft("Your claim has expired, and others have labelled this example.")
    return place


def _newest(slot: LabelSlot, actor: User) -> Label | None:
    """Return the slot's newest label if it is this person's and was not taken back."""
    newest = newest_label(slot)
    return newest if newest and newest.reviewer_id == actor.pk and newest.withdrawn_at is None else None


def _said(label: Label) -> LabelContent:
    return LabelContent(label.answer, label.expectation, label.rationale, label.flagged)


MAX_SUGGESTIONS = 1000


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
            raise InvalidAct("This example was not assigned to you.")
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


@dataclass(frozen=True, slots=True)
class SuggestionRow:
    """The expectation that a model suggests for one example, known by its external id; `source` names the model."""

    external_id: str
    expectation: Any
    source: str


def suggestions_store(*, dataset: Dataset, actor: User | None, rows: Sequence[SuggestionRow]) -> int:
    """Keep suggestions for the examples' current revisions, each in the place of an earlier one; return how many.

    All or nothing. Raises InvalidDocument, with a pointer `/<row>/...` for each fault: an example that is not there or
    is named twice, an expectation that is none or does not fit the offered tools, more than MAX_SUGGESTIONS rows.
    """
    if len(rows) > MAX_SUGGESTIONS:
        raise InvalidDocument([Problem("", f"at most {MAX_SUGGESTIONS} suggestions at once")])
    revisions = _revisions(dataset, {row.external_id for row in rows})
    problems: list[Problem] = []
    read: dict[Any, Suggestion] = {}
    for number, row in enumerate(rows):
        revision = revisions.get(row.external_id)
        if revision is None or revision.pk in read:
            words = "is not an example of this dataset" if revision is None else "is named twice"
            problems.append(Problem(f"/{number}/id", f"{row.external_id!r} {words}"))
            continue
        try:
            document = expectation_read(revision, row.expectation)
        except InvalidDocument as error:
            problems += [Problem(f"/{number}/expectation{one.pointer}", one.message) for one in error.problems]
            continue
        read[revision.pk] = Suggestion(revision=revision, source=row.source.strip()[:200], expectation=document)
    if problems:
        raise InvalidDocument(problems)
    _store(dataset, actor, read.values())
    return len(read)


@transaction.atomic
def _store(dataset: Dataset, actor: User | None, suggestions: Iterable[Suggestion]) -> None:
    kept = list(suggestions)
    Suggestion.objects.filter(revision__in=[one.revision_id for one in kept]).delete()
    Suggestion.objects.bulk_create(kept)
    audit_record(
        project=dataset.project, actor=actor, verb="suggestions_store", target=dataset, detail={"count": len(kept)}
    )


def _revisions(dataset: Dataset, names: set[str]) -> dict[str, Revision]:
    """Return the current revisions of the examples so named, by external id."""
    examples = Example.objects.of_dataset(dataset).with_content().filter(external_id__in=names)
    return {example.external_id: example.current for example in examples if example.current is not None}
