"""Tell how far people are with a round and what came of it, as one person may see it.

How far people agree with each other and with the gold; the same answers as lines of a table.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from django.db.models import Count

from labeling.blindness import is_resolved, may_compare_calibration
from labeling.coverage.expected import ANY_CALL, NO_CALL, calls_of
from labeling.errors import InvalidAct
from labeling.expectations.comparison import answer_words
from labeling.expectations.meaning import meaning
from labeling.models import CalibrationAnswer, CalibrationItem, CalibrationRound, LabelAnswer, Revision
from toolevals.grading.metrics.agreement import krippendorff_alpha
from toolevals.grading.metrics.rates import Estimate
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.presentation.csv import Cell
from toolevals.workspace.models import Membership, Project, Role, User

# `is_own` and `as_gold` say true or false; `reviewer` is for owners, and empty for others.
COLUMNS: Final = (
    "round",
    "position",
    "item",
    "example",
    "external_id",
    "reviewer",
    "is_own",
    "as_gold",
    "answer",
    "expectation",
    "rationale",
    "seconds",
    "gold_answer",
    "gold",
)


def tool_choice(answer: str, expectation: JsonMapping | None) -> str:
    """Return the tools that an answer's first alternative calls, each once; `(none)`, `(any)`, or why there is none."""
    if expectation is None:
        return str(answer)
    if expectation.get("kind") == "no_call":
        return NO_CALL
    return ", ".join(dict.fromkeys(call["tool"] for call in calls_of(expectation))) or ANY_CALL


@dataclass(frozen=True, slots=True)
class Saying:
    """An answer without its author: a LabelAnswer, and an expectation where it is one."""

    answer: str
    expectation: JsonObject | None

    @property
    def meaning(self) -> str:
        return meaning(self.answer, self.expectation)

    @property
    def words(self) -> str:
        return answer_words(self)


