"""Read of examples who labelled them, how many labels are in, what is flagged and what was asked, to one reader.

Of an example that is not resolved a person is told of their own labels alone; its flags and questions are read by
those who may compare its labels or answer. How many labels are in is told to adjudicators who have not labelled it:
people who label could tell by it that theirs was the last one, and by what happens then that it differs. Columns,
filters and sorts all read what stands here, so that none tells more than another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Case as SqlCase
from django.db.models import (
    CharField,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models import When as SqlWhen
from django.db.models.functions import Coalesce, Concat

from labeling.blindness import RESOLVED, comparable, is_resolved, labelled_by, visible
from labeling.examples.models import ExampleQuerySet
from labeling.examples.shown_strata import hidden_strata
from labeling.label.assigned import kept_for
from labeling.label.querysets import LabelQuerySet, SlotQuerySet
from labeling.models import Comment, Dataset, Example, Label, LabelSlot, Revision, SlotState
from labeling.questions.models import CommentQuerySet
from toolevals.workspace.models import Role, User

FLAG, COMMENTS, LABELS, WHO, KEPT = "flag", "comments", "labels", "who", "kept"
NAMED, OWN = "named", "own"
# Labels of one example are asked for by their number up to this.
MOST_LABELS = 5


@dataclass(frozen=True, slots=True)
class Told:
    """The facts of an example that a reader knows; `labels` is None where they may not know how many are in."""

    labels: int | None
    wanted: int
    names: tuple[str, ...]
    is_own: bool
    flags: int
    comments: int


@dataclass(frozen=True, slots=True)
class Reader:
    """The person who reads, in a project in which they have a role."""

    user: User
    role: Role

    def slots(self) -> SlotQuerySet:
        """Return the slots with a label, in its current round, that this person is told of, with or without a name."""
        told = visible(self.user, self.role, author="reviewer")
        if self.role >= Role.ADJUDICATOR:
            told |= ~labelled_by(self.user, OuterRef("revision"))
        return LabelSlot.objects.of_current_round().filter(told, state=SlotState.SUBMITTED)

    def named_slots(self) -> SlotQuerySet:
        """Return those of them whose author this person is told."""
        return self.slots().filter(visible(self.user, self.role, author="reviewer"))

    def flagged(self) -> LabelQuerySet:
        """Return the labels in force that doubt themselves, as far as this person may know."""
        known = Q(reviewer=self.user) | comparable(self.user, self.role)
        return Label.objects.filter(known, flagged=True).in_force()

    def comments(self) -> CommentQuerySet:
        """Return the comments that this person may read."""
        return Comment.objects.readable_by(self.user, self.role)

    def filtered(self, examples: ExampleQuerySet, asked: dict[str, str]) -> ExampleQuerySet:
        """Return the examples that filters find, such as those labelled by a person; unknown values find none."""
        if asked.get(FLAG):
            examples = examples.filter(current__in=self.flagged().values("revision"))
        if asked.get(COMMENTS):
            examples = examples.filter(current__in=self.comments().order_by().values("revision"))
        if asked.get(KEPT):
            examples = examples.filter(current__in=kept_for(self.user).order_by().values("revision"))
        if who := asked.get(WHO):
            examples = _by(examples, self.named_slots(), who)
        if labels := asked.get(LABELS):
            return self._with_labels(examples, labels)
        return examples

    def _with_labels(self, examples: ExampleQuerySet, labels: str) -> ExampleQuerySet:
        if labels not in map(str, range(MOST_LABELS + 1)):
            return examples.none()
        if labels == "0":
            return examples.filter(~Exists(self.slots().filter(revision=OuterRef("current"))))
        return examples.filter(Exists(self.slots().filter(revision=OuterRef("current")))).filter(
            Q(_number(self.slots(), int(labels)))
        )

    def sort_key(self, name: str, dataset: Dataset) -> Any:
        """Return the expression that a column is sorted by: what this person reads in it."""
        if name == "strata":
            return _strata(hidden_strata(dataset, self.role))
        rows: dict[str, QuerySet[Any, Any]] = {
            "labels": self.slots(),
            "flags": self.flagged(),
            "comments": self.comments(),
        }
        return _counted(rows[name]) if name in rows else F({"status": "status", "gold": "current__gold__source"}[name])

    def told(self, examples: Sequence[Example], wanted: dict[UUID, int]) -> dict[UUID, Told]:
        """Return what this person is told of each of some examples, by id; `wanted` says how many labels each gets."""
        counts: Counter[tuple[str, UUID]] = Counter()
        names: dict[UUID, list[str]] = defaultdict(list)
        for kind, revision, name in self._rows([each.current_id for each in examples]):
            counts[kind, revision] += 1
            if kind == NAMED:
                names[revision].append(name)
        return {
            each.pk: Told(
                labels=counts[LABELS, each.current_id] if self._is_counted(each, counts) else None,
                wanted=wanted[each.pk],
                names=tuple(sorted(names[each.current_id])),
                is_own=bool(counts[OWN, each.current_id]),
                flags=counts[FLAG, each.current_id],
                comments=counts[COMMENTS, each.current_id],
            )
            for each in examples
        }

    def _rows(self, revisions: Sequence[Any]) -> Iterable[tuple[str, Any, str]]:
        """Return what there is of these revisions, in one statement: what it is, of which one, and a name."""
        own = Revision.objects.filter(labelled_by(self.user, OuterRef("pk")), pk__in=revisions)
        kinds: dict[str, tuple[QuerySet[Any, Any], Any]] = {
            LABELS: (self.slots(), Value("")),
            NAMED: (self.named_slots().filter(reviewer__isnull=False), F("reviewer__name")),
            FLAG: (self.flagged(), Value("")),
            COMMENTS: (self.comments(), Value("")),
        }
        found = [
            rows.filter(revision__in=revisions).order_by().values_list(Value(kind), "revision", name)
            for kind, (rows, name) in kinds.items()
        ]
        return own.order_by().values_list(Value(OWN), "pk", Value("")).union(*found, all=True)

    def _is_counted(self, example: Example, counts: Counter[tuple[str, UUID]]) -> bool:
        if example.current is None or example.current.resolution in RESOLVED:
            return True
        return self.role >= Role.ADJUDICATOR and not counts[OWN, example.current_id]


def _by(examples: ExampleQuerySet, slots: SlotQuerySet, who: str) -> ExampleQuerySet:
    try:
        return examples.filter(current__in=slots.filter(reviewer=UUID(who)).values("revision"))
    except ValueError:
        return examples.none()


def _counted(rows: QuerySet[Any, Any]) -> Coalesce:
    """Return how many of `rows` an example has."""
    of_example = rows.filter(revision=OuterRef("current")).order_by().values("revision").annotate(n=Count("pk"))
    return Coalesce(Subquery(of_example.values("n"), output_field=IntegerField()), 0)


def _number(rows: QuerySet[Any, Any], number: int) -> Exists:
    """Return the condition that an example has just so many of `rows`."""
    of_example = rows.filter(revision=OuterRef("current")).order_by().values("revision").annotate(n=Count("pk"))
    return Exists(of_example.filter(n=number))


def _strata(hidden: frozenset[str]) -> Concat:
    """Return the strata of an example one after the other, those apart that are not told."""
    told = [
        SqlCase(SqlWhen(is_resolved("current"), then=F(name)), default=Value("")) if name in hidden else F(name)
        for name in Example.STRATA
    ]
    return Concat(*told, output_field=CharField())
