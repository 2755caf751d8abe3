"""A judge whose mind changes, and checks of it for drift."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.fixtures.people import person
from tests.runs.calibrated import JUDGE_PASSES, MARK, calibration_made, number_in, rate_all
from toolevals.runs.judging.judge_reliability import standings_of
from toolevals.runs.models import DriftCheck
from toolevals.runs.services import drift_begin, judge_change
from toolevals.workspace.models import Role
from toolevals.workspace.services import member_set

# Five that passed fail now; people passed these. Compared with people: 5, 2, 7 and 6.
NOW_PASSES = frozenset({*range(5), 10, 11})


class Scripted:
    """A judge whose mind changes: it passes what `passes` holds, and says garbage of what `broken` holds."""

    def __init__(self) -> None:
        self.passes = JUDGE_PASSES
        self.broken: frozenset[int] = frozenset()
        self.asked: list[int] = []

    def __call__(self, inputs: dict[str, Any]) -> Any:
        number = number_in(inputs)
        self.asked.append(number)
        if number in self.broken:
            return "{{ no JSON"
        return {"score": 1 if number in self.passes else 0, "reason": f"{MARK} {number} of {len(self.passes)}"}


@pytest.fixture
def judge() -> Scripted:
    """A judge that says what it says in calibrations."""
    return Scripted()


@pytest.fixture
def calibration(project: Any, run_jobs: Any, judge: Scripted) -> Any:
    """A closed calibration of twenty cases that one person rated, and the judge still there to be asked."""
    rater = person("Ana")
    member_set(project=project, actor=None, user=rater, role=Role.REVIEWER)
    with chat_server(judging(judge)) as server:
        made = calibration_made(project, server, run_jobs, raters=1)
        rate_all(made, rater)
        made.refresh_from_db()
        judge_change(judge=made.judge, actor=None, threshold=0.5)
        judge.asked.clear()
        yield made


@pytest.fixture
def check(calibration: Any, run_jobs: Any) -> Any:
    """Return a function that checks the judge for drift to the end."""

    def run(**said: Any) -> DriftCheck:
        made = drift_begin(judge=calibration.judge, calibration=calibration, actor=None, **said)
        run_jobs()
        made.refresh_from_db()
        return made

    return run


def standing_of(calibration: Any) -> Any:
    calibration.judge.refresh_from_db()
    return standings_of([calibration.judge])[calibration.judge_id]
