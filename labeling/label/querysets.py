"""Read label slots, the queue that reviewers work from, labels and skips; for agreement, first labels given blind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models import BooleanField, Count, Exists, F, Func, OuterRef, Q, Subquery, UUIDField, Value

from labeling.blindness import comparable, is_resolved, visible
from toolevals.workspace.models import Membership, Role, User, within

if TYPE_CHECKING:
    from labeling.models import Dataset, Label, LabelBatch, LabelSlot, Skip, SpareLabel  # noqa: F401
    from toolevals.workspace.models import Project, User


# One look at each slot's own few: with EXISTS, PostgreSQL would hold each slot against all that this person labelled,
# and plan joins of all these tables for longer than it looks.
MAY_LABEL = """(
(SELECT own.id FROM labeling_labelslot own
 WHERE own.revision_id = {revision} AND own.round = {round} AND own.reviewer_id = {person} LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_skip passed
 WHERE passed.revision_id = {revision} AND passed.reviewer_id = {person} AND passed.undone_at IS NULL LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_adjudication decided
 WHERE decided.revision_id = {revision} AND decided.adjudicator_id = {person} LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_gold restored
 WHERE restored.revision_id = {revision} AND restored.actor_id = {person}
 AND restored.source IN ('restored', 'second_look') LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_questionview seen
 WHERE seen.revision_id = {revision} AND seen.user_id = {person} LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_secondlook looked
 WHERE looked.revision_id = {revision} AND looked.reviewer_id = {person} LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_comment advised
 WHERE advised.revision_id = {revision} AND advised.author_id = {person}
 AND (advised.asker_id IS NULL OR advised.asker_id <> {person}) LIMIT 1) IS NULL
)"""
# The names of the expressions in the order of their places in the text.
PLACES = [part.partition("}")[0] for part in MAY_LABEL.split("{")[1:]]


class MayLabel(Func):
    """The condition on a slot under which a person may label its revision.

    They have no slot of the same round there, have not passed it on, and have not seen others' labels, by deciding, by
    putting gold in force or by opening another's question, nor what an agent proposes.
    """

    output_field = BooleanField()

    def __init__(self, person: User | OuterRef) -> None:
        who = person if isinstance(person, OuterRef) else Value(person.pk, output_field=UUIDField())
        super().__init__(F("revision"), F("round"), who)

    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> tuple[str, list[Any]]:  # type: ignore[override]
        """Return the text for these columns and this person."""
        names = ("revision", "round", "person")
        found = {name: compiler.compile(each) for name, each in zip(names, self.get_source_expressions(), strict=True)}
        text = MAY_LABEL.format(**{name: sql for name, (sql, _) in found.items()})
        return text, [value for name in PLACES for value in found[name][1]]


LOOK_AT = 10_000


class SlotQuerySet(models.QuerySet["LabelSlot"]):
    """Reads of slots."""

    def in_project(self, project: Project) -> SlotQuerySet:
        """Return the slots of the project's datasets."""
        return self.filter(within(project, "dataset"))

    def of_dataset(self, dataset: Dataset) -> SlotQuerySet:
        """Return the slots of one dataset."""
        return self.filter(dataset=dataset)

    def in_scope(self, scope: Dataset | Project) -> SlotQuerySet:
        """Return the slots of a dataset, or of all of a project's."""
        from labeling.models import Dataset

        return self.of_dataset(scope) if isinstance(scope, Dataset) else self.in_project(scope)

    def of_batch(self, batch: LabelBatch) -> SlotQuerySet:
        """Return the slots of one part of the work."""
        return self.filter(dataset=batch.dataset_id, batch=batch)

    def held_by(self, user: User) -> SlotQuerySet:
        """Return what this person has claimed and not submitted, the oldest claim first: one held ahead comes last."""
        from labeling.models import SlotState

        return self.filter(reviewer=user, state=SlotState.CLAIMED).order_by("claimed_at", "id")

    def free(self, now: datetime) -> SlotQuerySet:
        """Return the slots that no one holds: open, or claimed by someone whose lease has run out."""
        from labeling.models import SlotState

        return self.filter(
            Q(state=SlotState.OPEN) | Q(state=SlotState.CLAIMED, lease_until__lt=now),
            priority__isnull=False,
        )

    def of_current_round(self) -> SlotQuerySet:
        """Return the slots of each revision's current round: earlier ones are history."""
        return self.filter(round=F("revision__round"))

    def for_reviewer(self, user: User) -> SlotQuerySet:
        """Leave out what this person may not label, and slots that are kept for someone else."""
        return self.filter(Q(assignee=None) | Q(assignee=user), MayLabel(user))

    def kept_in_vain(self) -> SlotQuerySet:
        """Return the open slots that are kept for someone who may not label them, or may not label at all any more."""
        from labeling.models import SlotState

        role = {"role__gte": Role.REVIEWER, "user": OuterRef("assignee"), "project": OuterRef("dataset__project")}
        may = Q(Exists(Membership.objects.filter(**role)), MayLabel(OuterRef("assignee")))
        return self.filter(~may, assignee__isnull=False, state=SlotState.OPEN)

    def counted_states(self, user: User, *apart: str) -> models.QuerySet[Any, Any]:
        """Return the states of this person's slots, and how many are in each; behind values of `apart`, for each."""
        return self.filter(reviewer=user).order_by().values_list(*apart, "state").annotate(n=Count("pk"))

    def begun_by(self, user: User) -> SlotQuerySet:
        """Return the slots of revisions of which this person has a draft."""
        from labeling.models import Draft

        return self.filter(revision__in=Draft.objects.filter(user=user).values("revision"))

    def wanted_by(self, user: User) -> SlotQuerySet:
        """Return the slots that this person may ask for again, or is told why not.

        Those of what they have begun, and of what they have opened a question about.
        """
        from labeling.models import Draft, QuestionView

        begun, read = (rows.objects.filter(user=user).values("revision") for rows in (Draft, QuestionView))
        return self.filter(Q(revision__in=begun) | Q(revision__in=read))

    def in_turn(self) -> SlotQuerySet:
        """Return slots in the order of work: by priority, then by turn, then the oldest first.

        Nothing of it depends on labels: an example is offered at the same place whether others have labelled it or not.
        """
        return self.order_by("-priority", "turn", "revision_id", "id")

    def waiting_strata(self) -> dict[str, list[str]]:
        """Return the values of strata, sorted, among the first of these slots that want a label; without empty strata.

        It looks at so many only that a page can afford it.
        """
        from labeling.models import Example

        waiting = self.filter(priority__isnull=False).in_turn().values("revision")[:LOOK_AT]
        combinations = Example.objects.filter(current__in=waiting).order_by().values_list(*Example.STRATA).distinct()
        found: dict[str, set[str]] = {name: set() for name in Example.STRATA}
        for values in combinations:
            for name, value in zip(Example.STRATA, values, strict=True):
                found[name].add(value)
        return {name: sorted(filter(None, values)) for name, values in found.items() if any(values)}

    def with_content(self) -> SlotQuerySet:
        """Return slots with what their page shows loaded."""
        return self.select_related("revision__example__dataset__project", "revision__tools", "dataset")


