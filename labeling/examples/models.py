"""Store examples with their revisions, and read them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from itertools import chain
from typing import Any, ClassVar

from django.apps import apps
from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from labeling.blindness import (
    OPEN,
    RESOLVED,
    TO_DECIDE,
    is_resolved,
    is_told,
    labelled_by,
    may_decide,
    may_judge,
    shown_resolution,
)
from labeling.datasets.models import Dataset
from toolevals.grading.reading.examples import STRATA
from toolevals.grading.values.verdicts import LONGEST
from toolevals.registry.models import ToolList
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, Role, User, within


class ExampleQuerySet(models.QuerySet["Example"]):
    """Reads of examples."""

    def in_project(self, project: Project) -> ExampleQuerySet:
        """Return the project's examples."""
        return self.filter(within(project, "dataset"))

    def of_dataset(self, dataset: Dataset) -> ExampleQuerySet:
        """Return the dataset's examples."""
        return self.filter(dataset=dataset)

    def with_content(self) -> ExampleQuerySet:
        """Return examples with their current revision, its gold and its tool list loaded."""
        return self.select_related("current__gold", "current__tools", "dataset")

    def seen_by(self, user: User, role: Role) -> ExampleQuerySet:
        """Add `status`: the current revision's resolution, as far as this person is told."""
        return self.annotate(status=shown_resolution(user, role, revision="current"))

    def in_status(self, status: str, role: Role) -> ExampleQuerySet:
        """Return the examples that `seen_by` says are in one status to this role; all where none is named."""
        if not status:
            return self
        if not is_told(status, role):
            return self.none()
        if status in RESOLVED:
            return self.filter(current__resolution=status)
        # A person who sees more than "open" sees what is stored, and that has an index.
        stored = Q() if status == OPEN else Q(current__resolution=status)
        return self.filter(stored, Q(("status", status)))

    def with_gold_from(self, source: str) -> ExampleQuerySet:
        """Return the examples whose gold in force has this source."""
        return self.filter(current__resolution=RESOLVED[0], current__gold__source=source)

    def named_like(self, text: str) -> ExampleQuerySet:
        """Return the examples whose external id holds `text`."""
        return self.filter(external_id__icontains=text) if text else self

    def strata_values(self, *, hidden: Collection[str], most: int | None = None) -> dict[str, list[str]]:
        """Return the values of strata among these examples, sorted, without empty strata.

        `hidden`: strata that are told of resolved examples alone. `most`: look at so many of the oldest and of the
        newest only, which a page can afford of any dataset.
        """
        told = ("current__resolution", *self.model.STRATA)
        rows = self.order_by().values_list(*told)
        ends = [self.order_by("-pk"), self.order_by("pk")]
        looked_at = [end.values_list(*told)[:most] for end in ends] if most else [rows.distinct()]
        found: dict[str, set[str]] = {name: set() for name in self.model.STRATA}
        for resolution, *values in chain.from_iterable(looked_at):
            for name, value in zip(self.model.STRATA, values, strict=True):
                if resolution in RESOLVED or name not in hidden:
                    found[name].add(value)
        return {name: sorted(filter(None, values)) for name, values in found.items() if any(values)}

    def in_strata(self, strata: dict[str, str], *, hidden: Collection[str]) -> ExampleQuerySet:
        """Return the examples that have these values; names that are no strata are ignored.

        `hidden`: strata by which resolved examples alone are found.
        """
        asked = {name: value for name, value in strata.items() if name in self.model.STRATA and value}
        examples = self.filter(**asked)
        return examples.filter(is_resolved("current")) if any(name in hidden for name in asked) else examples


class RevisionQuerySet(models.QuerySet["Revision"]):
    """Reads of revisions."""

    def in_project(self, project: Project) -> RevisionQuerySet:
        """Return the project's revisions, superseded ones included."""
        return self.filter(within(project, "example__dataset"))

    def current(self) -> RevisionQuerySet:
        """Return the revisions that their examples show now."""
        return self.filter(example__current=F("pk"))

    def resolved(self) -> RevisionQuerySet:
        """Return the revisions that have gold or were set aside."""
        return self.filter(is_resolved(""))

    def with_content(self) -> RevisionQuerySet:
        """Return revisions with their example, dataset, tool list and gold loaded."""
        return self.select_related("example__dataset__project", "tools", "gold")

    def due(self, now: datetime) -> RevisionQuerySet:
        """Return the revisions whose newest label can no longer be changed, and that were not looked at since."""
        return self.filter(settles_at__lte=now, settles_at__isnull=False)

    def to_adjudicate(self, project: Project, user: User) -> RevisionQuerySet:
        """Return what waits for this person's decision, the oldest first: never gold that they dispute themselves.

        Nor what they have labelled, unless the project lets them. Whether the person may adjudicate at all is decided
        by their role, before.
        """
        disputed = Q(pk__in=_openly_disputed(), resolution__in=RESOLVED)
        return (
            self.in_project(project)
            .current()
            .filter(Q(resolution__in=TO_DECIDE) | disputed)
            .filter(Q() if project.decide_own else may_decide(user, ""), may_judge(user))
            .with_content()
            .order_by("id")
        )

    def differing_for(self, project: Project, user: User) -> RevisionQuerySet:
        """Return the part of `to_adjudicate` whose labels differ or were passed on: found by its index alone."""
        return self._decidable_by(project, user).filter(resolution__in=TO_DECIDE)

    def disputed_for(self, project: Project, user: User) -> RevisionQuerySet:
        """Return the part of `to_adjudicate` whose gold is disputed: found by the open disputes alone."""
        disputed = self._decidable_by(project, user).filter(pk__in=_openly_disputed(), resolution__in=RESOLVED)
        return disputed.filter(may_judge(user))

    def _decidable_by(self, project: Project, user: User) -> RevisionQuerySet:
        """Return the current revisions of the project that this adjudicator may decide.

        The place is a condition on each revision: joined, PostgreSQL takes the rows for few and reads all of them.
        """
        current = Example.objects.filter(within(project, "dataset"), current=OuterRef("pk"))
        own = Q() if project.decide_own else ~labelled_by(user, OuterRef("pk"))
        return self.filter(Exists(current), own)


