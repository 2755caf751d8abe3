"""Tell what changed from one frozen version of a dataset to another: counted and listed in SQL, by kind of change.

An example can have changed in several ways. Strata are not frozen: counts by them are of the strata examples have now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, UUIDField

from labeling.expectations.comparison import Part, compare
from labeling.expectations.wording import summary
from labeling.models import DatasetVersion, Gold, GoldSource, VersionEntry
from toolevals.grading.values.canonical import exact
from toolevals.json_types import JsonObject
from toolevals.presentation.csv import Cell
from toolevals.presentation.table import Column, Table
from toolevals.registry.changes import Piece, ToolChange, version_changes, word_pieces
from toolevals.registry.models import RegistryVersion, ToolList
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import Role, User

PAGE_SIZE = 25
AT_ONCE = 500
# So many pairs of tool lists are compared, those of the most examples first.
MOST_LISTS = 5
STRATA = ("bucket", "difficulty", "category")
KINDS = {
    "added": "added",
    "removed": "removed",
    "input": "other input",
    "tools": "other tools offered",
    "gold": "other gold",
    "decided": "same gold, decided again",
    "decided_by": "decided by something else",
}
_HELD: Any = {"optional": True, "may_lack": True}
CHANGES = Table(
    "VersionChangeRow",
    "An example that differs, before and after; null where a version does not hold it.",
    (
        Column("kinds", many="list", only="answer"),
        Column("kinds", value="kinds_text", only="file"),
        Column("example", UUID, "entry.revision.example_id"),
        Column("external_id", str, "entry.revision.example.external_id"),
        Column("revision_before", int, "before.revision.number", **_HELD),
        Column("revision_after", int, "after.revision.number", **_HELD),
        Column("gold_before", UUID, "before.gold_id", **_HELD),
        Column("gold_after", UUID, "after.gold_id", **_HELD),
        Column("expected_before", dict, "before.gold.expectation", only="answer", **_HELD),
        Column("expected_after", dict, "after.gold.expectation", only="answer", **_HELD),
        Column("expected_before", only="file"),
        Column("expected_after", only="file"),
        Column("source_after", str, "after.gold.source", only="file"),
        Column("rationale_after", str, "after.gold.rationale", only="file"),
        Column("decided_by_before", str, "before.decided_by", **_HELD),
        Column("decided_by_after", str, "after.decided_by", **_HELD),
    ),
)


@dataclass(frozen=True, slots=True)
class InputChange:
    """A message, or another part of the input, that differs: words kept, gone and new."""

    title: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One example that differs; `before` or `after` is None where a version does not hold it."""

    before: VersionEntry | None
    after: VersionEntry | None
    kinds: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    inputs: tuple[InputChange, ...] = ()
    decider: str = ""

    @property
    def entry(self) -> VersionEntry:
        """The newer entry, where there is one."""
        entry = self.after or self.before
        assert entry is not None
        return entry

    @property
    def words(self) -> list[str]:
        """The kinds of change, as people read them."""
        return [KINDS[kind] for kind in self.kinds]

    @property
    def kinds_text(self) -> str:
        return " ".join(self.kinds)

    @property
    def expected_before(self) -> str:
        return summary(self.before.gold.expectation) if self.before else ""

    @property
    def expected_after(self) -> str:
        return summary(self.after.gold.expectation) if self.after else ""


