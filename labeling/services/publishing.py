"""Make staged rows the dataset's own, in the caller's one transaction.

- An external id that is new: an example, its first revision, and gold or label slots.
- Equal content: nothing. Other input or tools: a further revision, which is shown from now on; labels stay with theirs.
- Another expectation: newer gold where the gold was imported, a dispute where people decided or have begun to label.
- Other strata, or another word on what decides: the metadata change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import UUIDField
from uuid_utils.compat import uuid7

from labeling.imports import change_statements as changes
from labeling.imports import statements as sql
from labeling.models import Dataset, LabelSlot, QueueOrder, SlotState
from labeling.services.import_changes import Decided, changes_decide, changes_store
from labeling.services.import_conflicts import REASON, revisions_evaluate
from labeling.services.ordering import queue_order, turn_of
from labeling.services.overlap import Overlap
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

# Above any line of a file.
LAST_LINE = 2**31 - 1


@dataclass(slots=True)
class Published:
    """The effect of an import on a dataset, in examples."""

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
            "reason": REASON,
            "now": connection.ops.adapt_datetimefield_value(database_now()),
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

    def decide(self, after: int = 0, until: int = LAST_LINE) -> list[Decided]:
        """Return what the rows of some lines will change, where that was not decided yet; it only reads."""
        return changes_decide(self.values | {"after": after, "until": until})

    def change(self, added: int, rows: int | None = None) -> Published:
        """Change the examples that were there before, after `added` new ones; return what the import did in all.

        `rows`: how many are staged, where that has been counted. What was decided in advance is taken where the
        example still is as it was.
        """
        done = Published(rows=self.count() if rows is None else rows, added=added)
        changed = 0
        if added < done.rows:
            self._decide_rest(done.rows - added)
            counts = self._query(changes.COUNTS)[0]
            done.revised, done.gold_changed, done.disputed, done.strata_changed, done.decided_by_changed, changed = (
                counts
            )
            self._apply(done)
        done.unchanged = done.rows - done.added - changed
        return done

    def add_slots(self) -> None:
        """Make the places for labels, each with its turn; what the strata lack is known only when all is there."""
        to_label = self._query(sql.TO_LABEL)
        slots_insert(self.dataset, to_label)
        if to_label and self.dataset.order == QueueOrder.DEFICITS:
            transaction.on_commit(lambda: queue_order(dataset=self.dataset, actor=self.actor))

    def _decide_rest(self, wanted: int) -> None:
        """Have it decided about all rows, `wanted` in number, by what the examples are now and remain."""
        while True:
            if connection.features.has_select_for_update:
                # Reviewers may be at work on these: wait for them, then look again.
                self._query(changes.LOCK)
            self._execute(changes.FORGET_OUTDATED)
            if self._query(changes.COUNT_DECIDED)[0][0] == wanted or not (decided := self.decide()):
                return
            changes_store(decided)

    def _apply(self, done: Published) -> None:
        """Make the changes, each kind of them for all rows at once."""
        if done.revised:
            for statement in (changes.REVISE, changes.REVISE_GOLD, changes.REVISE_ORIGIN, changes.CLOSE_SLOTS):
                self._execute(statement)
            self._execute(changes.SHOW)
            self._execute(changes.OPEN_SLOTS)
            revisions_evaluate(row[0] for row in self._query(changes.TO_EVALUATE))
        if done.gold_changed:
            for statement in (changes.REGILD, changes.PUT_IN_FORCE, changes.CLOSE_REGILDED):
                self._execute(statement)
        if done.disputed:
            self._execute(changes.DISPUTE_GOLD)
        if done.strata_changed:
            self._execute(changes.SET_STRATA)
        if done.decided_by_changed:
            self._execute(changes.SET_DECIDED_BY)

    def _query(self, statement: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(statement, self.values)
            return list(cursor.fetchall())

    def _execute(self, statement: str) -> int:
        with connection.cursor() as cursor:
            cursor.execute(statement, self.values)
            return int(cursor.rowcount)


def _parameter(value: UUID) -> Any:
    return UUIDField().get_db_prep_value(value, connection)
