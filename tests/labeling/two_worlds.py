"""Two worlds that differ only in what one person has said of examples that nobody has resolved.

Bea labels, doubts, skips, drafts and asks, has a spare label and a second look; in one world she says one thing, in the
other another. Everything that others have done is the same in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import adjudication_decide, revision_reopen
from labeling.batches.services import Choice, batch_create
from labeling.exports import Selection
from labeling.exports.services import export_start
from labeling.imports.services import examples_import
from labeling.label.claims import draft_save, slot_skip
from labeling.label.services import label_submit, label_withdraw
from labeling.lint.services import lint_start
from labeling.models import Dataset, Example, Label, LookPlan, LookProposal, Revision, SecondLook, SpareLabel
from labeling.proposals.services import proposals_make
from labeling.questions.services import comment_add
from labeling.versions.services import version_freeze
from tests.labeling.rows import NO_CALL, call, row
from tests.labeling.windows import later
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, Role, User

# Every word of hers begins with this in both worlds.
MARK = "bea-secret"
# Strata of what is still to label begin with this; the rest of one says whether reviewers may see it.
STRATUM = "stratum-of"
SAFE_STRATUM = f"{STRATUM}-safe"
TO_LABEL = ("begun", "alone", "pair", "passed-on")
REOPENED = "reopened"


@dataclass(frozen=True)
class Said:
    """What Bea says in one world."""

    expectation: dict[str, Any]
    words: str
    flagged: bool
    answer: str = "expectation"
    # How long it took her; and whether she came after Ben where both have labelled, some minutes later than else.
    seconds: float = 30
    is_late: bool = False

    def label(self, kind: str) -> dict[str, Any]:
        """Return the arguments of a label of hers; its words name the kind of place that they stand in."""
        return {
            "expectation": self.expectation,
            "rationale": f"{self.words}-{kind}",
            "flagged": self.flagged,
            "answer": self.answer,
            "seconds": self.seconds,
        }


ROLES = {
    "bea": Role.REVIEWER,
    "zoe": Role.REVIEWER,
    "abe": Role.ADJUDICATOR,
    "ben": Role.OWNER,
    "carl": Role.REVIEWER,
    "nora": Role.ADJUDICATOR,
    "olga": Role.OWNER,
    "vera": Role.VIEWER,
}
# Ben says the same as Bea in the first world, and other than she does in the second.
WORLDS = (
    Said(call(order=f"{MARK}-order"), f"{MARK}-first", flagged=True),
    Said(NO_CALL, f"{MARK}-second", flagged=False, seconds=3000),
)
# She says the same in both, at other times. Ben says otherwise.
TIMES = (WORLDS[1], replace(WORLDS[1], seconds=10, is_late=True))
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
    dataset: Dataset,
    people: dict[str, User],
    said: Said,
    work: Callable[[], object],
    *,
    decidable: bool,
    pass_time: Callable[[float], None],
) -> Scene:
    """Let Bea, and Ben, who labels one example with her, say what they say; run what runs in the background.

    `pass_time` moves the clock. `decidable`: whether a second label of one example comes in, and a question is asked,
    of which adjudicators who have labelled nothing learn by right.
    """
    bea, ben, zoe = people["bea"], people["ben"], people["zoe"]
    to_label = [row(name) for name in (REOPENED, *TO_LABEL)]
    # At once: ids within one moment sort by the row's place in its import.
    examples_import(dataset=dataset, actor=None, rows=[*to_label, row("gold", expectation=NO_CALL)])
    planted = {name: SAFE_STRATUM if name == "difficulty" else STRATUM for name in Example.STRATA}
    Example.objects.filter(dataset=dataset, external_id__in=[REOPENED, *TO_LABEL]).update(**planted)
    batch = batch_create(dataset=dataset, actor=None, name="Spring", choice=Choice())
    revisions = {each.example.external_id: each for each in Revision.objects.filter(example__dataset=dataset)}

    def label(name: str, person: User, **more: Any) -> Label:
        return label_submit(slot=revisions[name].slots.order_by("-round")[0], actor=person, **more)

    label(REOPENED, bea, **said.label("earlier"))
    label(REOPENED, zoe, expectation=call(order="other"))
    settle_due(later())
    adjudication_decide(revision=revisions[REOPENED], actor=people["abe"], expectation=call(), rationale="So it is.")
    revision_reopen(revision=revisions[REOPENED], actor=people["abe"], reason="Look again")
    label_withdraw(label=label("begun", bea, **said.label("taken-back")), actor=bea)
    draft_save(revision=revisions["begun"], actor=bea, document={"words": f"{said.words}-draft"})
    label("alone", bea, **said.label("alone"))
    if decidable:
        pair = [(bea, said.label("pair")), (ben, {"expectation": BEN, "rationale": "I see it so.", "seconds": 60})]
        for person, more in reversed(pair) if said.is_late else pair:
            label("pair", person, **more)
            pass_time(120 if said.is_late else 30)
        pass_time(-240 if said.is_late else -60)
        comment_add(revision=revisions["pair"], asker=bea, actor=bea, text=f"{said.words}-question")
    _look(dataset, revisions["alone"], bea, said)
    slot_skip(slot=revisions["passed-on"].slots.all()[0], actor=bea, reason=f"{said.words}-skip")
    SpareLabel.objects.create(revision=revisions["passed-on"], round=1, reviewer=bea, **said.label("spare"))

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


def _look(dataset: Dataset, revision: Revision, person: User, said: Said) -> None:
    """Let an agent's proposal for what a person has labelled be seen, and answered in one world as in no other."""
    proposed = call(order="proposed")
    plan = LookPlan.objects.create(dataset=dataset, run=1, agent="Rival")
    proposal = LookProposal.objects.create(plan=plan, revision=revision, expectation=proposed)
    SecondLook.objects.create(
        proposal=proposal,
        label=revision.labels.get(),
        revision=revision,
        reviewer=person,
        answer="went_over" if said.flagged else "kept",
        remark=f"{said.words}-look",
        answered_at=database_now(),
    )