def _openly_disputed() -> Any:
    """Return the ids of the revisions whose gold someone disputes, and no one has said who is right."""
    disputes: Any = apps.get_model("labeling", "Dispute").objects
    return disputes.open().values("revision")


class Example(models.Model):
    """One decision point or scenario, known in its dataset by an external id. Strata are mutable metadata."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="examples", db_index=False)
    external_id = models.CharField(max_length=200)
    current = models.OneToOneField("labeling.Revision", null=True, on_delete=models.RESTRICT, related_name="+")
    # Strata; empty where not said.
    bucket = models.CharField(max_length=40, blank=True)
    no_call_kind = models.CharField(max_length=40, blank=True)
    difficulty = models.CharField(max_length=40, blank=True)
    edge_case = models.CharField(max_length=60, blank=True)
    error_class = models.CharField(max_length=40, blank=True)
    effect = models.CharField(max_length=10, blank=True)
    # What the source calls its kind of example.
    category = models.CharField(max_length=60, blank=True)
    # What decides it: see `toolevals.grading.values.verdicts`; empty where its dataset's default does.
    decided_by = models.CharField(max_length=LONGEST, blank=True, default="", db_default="")
    created_at = MomentField(auto_now_add=True)

    objects = ExampleQuerySet.as_manager()

    STRATA: ClassVar[tuple[str, ...]] = STRATA

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["dataset", "external_id"], name="example_external_id"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["dataset", "id"], name="example_dataset")]

    @property
    def strata(self) -> dict[str, str]:
        """The strata that are said, by name."""
        return {name: value for name in self.STRATA if (value := getattr(self, name))}


AGAIN_FIRST = 1


class Resolution(models.TextChoices):
    """The stage of a revision's labelling."""

    OPEN = "open", "to label"
    DISAGREED = "disagreed", "to adjudicate"
    # Two people passed it on: an adjudicator decides.
    PASSED_ON = "passed_on", "passed on, to adjudicate"
    RESOLVED = "resolved", "gold"
    # There is no gold, on purpose: ambiguous, or the right tool is missing.
    SET_ASIDE = "set_aside", "set aside"


class Revision(models.Model):
    """The content of an example: its input and the tools offered, by content. Labels stay with their revision."""

    id = PublicIdField()
    example = models.ForeignKey(Example, on_delete=models.CASCADE, related_name="revisions", db_index=False)
    number = models.PositiveIntegerField()
    # SHA-256 over input and offered tools.
    digest = models.CharField(max_length=64)
    # `{"messages": [...], "context": {...}}`
    input = DocumentField()
    tools = models.ForeignKey(ToolList, on_delete=models.RESTRICT, related_name="+")
    resolution = models.CharField(max_length=12, choices=Resolution.choices, default=Resolution.OPEN)
    # Why it was set aside: a LabelAnswer other than an expectation.
    set_aside_as = models.CharField(max_length=12, blank=True, db_default="")
    # Counts from 1; reopening an example begins another round of labels.
    round = models.PositiveSmallIntegerField(default=1, db_default=1)
    # How far agents differ about it, 0..1; written by those who run them.
    disagreement = models.FloatField(default=0, db_default=0)
    # From when on its labels may be compared, if all are in: the newest can no longer be changed then.
    settles_at = models.DateTimeField(null=True)
    # The newest decision, which is in force.
    gold = models.OneToOneField("labeling.Gold", null=True, on_delete=models.RESTRICT, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = RevisionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["example", "number"], name="revision_number"),
            models.UniqueConstraint(fields=["example", "digest"], name="revision_digest"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["resolution", "id"], name="revision_resolution"),
            models.Index(fields=["settles_at"], name="revision_settles", condition=models.Q(settles_at__isnull=False)),
        ]

    @property
    def priority(self) -> int:
        """The priority of its slots in the queue: what was reopened comes first. Labels change nothing about it."""
        return AGAIN_FIRST if self.round > 1 else 0