class ComparedLabels(models.QuerySet["Label"]):
    """Reads of the labels that agreement is counted of."""

    def compared_in(self, dataset: Dataset, *, elsewhere: bool = False) -> Self:
        """Return the dataset's labels that may be compared before anyone: of what is resolved, and given blind.

        See `blind_firsts_in`.
        """
        return self.blind_firsts_in(dataset, elsewhere=elsewhere).filter(is_resolved())

    def blind_firsts_in(
        self, dataset: Dataset, submitted_until: datetime | None = None, *, elsewhere: bool = False
    ) -> Self:
        """Return the first labels of every round that were given blind, resolved or not: for figures of many alone.

        Of each person who has a label in force, the one that they submitted first, though they changed it. A label that
        was submitted after a decision that its author could read is not blind. `submitted_until` leaves out younger
        labels of what is not resolved. `elsewhere` takes labels that were given elsewhere, too, blind or not.
        """
        from labeling.models import Adjudication, Gold

        told = {
            "revision": OuterRef("revision"),
            "created_at__gt": OuterRef("slot__claimed_at"),
            "created_at__lt": OuterRef("created_at"),
        }
        blind = [Q(~Exists(decisions.filter(**told))) for decisions in (Gold.objects, Adjudication.objects)]
        # By its place: SQLite would go through all examples to find those with a label.
        rows = self.firsts().filter(*blind, slot__dataset=dataset)
        rows = rows if elsewhere else rows.filter(external_author="")
        return rows.filter(Q(created_at__lte=submitted_until) | is_resolved()) if submitted_until else rows

    def firsts(self) -> Self:
        """Return what everyone who has a label in force, or had in an earlier round, handed in first in that round."""
        from labeling.models import LabelSlot, SlotState

        place = LabelSlot.objects.filter(
            revision=OuterRef("revision"),
            round=OuterRef("slot__round"),
            reviewer=OuterRef("reviewer"),
            state=SlotState.SUBMITTED,
        )
        return self.filter(Q(Exists(place)) | Q(reviewer=None, withdrawn_at=None), is_first=True)

    def in_strata(self, strata: Mapping[str, str]) -> Self:
        """Return the labels of examples that have these values of strata."""
        return self.filter(**{f"revision__example__{name}": value for name, value in strata.items()})