@dataclass(frozen=True, slots=True)
class Split:
    """Answers of one meaning to one example. `names` are for owners only, in order; people who left have none."""

    said: Saying
    count: int
    is_gold: bool
    is_own: bool
    rationales: tuple[str, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The answers to one example, the most frequent first, and the right one."""

    item: CalibrationItem
    gold: Saying
    splits: tuple[Split, ...]

    @property
    def count(self) -> int:
        """Return how many answered it."""
        return sum(split.count for split in self.splits)

    @property
    def agrees(self) -> bool:
        """Return whether all who answered it said the same."""
        return len(self.splits) == 1

    @property
    def own(self) -> Split | None:
        """The answers that mean what this person's own does, where they gave one."""
        return next((split for split in self.splits if split.is_own), None)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of people: in how many of the examples with two answers or more all answers are the same."""

    title: str
    alike: int
    counted: int
    alpha: Estimate


@dataclass(frozen=True, slots=True)
class PersonResult:
    """One person's answers against the gold. `seconds` is the median; None where nothing was timed."""

    name: str
    is_self: bool
    right: int
    answered: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that came of a round."""

    items: tuple[ItemResult, ...]
    agreements: tuple[Agreement, ...]
    # Owners see everyone, others themselves.
    people: tuple[PersonResult, ...]
    raters: int

    @property
    def whole(self) -> Agreement:
        """The agreement on all that an answer says."""
        return self.agreements[0]


def results_of(calibration: CalibrationRound, user: User, role: Role) -> Results:
    """Return what came of a round. Raises InvalidAct where this person has still to answer some of it."""
    if not may_compare_calibration(calibration, user):
        raise InvalidAct("First answer all of this calibration round: then you see what the others said, and the gold.")
    items = list(CalibrationItem.objects.filter(round=calibration).asked().with_content())
    answers = list(shown_answers(calibration, user))
    said: dict[Any, list[CalibrationAnswer]] = {item.pk: [] for item in items}
    for one in answers:
        if one.item_id in said:
            said[one.item_id].append(one)
    meanings = {one.pk: meaning(one.answer, one.expectation) for one in answers}
    tools = {one.pk: tool_choice(one.answer, one.expectation) for one in answers}
    named = role >= Role.OWNER
    results = tuple(_item(item, said[item.pk], meanings, user, named=named) for item in items)
    return Results(
        items=results,
        agreements=(
            _agreement("Whole answer", said.values(), meanings),
            _agreement("Tool", said.values(), tools),
        ),
        people=tuple(_people(results, said, meanings, user, named=named)),
        raters=len({one.reviewer_id for one in answers}),
    )


def shown_answers(calibration: CalibrationRound, user: User) -> Iterable[CalibrationAnswer]:
    """Return the answers that this person may compare, in an order that does not tell whose they are."""
    rows = CalibrationAnswer.objects.of_round(calibration).comparable_by(user).select_related("reviewer")
    return sorted(rows, key=_shuffled)


def gold_of(revision: Revision) -> Saying:
    """Return what is right for a resolved revision: its gold, or why there is none."""
    if revision.gold is not None:
        return Saying(LabelAnswer.EXPECTATION.value, revision.gold.expectation)
    return Saying(revision.set_aside_as, None)


def _item(
    item: CalibrationItem, answers: Sequence[CalibrationAnswer], meanings: dict[Any, str], user: User, *, named: bool
) -> ItemResult:
    gold = gold_of(item.revision)
    right = gold.meaning
    groups: dict[str, list[CalibrationAnswer]] = {}
    for one in answers:
        groups.setdefault(meanings[one.pk], []).append(one)
    splits = [
        Split(
            said=Saying(group[0].answer, group[0].expectation),
            count=len(group),
            is_gold=key == right,
            is_own=any(one.reviewer_id == user.pk for one in group),
            rationales=tuple(one.rationale for one in group if one.rationale),
            names=tuple(sorted(one.reviewer.name for one in group if one.reviewer)) if named else (),
        )
        for key, group in groups.items()
    ]
    return ItemResult(item, gold, tuple(sorted(splits, key=lambda split: (-split.count, not split.is_gold))))


def _agreement(title: str, said: Iterable[Sequence[CalibrationAnswer]], classes: dict[Any, str]) -> Agreement:
    """Compare the classes of the answers of each example, by their ids."""
    units = [tuple(sorted(classes[one.pk] for one in answers)) for answers in said if len(answers) > 1]
    alike = sum(len(set(unit)) == 1 for unit in units)
    return Agreement(title, alike, len(units), krippendorff_alpha(Counter(units)))


def _people(
    results: Sequence[ItemResult],
    said: dict[Any, list[CalibrationAnswer]],
    meanings: dict[Any, str],
    user: User,
    *,
    named: bool,
) -> Iterable[PersonResult]:
    gold = {result.item.pk: result.gold.meaning for result in results}
    by_person: dict[Any, list[CalibrationAnswer]] = {}
    for answers in said.values():
        for one in answers:
            if one.reviewer is not None and (named or one.reviewer_id == user.pk):
                by_person.setdefault(one.reviewer, []).append(one)
    for person in sorted(by_person, key=lambda one: str(one.name)):
        given = by_person[person]
        timed = [one.seconds for one in given if one.seconds > 0]
        yield PersonResult(
            name=person.name,
            is_self=person.pk == user.pk,
            right=sum(meanings[one.pk] == gold[one.item_id] for one in given),
            answered=len(given),
            seconds=median(timed) if timed else None,
        )


def _shuffled(answer: CalibrationAnswer) -> bytes:
    return hashlib.sha256(f"{answer.item_id} {answer.reviewer_id}".encode()).digest()


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """The number of a round's examples that a person has answered."""

    name: str
    is_self: bool
    done: int
    total: int

    @property
    def is_finished(self) -> bool:
        return self.done >= self.total


def progress_in(calibration: CalibrationRound, user: User, role: Role) -> Sequence[PersonProgress]:
    """Return how far this person is, and for owners everyone who labels in the project, by name."""
    total = CalibrationItem.objects.filter(round=calibration).asked().count()
    answers = CalibrationAnswer.objects.of_round(calibration)
    if role < Role.OWNER:
        done = answers.filter(reviewer=user).counts()
        return [PersonProgress(user.name, True, done.get(user.pk, 0), total)]
    done = answers.counts()
    members = Membership.objects.filter(project=calibration.dataset.project_id, role__gte=Role.REVIEWER)
    people = [member.user for member in members.select_related("user").order_by("user__name")]
    return [PersonProgress(one.name, one.pk == user.pk, done.get(one.pk, 0), total) for one in people]


def finished_counts(rounds: Sequence[CalibrationRound], project: Project) -> Mapping[Any, tuple[int, int]]:
    """Return by round how many of those who label have answered all of it, and how many label: for owners.

    `rounds` as `with_progress` returns them.
    """
    members = set(Membership.objects.filter(project=project, role__gte=Role.REVIEWER).values_list("user", flat=True))
    answers = CalibrationAnswer.objects.filter(
        is_resolved("item__revision"), item__round__in=[one.pk for one in rounds]
    )
    sizes = {one.pk: vars(one)["size"] for one in rounds}
    finished = dict.fromkeys(sizes, 0)
    for calibration, person, done in answers.values_list("item__round", "reviewer").annotate(n=Count("pk")).order_by():
        finished[calibration] += person in members and done >= sizes[calibration]
    return {pk: (count, len(members)) for pk, count in finished.items()}


def answer_rows(calibration: CalibrationRound, user: User, role: Role) -> Iterator[Sequence[Cell]]:
    """Return a line for each answer, by example; those of one example in an order that does not tell whose they are.

    Names and times are for owners; one's own time is one's own. Raises InvalidAct where this person has still to
    answer some of the round.
    """
    results = results_of(calibration, user, role)
    named = role >= Role.OWNER
    said: dict[Any, list[Any]] = {}
    for one in shown_answers(calibration, user):
        said.setdefault(one.item_id, []).append(one)
    return (
        (
            calibration.pk,
            result.item.position,
            result.item.pk,
            result.item.revision.example_id,
            result.item.revision.example.external_id,
            one.reviewer.name if named and one.reviewer else "",
            one.reviewer_id == user.pk,
            Saying(one.answer, one.expectation).meaning == result.gold.meaning,
            one.answer,
            _json(one.expectation),
            one.rationale,
            one.seconds if named or one.reviewer_id == user.pk else None,
            result.gold.answer,
            _json(result.gold.expectation),
        )
        for result in results.items
        for one in said.get(result.item.pk, ())
    )


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False) if document is not None else ""
