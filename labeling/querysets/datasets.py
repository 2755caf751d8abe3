"""Read datasets and their versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When

from labeling.versions.names import is_tag
from toolevals.workspace.expressions import Length
from toolevals.workspace.models import within
from toolevals.workspace.requests import whole_number

if TYPE_CHECKING:
    from labeling.models import Dataset, DatasetVersion, VersionEntry  # noqa: F401
    from toolevals.workspace.models import Project


class DatasetQuerySet(models.QuerySet["Dataset"]):
    """Reads of datasets."""

    def in_project(self, project: Project) -> DatasetQuerySet:
        """Return the project's datasets, by name."""
        return self.filter(project=project).select_related("default_tools__registry").order_by("name", "id")

    def with_counts(self, most: int) -> DatasetQuerySet:
        """Add `size`, how many examples there are, and `with_gold`, how many of them have gold.

        No more than `most` examples of a dataset are looked at: where there are more, both are None.
        """
        from labeling.models import Example

        examples = Example.objects.filter(dataset=OuterRef("pk")).order_by().values("pk")
        few = Q(looked_at__lte=most)
        return self.annotate(
            looked_at=Length(examples[: most + 1]),
            size=Case(When(few, then=F("looked_at")), default=None),
            with_gold=Case(When(few, then=Length(examples.filter(current__gold__isnull=False))), default=None),
        )


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
        from labeling.models import GoldTool, ToolPart

        said = GoldTool.objects.filter(gold=OuterRef("gold"), part=ToolPart.EXPECTED, tool=tool)
        return self.filter(Exists(said))

    def named_like(self, text: str) -> EntryQuerySet:
        """Return the entries whose example's external id holds `text`."""
        return self.filter(revision__example__external_id__icontains=text) if text else self

    def in_strata(self, strata: Mapping[str, str]) -> EntryQuerySet:
        """Return the entries whose examples have these values now; names that are no strata are ignored."""
        from labeling.models import Example

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
