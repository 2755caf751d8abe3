"""Keep what models suggest and labels that came too late, and release what a person holds who does not label any more.

A label comes too late where its claim had ended and others had labelled the example. Suggestions are shown only where a
project wants that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from labeling.adjudicate.resolution import revision_locked
from labeling.errors import InvalidAct, NoPlaceLeft
from labeling.expectations.reading import answer_read, expectation_read, rationale_read
from labeling.models import (
    Dataset,
    Draft,
    Example,
    Label,
    LabelAnswer,
    LabelSlot,
    Revision,
    SlotState,
    SpareLabel,
    Suggestion,
)
from labeling.queue.label_page_queries import guideline_number
from labeling.services.labels import label_submit
from labeling.services.slots import FREE, require_labelling, require_unread
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.workspace.models import AuditEntry, Project, Role, User
from toolevals.workspace.services.audit import audit_record

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
            words = "is no example of this dataset" if revision is None else "is named twice"
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
