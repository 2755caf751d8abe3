"""Read label slots: the queue that reviewers work from."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q

from labeling.querysets.may_label import MayLabel
from toolevals.workspace.models import Membership, Role, within

if TYPE_CHECKING:
    from labeling.models import Dataset, LabelBatch, LabelSlot  # noqa: F401
    from toolevals.workspace.models import Project, User

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
