"""Two worlds that differ only in what one person has said of examples that nobody has resolved.

Bea labels, doubts, skips, drafts and asks; in one world she says one thing, in the other another. Everything that
others have done is the same in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from labeling.exports import Selection
from labeling.models import Dataset, Label, Revision
from labeling.services import (
    Choice,
    adjudication_decide,
    batch_create,
    comment_add,
    draft_save,
    examples_import,
    export_start,
    label_submit,
    label_withdraw,
    lint_start,
    proposals_make,
    revision_reopen,
    slot_skip,
    version_freeze,
)
from tests.labeling.rows import NO_CALL, call, row
from toolevals.workspace.models import Project, Role, User

# Every word of hers begins with this in both worlds.
MARK = "bea-secret"
TO_LABEL = ("begun", "alone", "pair", "passed-on")
REOPENED = "reopened"


@dataclass(frozen=True)
class Said:
    """What Bea says in one world."""

    expectation: dict[str, Any]
    words: str
    flagged: bool
    answer: str = "expectation"

    def label(self, kind: str) -> dict[str, Any]:
        """Return the arguments of a label of hers; its words name the kind of place that they stand in."""
        return {
            "expectation": self.expectation,
            "rationale": f"{self.words}-{kind}",
            "flagged": self.flagged,
            "answer": self.answer,
        }


ROLES = {
    "bea": Role.REVIEWER,
    "zoe": Role.REVIEWER,
    "abe": Role.ADJUDICATOR,
    "ben": Role.OWNER,
    "carl": Role.REVIEWER,
    "nora": Role.ADJUDICATOR,
    "vera": Role.VIEWER,
}
# Ben says the same as Bea in the first world, and other than she does in the second.
WORLDS = (
    Said(call(order=f"{MARK}-order"), f"{MARK}-first", flagged=True),
    Said(NO_CALL, f"{MARK}-second", flagged=False),
)
BEN = call(order=f"{MARK}-order")


@dataclass(frozen=True)
class Scene:
    """One world: its people by name, its dataset, and the names of what addresses ask for."""

    project: Project
    dataset: Dataset
    people: dict[str, User]
    exports: list[UUID]
    batch: UUID
    revisions: dict[str, Revision]

    def arguments(self, name: str) -> dict[str, Any]:
        """Return the values of the arguments of addresses that are about one example."""
        revision = self.revisions[name]
        slots = revision.slots.order_by("number")
        hers = slots.filter(reviewer=self.people["bea"]).first() or slots[0]
        label = revision.labels.order_by("id").first() or self.revisions["alone"].labels.get()
        return {
            "example": revision.example_id,
            "revision": revision.pk,
            "slot": hers.pk,
            "label": label.pk,
            "skip": self.revisions["passed-on"].skips.get().pk,
            "gold": self.revisions[REOPENED].golds.get().pk,
            "batch": self.batch,
            "export": self.exports[0],
            "dataset": self.dataset.slug,
            "number": 1,
            "project": self.project.slug,
        }


def world_made(
    dataset: Dataset, people: dict[str, User], said: Said, work: Callable[[], object], *, decidable: bool
) -> Scene:
    """Let Bea, and Ben, who labels one example with her, say what they say; run what runs in the background.

    `decidable`: whether a second label of one example comes in, and a question is asked, of which adjudicators who
    have labelled nothing learn by right.
    """
    bea, ben, zoe = people["bea"], people["ben"], people["zoe"]
    to_label = [row(name) for name in (REOPENED, *TO_LABEL)]
    # At once: ids within one moment sort by the row's place in its import.
    examples_import(dataset=dataset, actor=None, rows=[*to_label, row("gold", expectation=NO_CALL)])
    batch = batch_create(dataset=dataset, actor=None, name="Spring", choice=Choice())
    revisions = {each.example.external_id: each for each in Revision.objects.filter(example__dataset=dataset)}

    def label(name: str, person: User, **more: Any) -> Label:
        return label_submit(slot=revisions[name].slots.order_by("-round")[0], actor=person, **more)

    label(REOPENED, bea, **said.label("earlier"))
    label(REOPENED, zoe, expectation=call(order="other"))
    adjudication_decide(revision=revisions[REOPENED], actor=people["abe"], expectation=call(), rationale="So it is.")
    revision_reopen(revision=revisions[REOPENED], actor=people["abe"], reason="Look again")
    label_withdraw(label=label("begun", bea, **said.label("taken-back")), actor=bea)
    draft_save(revision=revisions["begun"], actor=bea, document={"words": f"{said.words}-draft"})
    label("alone", bea, seconds=30, **said.label("alone"))
    if decidable:
        label("pair", bea, **said.label("pair"))
        label("pair", ben, expectation=BEN, rationale="I see it so.")
        comment_add(revision=revisions["pair"], asker=bea, actor=bea, text=f"{said.words}-question")
    slot_skip(slot=revisions["passed-on"].slots.all()[0], actor=bea, reason=f"{said.words}-skip")

    version_freeze(dataset=dataset, actor=None)
    lint_start(dataset=dataset, actor=None)
    proposals_make(dataset=dataset, actor=None)
    exports = [
        export_start(selection=Selection(dataset), actor=None, format=name).pk for name in ("jsonl", "labels_csv")
    ]
    work()
    for each in revisions.values():
        each.refresh_from_db()
    return Scene(dataset.project, dataset, people, exports, batch.pk, revisions)
