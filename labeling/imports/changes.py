"""Decide in advance what staged rows change in earlier examples, some rows at a time.

The publication then has little left to do while it keeps others from writing. What it finds changed meanwhile it
decides again: see `labeling.imports.publish_import`. Where an import and what people did meet, rows are handled one by
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from labeling.adjudicate.resolution import revision_evaluate, revision_locked
from labeling.imports import statements as sql
from labeling.models import Dispute, Gold, GoldFate, GoldSource, Revision, StagedChange, StagedExample
from toolevals.grading.matching.equivalence import equivalent
from toolevals.grading.values import Expectation
from toolevals.grading.values.canonical import canonical
from toolevals.json_types import JsonMapping
from toolevals.workspace.bulk import rows_insert

AT_ONCE = 500
REASON = "An import brought another expectation."


_COLUMNS = (
    "staged_id", "part_id", "example_id", "current_id", "onto_id", "gold_id", "disputes", "words",
    "gold_fate", "sets_strata", "sets_decided_by",
)  # fmt: skip
_TOLD = {GoldFate.REPLACED.value: "gold changed", GoldFate.DISPUTED.value: "disputed"}


def revisions_evaluate(revisions: Iterable[Any]) -> None:
    """Find again how far revisions are that people have worked on and that are shown again."""
    for pk in revisions:
        revision_evaluate(revision_locked(pk))


def staged_with_other_gold(pairs: Iterable[tuple[Any, Any]]) -> set[UUID]:
    """Return which staged rows, each paired with its revision, say something other than the gold in force.

    The order of keys says nothing. Why an expectation is right is compared with imported gold only: people's own
    reasons stay theirs.
    """
    different: set[UUID] = set()
    rest = iter(pairs)
    while some := {UUID(str(staged)): UUID(str(revision)) for staged, revision in islice(rest, AT_ONCE)}:
        golds = {gold.revision_id: gold for gold in Gold.objects.in_force().filter(revision__in=some.values())}
        rows = StagedExample.objects.filter(pk__in=some).only("expectation", "rationale")
        different.update(row.pk for row in rows if _is_other(row, golds.get(some[row.pk])))
    return different


def _is_other(row: StagedExample, gold: Gold | None) -> bool:
    if gold is None or canonical(gold.expectation) != canonical(row.expectation):
        return True
    return gold.source == GoldSource.IMPORTED and gold.rationale != row.rationale


def is_new_dispute(staged_id: Any, revision_id: Any) -> bool:
    """Tell whether an import disputes people's gold, or their labelling under way, with what it says.

    What means the same is no dispute, and what was asked before is not asked again, whatever was decided.
    """
    expectation = StagedExample.objects.values_list("expectation", flat=True).get(pk=staged_id)
    revision = Revision.objects.select_related("gold").get(pk=revision_id)
    said = Expectation.from_document(expectation)
    if revision.gold is not None and equivalent(said, Expectation.from_document(revision.gold.expectation)):
        return False
    asked = Dispute.objects.filter(revision=revision, reason=REASON).values_list("expectation", flat=True)
    return all(canonical(each) != canonical(expectation) for each in asked)


class ExistingRow(NamedTuple):
    """A staged row whose example was there before. `same` is the example's revision of the same content, if any."""

    staged: Any
    part: Any
    example: Any
    current: Any
    same: Any
    gold: Any
    disputes: int
    words: str
    other_gold: int
    sets_strata: int
    sets_decided_by: int
    gold_source: str
    has_labels: int
    fate: str

    @property
    def may_be_replaced(self) -> bool:
        """Return whether the gold was imported, or is missing without any label."""
        return self.gold_source == GoldSource.IMPORTED or not (self.gold_source or self.has_labels)


@dataclass(frozen=True, slots=True)
class Decided:
    """The change of one row, in the order of the table's columns; and what its line is told, where that is new."""

    row: tuple[Any, ...]
    fate: str | None


def changes_decide(values: JsonMapping) -> list[Decided]:
    """Return what the staged rows that `values` names will change; it only reads."""
    with connection.cursor() as cursor:
        cursor.execute(sql.UNDECIDED, values)
        rows = [ExistingRow(*row) for row in cursor.fetchall()]
    other = staged_with_other_gold((each.staged, each.same) for each in rows if each.other_gold)
    return [_decided(each, _gold_fate(each) if _uuid(each.staged) in other else "") for each in rows]


def changes_store(decided: Sequence[Decided]) -> None:
    """Write down what was decided, within the caller's transaction."""
    rows_insert(StagedChange, _COLUMNS, (each.row for each in decided))
    told: Iterable[Decided] = (each for each in decided if each.fate is not None)
    fates = [{"staged": _as_stored(each.row[0]), "fate": each.fate} for each in told]
    if fates:
        with connection.cursor() as cursor:
            cursor.executemany(sql.SET_FATE, fates)


def _gold_fate(found: ExistingRow) -> str:
    if found.may_be_replaced:
        return GoldFate.REPLACED.value
    return (GoldFate.DISPUTED if is_new_dispute(found.staged, found.same) else GoldFate.KEPT).value


def _decided(found: ExistingRow, gold_fate: str) -> Decided:
    onto = found.same or found.staged
    said = {
        "revised": onto != found.current,
        _TOLD.get(gold_fate, ""): gold_fate in _TOLD,
        "strata changed": found.sets_strata,
        "decided by changed": found.sets_decided_by,
    }
    fate = ", ".join(word for word, is_so in said.items() if is_so)
    ids = (found.staged, found.part, found.example, found.current, onto)
    row = (
        *(_uuid(each) for each in ids),
        None if found.gold is None else _uuid(found.gold),
        found.disputes,
        found.words,
        gold_fate,
        bool(found.sets_strata),
        bool(found.sets_decided_by),
    )
    return Decided(row, fate if fate != found.fate else None)


def _uuid(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


def _as_stored(value: UUID) -> Any:
    return value if connection.features.has_native_uuid_field else value.hex
