"""Making staged rows the dataset's own, in the caller's one transaction.

- An external id that is new: an example, its first revision, and gold or label slots.
- Equal content: nothing. Other input or tools: a further revision, which is shown from now on; labels stay with theirs.
- Another expectation: newer gold where the gold was imported, a dispute where people decided or have begun to label.
- Other strata, or another word on what decides: the metadata change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import UUIDField
from django.utils import timezone
from uuid_utils.compat import uuid7

from labeling.imports import statements as sql
from labeling.models import Dataset, GoldSource, LabelSlot, QueueOrder, Revision, SlotState
from labeling.overlap import Overlap
from labeling.services.import_conflicts import earlier_revision_show, import_dispute, staged_with_other_gold
from labeling.services.ordering import queue_order, turn_of
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.models import User

# Above any line of a file.
LAST_LINE = 2**31 - 1


@dataclass(slots=True)
class Published:
    """What an import did to a dataset, in examples."""

    rows: int = 0
    added: int = 0
    revised: int = 0
    gold_changed: int = 0
    disputed: int = 0
    strata_changed: int = 0
    decided_by_changed: int = 0
    unchanged: int = 0

    def to_document(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


class Change(NamedTuple):
    """A row that says something new about an example that was there before."""

    staged: Any
    example: Any
    revision: Any
    earlier: Any
    other_content: int
    other_gold: int
    other_strata: int
    other_decided_by: int
    gold_source: str
    has_labels: int

    @property
    def may_be_replaced(self) -> bool:
        """Whether the gold was imported, or there is none and nobody has labelled yet."""
        return self.gold_source == GoldSource.IMPORTED or not (self.gold_source or self.has_labels)

    @property
    def names(self) -> dict[str, Any]:
        """The parameters of a statement for one row."""
        return {"staged": self.staged, "example": self.example, "revision": self.revision}


def rows_publish(dataset: Dataset, *, key: UUID, actor: User | None) -> Published:
    """Publish the rows staged under `key` (a job's id, or a part's) and return what that changed.

    The dataset's row is locked: two imports into it take turns.
    """
    Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    publication = Publication(dataset, key, actor)
    added = publication.add()
    published = publication.change(added)
    publication.add_slots()
    return published


def slots_insert(dataset: Dataset, to_label: Iterable[tuple[Any, ...]]) -> None:
    """Make the places for labels of revisions that have none yet, each given with its example's name."""
    overlap = Overlap.of(dataset.project)
    rows_insert(
        LabelSlot,
        ("id", "dataset_id", "revision_id", "number", "state", "priority", "turn"),
        (
            (uuid7(), dataset.pk, revision, number, SlotState.OPEN.value, 0, turn_of(dataset, name))
            for revision, name in to_label
            for number in range(overlap.labels_for(name))
        ),
    )


