"""Store the frozen versions of datasets, and read them; say how one is named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When

from labeling.coverage.models import GoldTool, ToolPart
from labeling.datasets.models import Dataset
from labeling.examples.models import Example
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.verdicts import EXPECTED, LONGEST
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, User, within
from toolevals.workspace.requests import whole_number

MOST_TAGS = 10
# A tag is never taken for a number, nor for what is not a version.
TAG = re.compile(r"[a-z][a-z0-9._-]{0,59}")
# Called so in addresses: what a dataset holds at the moment, frozen or not.
NOW = "now"
RESERVED = frozenset({"newest", NOW})
TAG_RULE = (
    "A tag begins with a lower-case letter; lower-case letters, digits, full stops, hyphens and underscores follow, "
    "60 characters at most. It is not “newest” or “now”."
)


def is_tag(name: str) -> bool:
    """Tell whether this can be a tag."""
    return TAG.fullmatch(name) is not None and name not in RESERVED


def tags_require(tags: Sequence[str]) -> list[str]:
    """Return the tags, each once, in their order. Raises InvalidDocument for one that is none, or too many."""
    distinct = list(dict.fromkeys(tags))
    problems = [Problem(f"/tags/{at}", f"{tag}: {TAG_RULE}") for at, tag in enumerate(tags) if not is_tag(tag)]
    if len(distinct) > MOST_TAGS:
        problems.append(Problem("/tags", f"A version has at most {MOST_TAGS} tags."))
    if problems:
        raise InvalidDocument(problems)
    return distinct


class DatasetVersionQuerySet(models.QuerySet["DatasetVersion"]):
    """Reads of frozen versions."""

    def in_project(self, project: Project) -> DatasetVersionQuerySet:
        """Return every version of the project's datasets, the newest of each first."""
        versions = self.filter(within(project, "dataset")).select_related("dataset", "actor")
        return versions.order_by("dataset", "-number")

    def called(self, name: str) -> DatasetVersion | None:
        """Return the version of one dataset that has this number or this tag, or None."""
        if (number := whole_number(name)) is not None:
            return self.filter(number=number).first()
        # Tags are kept as the text of a list: the lookup asks for the name with its quotes.
        return self.filter(tags__contains=f'"{name}"').first() if is_tag(name) else None

    def named(self, project: Project, name: str) -> DatasetVersion | None:
        """Return the version called "dataset" (the newest), "dataset@number" or "dataset@tag", or None."""
        slug, at, which = name.partition("@")
        versions = self.in_project(project).filter(dataset__slug=slug)
        return versions.called(which) if at else versions.first()


class EntryQuerySet(models.QuerySet["VersionEntry"]):
    """Reads of the entries of frozen versions."""

    def with_everything(self) -> EntryQuerySet:
        """Return entries with example, revision, gold and tool list loaded, in order."""
        return self.select_related("revision__example", "revision__tools", "gold").order_by("position")

    def stale(self) -> EntryQuerySet:
        """Return the entries whose gold is no longer in force for their revision, or that something else decides now.

        Adds `has_other_gold`: which of the two it is.
        """
        example = "revision__example__decided_by"
        own = Case(When(~Q(**{example: ""}), then=F(example)), default=F("revision__example__dataset__decided_by"))
        same_gold = Q(gold_id=F("revision__gold_id"))
        rows = self.alias(decided_now=own).exclude(same_gold, decided_by=F("decided_now"))
        return rows.annotate(has_other_gold=Case(When(same_gold, then=Value(0)), default=Value(1)))

    def of_version(self, version: DatasetVersion) -> EntryQuerySet:
        """Return a version's entries, in order."""
        return self.filter(version=version).order_by("position")

    def replaced(self) -> EntryQuerySet:
        """Return the entries whose example shows another revision or other gold now."""
        return self.exclude(revision=F("revision__example__current"), gold=F("revision__gold"))

    def expecting(self, tool: str) -> EntryQuerySet:
        """Return the entries whose gold calls a tool, as far as it was read; `(none)` and `(any)` are classes of it."""
        said = GoldTool.objects.filter(gold=OuterRef("gold"), part=ToolPart.EXPECTED, tool=tool)
        return self.filter(Exists(said))

    def named_like(self, text: str) -> EntryQuerySet:
        """Return the entries whose example's external id holds `text`."""
        return self.filter(revision__example__external_id__icontains=text) if text else self

    def in_strata(self, strata: Mapping[str, str]) -> EntryQuerySet:
        """Return the entries whose examples have these values now; names that are no strata are ignored."""
        chosen = {name: strata[name] for name in Example.STRATA if strata.get(name)}
        return self.filter(**{f"revision__example__{name}": value for name, value in chosen.items()})

    def differing_from(self, before: DatasetVersion) -> EntryQuerySet:
        """Return the entries that another version does not hold as they are: other revision, gold, or what decides."""
        same = self.model.objects.filter(
            version=before,
            revision=OuterRef("revision"),
            gold=OuterRef("gold"),
            decided_by=OuterRef("decided_by"),
        )
        return self.filter(~Exists(same.order_by()))

    def without_example_in(self, other: DatasetVersion) -> EntryQuerySet:
        """Return the entries whose example another version does not hold."""
        return self.filter(~Exists(self.model.objects.same_example(other)))

    def same_example(self, version: DatasetVersion) -> EntryQuerySet:
        """Return a version's entry of the example of an outer entry."""
        return self.filter(version=version, revision__example=OuterRef("revision__example")).order_by()


class DatasetVersion(models.Model):
    """Frozen example revisions with the gold that was in force: what runs are made against."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    note = models.CharField(max_length=300, blank=True)
    # Names that people gave it, such as "release-3".
    tags = DocumentField(default=list, blank=True)
    # How many examples it holds.
    size = models.PositiveIntegerField()
    # How many of them have gold of which source, counted when it is frozen; null before that was so.
    gold_sources = DocumentField(null=True, default=None)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = DatasetVersionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["dataset", "number"], name="dataset_version_number"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset.slug}@{self.number}"


class VersionEntry(models.Model):
    """One example of a dataset version, at its place."""

    id = PublicIdField()
    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="entries")
    position = models.PositiveIntegerField()
    revision = models.ForeignKey("labeling.Revision", on_delete=models.RESTRICT, related_name="+")
    gold = models.ForeignKey("labeling.Gold", on_delete=models.RESTRICT, related_name="+")
    # What decides it: the example's own, or what was the dataset's.
    decided_by = models.CharField(max_length=LONGEST, default=EXPECTED, db_default=EXPECTED)

    objects = EntryQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["version", "position"], name="version_position"),
            models.UniqueConstraint(fields=["version", "revision"], name="version_revision"),
        ]
