"""Open a calibration round, answer its examples, close it.

Answers make no gold, take no place in the queue and count as no labels. A round holds examples that are chosen by name,
or proposed so that tools and strata are spread over it: only such as are resolved and have gold. What people say of
them in a round, and see afterwards, tells nothing about an example that is still to be labelled.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from labeling.blindness import RESOLVED
from labeling.calibration_rounds.results import tool_choice
from labeling.errors import InvalidAct
from labeling.expectations.reading import answer_read, rationale_read, text_required
from labeling.models import (
    CalibrationAnswer,
    CalibrationItem,
    CalibrationRound,
    Dataset,
    Draft,
    Example,
    LabelAnswer,
    Resolution,
    Revision,
)
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

MOST_ITEMS = 200
# A proposal looks at so many examples, the newest.
LOOK_AT = 2000
NAMED_IN_ERRORS = 5


USUAL_SIZE = 20


@dataclass(frozen=True, slots=True)
class _Candidate:
    revision: Any
    name: str
    tool: str
    strata: tuple[str, ...]
    was_asked: bool
    turn: bytes


def named_examples(dataset: Dataset, names: Sequence[str]) -> list[Any]:
    """Return the current revisions, by id, of the examples of these names, in this order, each once.

    Raises InvalidAct for names that the dataset does not have, or whose examples have no gold in force.
    """
    wanted = list(dict.fromkeys(names))
    current = dict(solved(dataset).filter(external_id__in=wanted).values_list("external_id", "current"))
    lacking = [name for name in wanted if name not in current]
    if lacking:
        more = f" and {len(lacking) - NAMED_IN_ERRORS} more" if len(lacking) > NAMED_IN_ERRORS else ""
        raise InvalidAct(f"No solved example here is called {', '.join(lacking[:NAMED_IN_ERRORS])}{more}.")
    return [current[name] for name in wanted]


def proposed_names(dataset: Dataset, size: int, *, seed: str) -> list[str]:
    """Return the names of so many solved examples, or of all there are: as many tools, then strata, as there can be.

    Examples that were in no round come first. The same seed proposes the same.
    """
    return [one.name for one in _spread(_candidates(dataset, seed), size)]


def solved(dataset: Dataset) -> QuerySet[Example]:
    """Return the examples of a dataset that have gold in force."""
    return Example.objects.of_dataset(dataset).filter(
        current__resolution=Resolution.RESOLVED, current__gold__isnull=False
    )


def _candidates(dataset: Dataset, seed: str) -> list[_Candidate]:
    asked = set(CalibrationItem.objects.filter(round__dataset=dataset).values_list("revision", flat=True))
    columns = ("current", "external_id", "current__gold__expectation", *Example.STRATA)
    rows = solved(dataset).order_by("-id").values_list(*columns)[:LOOK_AT]
    return [
        _Candidate(
            revision,
            name,
            tool_choice(LabelAnswer.EXPECTATION, expectation),
            tuple(strata),
            revision in asked,
            hashlib.sha256(f"{seed} {revision}".encode()).digest(),
        )
        for revision, name, expectation, *strata in rows
    ]


def _spread(candidates: Iterable[_Candidate], size: int) -> list[_Candidate]:
    """Return so many candidates, one after the other that whose tool, then whose strata, were taken least."""
    left = list(candidates)
    taken: Counter[tuple[int, str]] = Counter()
    chosen: list[_Candidate] = []

    def cost(one: _Candidate) -> tuple[bool, int, int, bytes]:
        strata = sum(taken[place, value] for place, value in enumerate(one.strata))
        return one.was_asked, taken[-1, one.tool], strata, one.turn

    while left and len(chosen) < size:
        best = min(left, key=cost)
        left.remove(best)
        chosen.append(best)
        taken[-1, best.tool] += 1
        taken.update(enumerate(best.strata))
    return chosen


@transaction.atomic
def calibration_open(
    *,
    dataset: Dataset,
    actor: User | None,
    name: str,
    names: Sequence[str] = (),
    size: int = USUAL_SIZE,
    comes_first: bool = False,
) -> CalibrationRound:
    """Return a new round of the solved examples of these names, or, where none is named, of `size` proposed ones.

    With `comes_first` no one is handed examples of the dataset before they have answered it. Raises InvalidDocument
    for an empty name or a size that is none, InvalidAct where an example named is not solved, or none is.
    """
    title = text_required(name, name="name")
    chosen = list(names) or proposed_names(dataset, size, seed=title)
    if len(chosen) > MOST_ITEMS or not 1 <= size <= MOST_ITEMS:
        raise InvalidDocument([Problem("/size", f"a round holds 1 to {MOST_ITEMS} examples")])
    revisions = named_examples(dataset, chosen)
    if not revisions:
        raise InvalidAct("This dataset has no solved examples yet. A round needs examples with gold.")
    opened = CalibrationRound.objects.create(dataset=dataset, name=title[:120], comes_first=comes_first, actor=actor)
    CalibrationItem.objects.bulk_create(
        CalibrationItem(round=opened, position=place, revision_id=revision)
        for place, revision in enumerate(revisions, start=1)
    )
    detail = {"name": opened.name, "examples": len(revisions), "comes_first": comes_first}
    audit_record(project=dataset.project, actor=actor, verb="calibration_open", target=opened, detail=detail)
    return opened


def calibration_answer(
    *,
    item: CalibrationItem,
    actor: User,
    expectation: Any | None = None,
    answer: str = LabelAnswer.EXPECTATION,
    rationale: str = "",
    seconds: float = 0,
) -> CalibrationAnswer:
    """Store what a person says of one example of a round, once and for all; a retry adds nothing.

    Validated as a label is. Raises InvalidDocument as `label_submit` does, InvalidAct where they have said something
    else before, the round is closed, or the example was reopened.
    """
    document = answer_read(item.revision, answer, expectation)
    said = {"answer": str(answer), "expectation": document, "rationale": rationale_read(rationale)}
    with transaction.atomic():
        # Answers and the round's end take turns.
        calibration = CalibrationRound.objects.select_for_update().get(pk=item.round_id)
        previous = CalibrationAnswer.objects.filter(item=item, reviewer=actor).first()
        if previous is not None:
            if {name: getattr(previous, name) for name in said} != said:
                raise InvalidAct(
                    "You have already answered this example. In a calibration round only the first answer counts."
                )
            return previous
        _require_open(calibration, item)
        given = CalibrationAnswer.objects.create(item=item, reviewer=actor, seconds=max(0.0, seconds), **said)
        Draft.objects.filter(revision=item.revision_id, user=actor).delete()
        audit_record(
            project=item.revision.example.dataset.project,
            actor=actor,
            verb="calibration_answer",
            target=given,
            detail={"round": str(calibration.pk), "item": str(item.pk)},
        )
    return given


@transaction.atomic
def calibration_close(*, calibration: CalibrationRound, actor: User | None) -> CalibrationRound:
    """End a round: no one answers it any more, and everyone who labels may see what came of it.

    Closing twice is closing once.
    """
    now = database_now()
    if not CalibrationRound.objects.filter(pk=calibration.pk, closed_at=None).update(closed_at=now):
        calibration.refresh_from_db()
        return calibration
    calibration.closed_at = now
    asked = CalibrationItem.objects.filter(round=calibration).asked()
    Draft.objects.filter(revision__in=asked.order_by().values("revision")).delete()
    project = calibration.dataset.project
    audit_record(project=project, actor=actor, verb="calibration_close", target=calibration)
    return calibration


def _require_open(calibration: CalibrationRound, item: CalibrationItem) -> None:
    if calibration.closed_at is not None:
        raise InvalidAct("This calibration round is closed.")
    if not Revision.objects.filter(pk=item.revision_id, resolution__in=RESOLVED).exists():
        raise InvalidAct("This example was reopened: the round continues without it until it is resolved again.")