class Publication:
    """The steps of publishing what is staged under `key`: `into` is the dataset that new examples are put into."""

    def __init__(self, dataset: Dataset, key: UUID, actor: User | None, into: UUID | None = None) -> None:
        self.dataset, self.actor = dataset, actor
        self.values: dict[str, Any] = {
            "job": _parameter(key),
            "dataset": _parameter(dataset.pk),
            "into": _parameter(into or dataset.pk),
            "after": 0,
            "until": LAST_LINE,
            "actor": _parameter(actor.pk) if actor else None,
            "now": connection.ops.adapt_datetimefield_value(timezone.now()),
        }

    def add(self, after: int = 0, until: int = LAST_LINE) -> int:
        """Add the examples that the dataset lacks, of the lines after one and up to one; return how many."""
        self.values |= {"after": after, "until": until}
        added = self._execute(sql.ADD_EXAMPLES)
        for statement in (sql.ADD_REVISIONS, sql.ADD_GOLD, sql.ADD_ORIGINS):
            self._execute(statement)
        return added

    def show(self) -> int:
        """Make the dataset's own what was put elsewhere; return how many. Raises IntegrityError for ids it has."""
        return self._execute(sql.SHOW_ALL)

    def count(self) -> int:
        """Return how many rows are staged."""
        return int(self._query(sql.COUNT_ROWS)[0][0])

    def change(self, added: int, rows: int | None = None) -> Published:
        """Change the examples that were there before, after `added` new ones; return what the import did in all.

        `rows`: how many are staged, where that has been counted.
        """
        done = Published(rows=self.count() if rows is None else rows, added=added)
        changes = self._changes() if added < done.rows else []
        contents = [change for change in changes if change.other_content]
        self._revise([change for change in contents if change.earlier is None])
        for change in contents:
            if change.earlier is not None:
                earlier_revision_show(change.example, change.earlier)
        # A revision that is shown again has gold of its own: look again.
        is_shown_again = any(change.earlier is not None for change in contents)
        replaced, disputed = self._gold(self._changes() if is_shown_again else changes)
        strata = [change for change in changes if change.other_strata]
        self._each(sql.SET_STRATA, strata)
        decided = [change for change in changes if change.other_decided_by]
        self._each(sql.SET_DECIDED_BY, decided)
        told = {"revised": contents, "gold_changed": replaced, "disputed": disputed, "strata_changed": strata}
        told["decided_by_changed"] = decided
        done.unchanged = done.rows - done.added - self._tell(told)
        for name, some in told.items():
            setattr(done, name, len(some))
        return done

    def add_slots(self) -> None:
        """Make the places for labels, each with its turn; what the strata lack is known only when all is there."""
        to_label = self._query(sql.TO_LABEL)
        slots_insert(self.dataset, to_label)
        if to_label and self.dataset.order == QueueOrder.DEFICITS:
            transaction.on_commit(lambda: queue_order(dataset=self.dataset, actor=self.actor))

    def _tell(self, told: dict[str, list[Change]]) -> int:
        """Write what was changed into the staged rows; return of how many."""
        fates: dict[Any, list[str]] = {}
        for name, some in told.items():
            for change in some:
                fates.setdefault(change.staged, []).append(name.replace("_", " "))
        rows = [{"staged": staged, "fate": ", ".join(names)} for staged, names in fates.items()]
        if rows:
            with connection.cursor() as cursor:
                cursor.executemany(sql.SET_FATE, rows)
        return len(rows)

    def _changes(self) -> list[Change]:
        found = self._query(sql.CHANGES)
        if found and connection.features.has_select_for_update:
            # Reviewers may be at work on these: wait for them, then look again.
            self._lock(row[2] for row in found)
            found = self._query(sql.CHANGES)
        return [Change(*row) for row in found]

    def _revise(self, changes: list[Change]) -> None:
        for statement in (sql.REVISE, sql.REVISE_GOLD, sql.CLOSE_SLOTS, sql.SHOW):
            self._each(statement, changes)
        if changes:
            self.values |= {"after": 0, "until": LAST_LINE}
            self._execute(sql.ADD_ORIGINS)

    def _gold(self, found: list[Change]) -> tuple[list[Change], list[Change]]:
        """Change imported gold, dispute people's; return what was changed and what is newly disputed."""
        changes = [change for change in found if change.other_gold and not change.other_content]
        different = staged_with_other_gold((change.staged, change.revision) for change in changes)
        replaced: list[Change] = []
        kept: list[Change] = []
        for change in changes:
            if UUID(str(change.staged)) in different:
                (replaced if change.may_be_replaced else kept).append(change)
        for statement in (sql.REGILD, sql.PUT_IN_FORCE, sql.CLOSE_SLOTS):
            self._each(statement, replaced)
        return replaced, [c for c in kept if import_dispute(c.staged, c.revision, actor=self.actor)]

    def _lock(self, revisions: Iterable[Any]) -> None:
        list(Revision.objects.select_for_update().filter(pk__in=list(revisions)).order_by("pk").values_list("pk"))

    def _query(self, statement: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(statement, self.values)
            return list(cursor.fetchall())

    def _execute(self, statement: str) -> int:
        with connection.cursor() as cursor:
            cursor.execute(statement, self.values)
            return int(cursor.rowcount)

    def _each(self, statement: str, changes: list[Change]) -> None:
        if changes:
            with connection.cursor() as cursor:
                cursor.executemany(statement, [self.values | change.names for change in changes])


def _parameter(value: UUID) -> Any:
    return UUIDField().get_db_prep_value(value, connection)
