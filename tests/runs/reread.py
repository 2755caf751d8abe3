"""A run with passed and failed cases whose gold is partly wrong, a re-reading of it, and scripted readers."""

from __future__ import annotations

from typing import Any

from tests.runs.building import HISTORY, STATUS, call, example, uploaded_run, version_of
from toolevals.runs.models import Rereading
from toolevals.runs.rereading.services import RereadingRequest, case_read, rereading_begin
from toolevals.workspace.models import Project, User

SIZE = 20
# The first twelve pass. People find two of these wrong and three of the others right.
PASS = frozenset(range(12))
RIGHT = frozenset({*range(10), 12, 13, 14})


def read_run(project: Project, run_jobs: Any, *, trials: int = 1, size: int = SIZE) -> Any:
    """Return a graded run in which the gold of each example names a tool, and the agent calls it or another."""
    rows = [example(f"core-{n}", f"What is the status of order number {n}?", STATUS) for n in range(size)]
    said = [call(f"core-{n}", STATUS if n in PASS else HISTORY, trial) for n in range(size) for trial in range(trials)]
    run = uploaded_run(project, version_of(project, rows), said, trials=trials)
    run_jobs()
    run.refresh_from_db()
    return run


def rereading_made(run: Any, **said: Any) -> Rereading:
    """Draw a re-reading of a run's shown grading: by default of all its cases."""
    request = RereadingRequest(grading=run.grading, **{"passed": SIZE, "failed": SIZE, "seed": "s", **said})
    return rereading_begin(request=request, actor=None)


def number_of(case: Any) -> int:
    """Return which example a case is."""
    return int(case.case.transcript.entry.revision.example.external_id.removeprefix("core-"))


def truth(case: Any) -> str:
    """Return what people say of a case."""
    return "right" if number_of(case) in RIGHT else "wrong"


def read_all(rereading: Rereading, person: User, note: str = "", most: int = 1_000) -> int:
    """Let a person read what is left for them, one case after the other."""
    done = 0
    while done < most and (case := rereading.cases.left_for(person).first()):
        case_read(case=case, actor=person, said=truth(case), note=note)
        done += 1
    return done
