"""Let people re-read the cases of a grading: draw them, take readings, close and cancel.

Of each example one scored trial is drawn, by its outcome. Readings are written one by one, each in its own transaction,
and never change: whatever process dies, none is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from toolevals.grading.judging.sampling import one_trial_each, sample_of_each
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.aggregates.packed_cases import LETTERS, packed_cases
from toolevals.runs.judge_calibrations.services import LONGEST_NOTE
from toolevals.runs.models import CaseGrade, Grading, Reading, RereadCase, Rereading, Run, Said
from toolevals.runs.rereading.results import counted
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

_CHUNK = 400
_OUTCOME = VERDICT_NAMES.index("outcome")
_SCORED = {LETTERS[name]: name for name in ("passed", "failed")}
USUAL_SIZE = 50
MOST_CASES = 1_000
MOST_READERS = 9


class Place(NamedTuple):
    """The position of a case: its example's place in the dataset version, its trial, and how many are scored."""

    position: int
    trial: int
    scored: int


def strata_of(grading: Grading, seed: str) -> dict[str, list[Place]]:
    """Return one scored trial of each example, drawn by chance, by its outcome: passed or failed."""
    packed = packed_cases(grading)
    letters = [packed.letters_of(number)[_OUTCOME] for number in range(len(packed.verdicts) + 1)]
    examples = []
    for place, position in enumerate(grading.run.positions):
        numbers = packed.outcomes[place * packed.trials : (place + 1) * packed.trials]
        said = [(trial, _SCORED[letter]) for trial, n in enumerate(numbers) if (letter := letters[n]) in _SCORED]
        if said:
            examples.append([(status, Place(position, trial, len(said))) for trial, status in said])
    return one_trial_each(examples, seed)


def _cases(grading: Grading, places: Collection[Place]) -> Iterator[tuple[Place, UUID]]:
    wanted = {(place.position, place.trial): place for place in places}
    positions = sorted({place.position for place in places})
    for start in range(0, len(positions), _CHUNK):
        some = positions[start : start + _CHUNK]
        rows = CaseGrade.objects.filter(grading=grading, transcript__entry__position__in=some).order_by()
        for position, trial, pk in rows.values_list("transcript__entry__position", "transcript__trial", "pk"):
            if (case := wanted.get((position, trial))) is not None:
                yield case, pk


@dataclass(frozen=True, slots=True)
class RereadingRequest:
    """The cases of each outcome that people read, and the readers of each; `seed` is any text, else the day."""

    grading: Grading
    passed: int = USUAL_SIZE
    failed: int = USUAL_SIZE
    readers: int = 1
    seed: str = ""


@transaction.atomic
def rereading_begin(*, request: RereadingRequest, actor: User | None) -> Rereading:
    """Draw the cases of a new re-reading: of each example one scored trial, then so many passed and failed ones.

    Raises InvalidDocument where a size is out of range, where nothing is scored, and while another of the same grading
    is open.
    """
    grading = request.grading
    if problems := list(_problems(request)):
        raise InvalidDocument(problems)
    # One at a time.
    Run.objects.select_for_update(no_key=True).get(pk=grading.run_id)
    if Rereading.objects.filter(grading=grading, closed_at=None).exists():
        raise InvalidDocument.at("", "A re-reading of this grading is still open: close it first.")
    seed = request.seed.strip() or database_now().date().isoformat()
    strata = strata_of(grading, seed)
    if not any(strata.values()):
        raise InvalidDocument.at("", "No case of this grading is scored.")
    made = Rereading.objects.create(
        grading=grading,
        readers=request.readers,
        seed=seed,
        drawn_from={verdict: len(places) for verdict, places in strata.items()},
        actor=actor,
    )
    drawn = sample_of_each(strata, {"passed": request.passed, "failed": request.failed}, seed)
    passed, cases = set(strata["passed"]), dict(_cases(grading, drawn))
    RereadCase.objects.bulk_create(
        RereadCase(rereading=made, position=position, case_id=cases[place], passed=place in passed, trials=place.scored)
        for position, place in enumerate(drawn, start=1)
    )
    detail = {"grading": grading.number, "cases": len(drawn), "readers": request.readers, "seed": seed}
    project = grading.run.project
    audit_record(project=project, actor=actor, verb="rereading_begin", target=made, detail=detail)
    return made