@dataclass(frozen=True, slots=True)
class ListChange:
    """Two lists of tools offered to the same examples, the registry versions that they are, and what differs."""

    before: str
    after: str
    examples: int
    tools: Sequence[ToolChange]


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """Two versions of one dataset, compared."""

    before: DatasetVersion
    after: DatasetVersion

    def counts(self) -> dict[str, int]:
        """Return how many examples changed in each way; an example counts once in every way."""
        kinds = [kind for kind in KINDS if kind not in ("added", "removed")]
        # No alias may be the name of a field that the conditions read.
        wanted = {f"{kind}_count": Count("pk", filter=self._condition(kind)) for kind in kinds}
        counted = self._entries("").order_by().aggregate(**wanted)
        return {
            "added": self._entries("added").count(),
            "removed": self._entries("removed").count(),
            **{kind: counted[f"{kind}_count"] for kind in kinds},
        }

    def page(self, kind: str, cursor: int, *, user: User, role: Role) -> tuple[list[Change], int | None]:
        """Return the changes of one kind from a place on, as one person may see them, and the cursor of the next."""
        rows = list(self._entries(kind).filter(position__gte=cursor)[: PAGE_SIZE + 1])
        changes = self._changes(rows[:PAGE_SIZE], kind)
        return _with_deciders(changes, user, role), rows[PAGE_SIZE].position if len(rows) > PAGE_SIZE else None

    def lines(self, kind: str) -> Iterator[Sequence[Cell]]:
        """Yield the cells of `CHANGES` for every change, or those of one kind; those removed come last."""
        for each in [kind] if kind else ["", "removed"]:
            cursor = 0
            while rows := list(self._entries(each).filter(position__gte=cursor)[:AT_ONCE]):
                yield from CHANGES.rows(self._changes(rows, each))
                cursor = rows[-1].position + 1

    def strata(self) -> dict[str, list[tuple[str, int, int]]]:
        """Return by stratum how many examples of each value there were before and are after."""
        fields = [f"revision__example__{name}" for name in STRATA]
        changes: dict[str, Counter[tuple[str, bool]]] = {name: Counter() for name in STRATA}
        for version, is_after in ((self.before, False), (self.after, True)):
            rows = VersionEntry.objects.filter(version=version).order_by()
            for *values, count in rows.values_list(*fields).annotate(n=Count("pk")):
                for name, value in zip(STRATA, values, strict=True):
                    changes[name][value, is_after] += count
        return {
            name: [(value, counts[value, False], counts[value, True]) for value in sorted({v for v, _ in counts})]
            for name, counts in changes.items()
            if any(value for value, _ in counts)
        }

    def lists(self) -> tuple[list[ListChange], int]:
        """Return what changed in the tools offered, most examples first, and how many more pairs of lists differ."""
        rows = self._entries("tools").order_by()
        earlier = VersionEntry.objects.same_example(self.before).values("revision__tools")[:1]
        was = Subquery(earlier, output_field=UUIDField())
        pairs = rows.annotate(was=was).values_list("was", "revision__tools").annotate(n=Count("pk")).order_by("-n")
        listed = list(pairs[: MOST_LISTS + 1])
        more = pairs.count() - MOST_LISTS if len(listed) > MOST_LISTS else 0
        keys = {key for old, new, _ in listed for key in (old, new)}
        lists = ToolList.objects.in_bulk(keys)
        names = {one.tools_id: str(one) for one in _registry_versions(keys)}
        changes = [
            ListChange(names.get(old, ""), names.get(new, ""), n, version_changes(*_specs(lists[old], lists[new])))
            for old, new, n in listed[:MOST_LISTS]
        ]
        return changes, more

    def _entries(self, kind: str) -> QuerySet[VersionEntry]:
        """Return the entries that changed in a way: the older version's where they are gone; "" is all the others."""
        entries = VersionEntry.objects.with_everything()
        if kind == "removed":
            return entries.of_version(self.before).without_example_in(self.after)
        rows = entries.of_version(self.after).differing_from(self.before)
        if kind == "added":
            return rows.without_example_in(self.before)
        return rows.filter(self._condition(kind)) if kind else rows

    def _condition(self, kind: str) -> Q:
        was = VersionEntry.objects.same_example(self.before)
        same_expectation = Q(gold__expectation=OuterRef("gold__expectation"))
        meant = {
            "input": ~Q(revision__input=OuterRef("revision__input")),
            "tools": ~Q(revision__tools=OuterRef("revision__tools")),
            "gold": ~same_expectation,
            "decided": Q(revision=OuterRef("revision")) & same_expectation & ~Q(gold=OuterRef("gold")),
            "decided_by": ~Q(decided_by=OuterRef("decided_by")),
        }
        return Q(Exists(was.filter(meant[kind])))

    def _changes(self, rows: Sequence[VersionEntry], kind: str) -> list[Change]:
        if kind == "removed":
            return [Change(row, None, ("removed",)) for row in rows]
        earlier = VersionEntry.objects.with_everything().filter(
            version=self.before, revision__example__in=[row.revision.example_id for row in rows]
        )
        was = {entry.revision.example_id: entry for entry in earlier}
        return [_change(was.get(row.revision.example_id), row) for row in rows]


def _change(before: VersionEntry | None, after: VersionEntry) -> Change:
    if before is None:
        return Change(None, after, ("added",))
    kinds = []
    if exact(before.revision.input) != exact(after.revision.input):
        kinds.append("input")
    if before.revision.tools_id != after.revision.tools_id:
        kinds.append("tools")
    parts: tuple[Part, ...] = ()
    if exact(before.gold.expectation) != exact(after.gold.expectation):
        kinds.append("gold")
        parts = compare(before.gold.expectation, after.gold.expectation).differing
    elif before.revision_id == after.revision_id and before.gold_id != after.gold_id:
        kinds.append("decided")
    if before.decided_by != after.decided_by:
        kinds.append("decided_by")
    inputs = _inputs(before.revision.input, after.revision.input) if "input" in kinds else ()
    return Change(before, after, tuple(kinds), parts, tuple(inputs))


def _inputs(before: JsonObject, after: JsonObject) -> Iterator[InputChange]:
    old, new = before.get("messages") or [], after.get("messages") or []
    for place in range(max(len(old), len(new))):
        one, other = (side[place] if place < len(side) else None for side in (old, new))
        if one != other:
            role = (other or one or {}).get("role", "message")
            yield InputChange(f"message {place + 1}, {role}", word_pieces(_said(one), _said(other)))
    for name in sorted((before.keys() | after.keys()) - {"messages"}):
        if before.get(name) != after.get(name):
            yield InputChange(name, word_pieces(_said(before.get(name)), _said(after.get(name))))


def _said(value: Any) -> str:
    """Return a message's text where that is all it says besides its role, else its JSON."""
    if value is None:
        return ""
    if isinstance(value, dict) and value.keys() == {"role", "content"} and isinstance(value["content"], str):
        return str(value["content"])
    return exact(value)


def _with_deciders(changes: list[Change], user: User, role: Role) -> list[Change]:
    """Name who decided, where someone did and this person may know."""
    golds = {change.after.gold_id for change in changes if change.after and change.kinds != ("added",)}
    named = Gold.objects.filter(
        pk__in=golds, source__in=[GoldSource.ADJUDICATED, GoldSource.SECOND_LOOK, GoldSource.RESTORED]
    )
    names = dict(named.visible_to(user, role).values_list("pk", "actor__name"))
    return [
        Change(one.before, one.after, one.kinds, one.parts, one.inputs, names.get(one.entry.gold_id) or "")
        for one in changes
    ]


def _registry_versions(lists: set[UUID]) -> QuerySet[RegistryVersion]:
    return RegistryVersion.objects.filter(tools__in=lists).select_related("registry").order_by("-number")


def _specs(before: ToolList, after: ToolList) -> tuple[Any, Any]:
    return tools_in(before), tools_in(after)
