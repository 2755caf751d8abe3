"""Runs with many judged cases, a judge who is wrong in known ones, and scripted people who rate."""

from __future__ import annotations

from typing import Any

from labeling.models import DatasetVersion
from tests.agents.chat_server import ChatServer
from tests.runs.building import STATUS, call, example, uploaded_run, version_of
from tests.runs.judged import judge_of
from toolevals.runs.judge_calibrations.services import CalibrationRequest, calibration_begin, case_rate
from toolevals.runs.models import JudgeCalibration
from toolevals.workspace.models import Project, User

# What the judge says stands nowhere else.
MARK = "the-judge-says-so"
SIZE = 20
# The judge passes the first twelve; people ten of these and two others: 10, 2, 2 and 6.
JUDGE_PASSES = frozenset(range(12))
PEOPLE_PASS = frozenset({*range(10), 12, 13})


def number_in(inputs: dict[str, Any]) -> int:
    """Return which case a judge or a rater is shown."""
    return int(inputs["actual"]["arguments"]["order_id"].rpartition(" ")[2])


def scored(inputs: dict[str, Any]) -> dict[str, Any]:
    """Answer as the judge does."""
    number = number_in(inputs)
    return {"score": 1 if number in JUDGE_PASSES else 0, "reason": f"{MARK} {number}"}


def judged_run(project: Project, size: int = SIZE, slug: str = "core") -> Any:
    """Start a run of cases whose arguments differ, each in its own way; the rest of the rules are content."""
    names = [f"{slug}-{n}" for n in range(size)]
    rows = [example(name, f"What is the status of my order, number {n}?", STATUS) for n, name in enumerate(names)]
    version = DatasetVersion.objects.filter(dataset__project=project, dataset__slug=slug).last()
    predictions = [call(name, STATUS, order_id=f"ord {n}") for n, name in enumerate(names)]
    return uploaded_run(project, version or version_of(project, rows, slug), predictions)


def calibration_made(project: Project, server: ChatServer, run_jobs: Any, **said: Any) -> JudgeCalibration:
    """Judge a run and draw a calibration of all its cases."""
    judge = judge_of(project, server, prices={"input": 1, "output": 10})
    run = judged_run(project)
    run_jobs()
    run.refresh_from_db()
    request = CalibrationRequest(judge=judge, grading=run.grading, **{"held_out": SIZE, **said})
    made = calibration_begin(request=request, actor=None)
    run_jobs()
    made.refresh_from_db()
    return made


def truth(inputs: dict[str, Any]) -> float:
    """Return what people say."""
    return 1.0 if number_in(inputs) in PEOPLE_PASS else 0.0


def rate_all(calibration: JudgeCalibration, person: User, note: str = "") -> int:
    """Let a person rate what is left for them, one case after the other, by what they are shown."""
    done = 0
    while case := calibration.cases.left_for(person).select_related("calibration__judge__rubric").first():
        case_rate(case=case, actor=person, value=truth(case.questions[0]), note=note)
        done += 1
    return done