def case_read(*, case: RereadCase, actor: User, said: str, note: str = "") -> Reading:
    """Keep what a person says of a case, once and for all. A retry adds nothing.

    The reading that completes a re-reading closes it. Raises InvalidDocument where it is none of `Said`, where they
    have said something else before, where they may not read the case, and once it is closed.
    """
    if said not in Said.values:
        raise InvalidDocument.at("/said", f"must be one of {', '.join(Said.values)}")
    if len(note) > LONGEST_NOTE or "\0" in note:
        raise InvalidDocument.at("/note", f"must be text of at most {LONGEST_NOTE:,} characters")
    content = {"said": said, "note": note.strip()}
    with transaction.atomic():
        # Readings and the end of a re-reading take turns.
        locked = Rereading.objects.select_for_update(no_key=True).get(pk=case.rereading_id)
        if (own := Reading.objects.filter(case=case, reader=actor).first()) is not None:
            if own.content != content:
                raise InvalidDocument.at("", "You have read this case: the first reading counts.")
            return own
        if not locked.is_open:
            raise InvalidDocument.at("", "This re-reading is closed.")
        had = Reading.objects.filter(case=case).count()
        if had >= locked.readers:
            raise InvalidDocument.at("", "As many people as it takes have read this case.")
        if not RereadCase.objects.left_for(actor).filter(pk=case.pk).exists():
            raise InvalidDocument.at("", "You cannot read this case: you created its gold, or it is being labelled.")
        reading = Reading.objects.create(case=case, reader=actor, place=had + 1, **content)
        project = case.rereading.grading.run.project
        audit_record(project=project, actor=actor, verb="case_read", target=reading, detail={"case": str(case.pk)})
        if _is_complete(locked):
            _close(locked)
    return reading


@transaction.atomic
def rereading_close(*, rereading: Rereading, actor: User | None) -> Rereading:
    """End a re-reading with the readings that it has. Closing twice is closing once."""
    locked = Rereading.objects.select_for_update(no_key=True).get(pk=rereading.pk)
    if locked.is_open:
        _close(locked)
        audit_record(project=rereading.grading.run.project, actor=actor, verb="rereading_close", target=locked)
    return locked


@transaction.atomic
def rereading_cancel(*, rereading: Rereading, actor: User | None) -> Rereading:
    """End a re-reading without an estimate. Cancelling twice is cancelling once.

    Raises InvalidDocument where it is closed: what came of it has been shown.
    """
    locked = Rereading.objects.select_for_update(no_key=True).get(pk=rereading.pk)
    if locked.is_cancelled:
        return locked
    if not locked.is_open:
        raise InvalidDocument.at("", "This re-reading is closed and cannot be cancelled.")
    locked.closed_at, locked.is_cancelled = database_now(), True
    locked.save(update_fields=["closed_at", "is_cancelled"])
    audit_record(project=rereading.grading.run.project, actor=actor, verb="rereading_cancel", target=locked)
    return locked


def _close(rereading: Rereading) -> None:
    rereading.closed_at = database_now()
    rereading.counts = counted(rereading).to_document()
    rereading.save(update_fields=["closed_at", "counts"])


def _is_complete(rereading: Rereading) -> bool:
    wanted = rereading.cases.count() * rereading.readers
    return Reading.objects.filter(case__rereading=rereading).count() >= wanted


def _problems(request: RereadingRequest) -> Iterator[Problem]:
    for name, size in (("passed", request.passed), ("failed", request.failed)):
        if not 1 <= size <= MOST_CASES:
            yield Problem(f"/{name}", f"must be from 1 to {MOST_CASES:,}")
    if not 1 <= request.readers <= MOST_READERS:
        yield Problem("/readers", f"must be from 1 to {MOST_READERS}")
    if len(request.seed) > 100 or "\0" in request.seed:
        yield Problem("/seed", "must be text of at most 100 characters")
    if request.grading.finished_at is None:
        yield Problem("/grading", "is not finished")