class LabelQuerySet(ComparedLabels):
    """Reads of labels. Whatever leaves the application goes through `visible_to`."""

    def in_project(self, project: Project) -> LabelQuerySet:
        """Return the project's labels."""
        return self.filter(within(project, "revision__example__dataset"))

    def visible_to(self, user: User, role: Role) -> LabelQuerySet:
        """Return the labels that this person may see with their authors: their own, and those of what is resolved."""
        return self.filter(visible(user, role, author="reviewer"))

    def comparable_by(self, user: User, role: Role) -> LabelQuerySet:
        """Return the labels that this person may compare, unnamed: only `labeling.blindness.sides_of` reads them."""
        return self.filter(comparable(user, role))

    def newest(self) -> LabelQuerySet:
        """Return each slot's newest label, unless it was taken back; of every round of a revision."""
        newest = self.model.objects.filter(slot=OuterRef("slot")).order_by("-id")
        return self.filter(pk=Subquery(newest.values("pk")[:1]), withdrawn_at=None)

    def in_force(self) -> LabelQuerySet:
        """Return each slot's newest label, unless it was taken back; of each revision's current round."""
        return self.newest().filter(slot__round=F("revision__round"))

    def of_round(self, number: int) -> LabelQuerySet:
        """Return the labels of one round."""
        return self.filter(slot__round=number)

    def first_of_round(self) -> LabelQuerySet:
        """Return what each person said first, taken back or not, in each revision's current round."""
        return self.filter(is_first=True, slot__round=F("revision__round"))

    def standing(self, until: datetime | None = None) -> LabelQuerySet:
        """Return what `newest` does, as it was at a moment (None: now); made for counting very many."""
        later = self.model.objects.filter(slot=OuterRef("slot"), pk__gt=OuterRef("pk")).order_by()
        if until is None:
            return self.filter(~Exists(later), withdrawn_at=None)
        stood = Q(withdrawn_at=None) | Q(withdrawn_at__gt=until)
        return self.filter(stood, ~Exists(later.filter(created_at__lte=until)), created_at__lte=until)


class SpareLabelQuerySet(models.QuerySet["SpareLabel"]):
    """Reads of spare labels."""

    def in_project(self, project: Project) -> SpareLabelQuerySet:
        """Return the project's spare labels."""
        return self.filter(within(project, "revision__example__dataset"))

    def visible_to(self, user: User, role: Role) -> SpareLabelQuerySet:
        """Return the spare labels that this person may see: their own, and those of what is resolved."""
        return self.filter(visible(user, role, author="reviewer"))


class SkipQuerySet(models.QuerySet["Skip"]):
    """Reads of skips."""

    def visible_to(self, user: User, role: Role) -> SkipQuerySet:
        """Return the skips that this person may see."""
        return self.filter(visible(user, role, author="reviewer"))

    def standing(self) -> SkipQuerySet:
        """Return the skips that were not undone."""
        return self.filter(undone_at=None)
