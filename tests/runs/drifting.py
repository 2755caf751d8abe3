"""A judge whose mind changes, and checks of it for drift."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.fixtures.jobs import jobs_run
from tests.fixtures.module_rows import in_module_transaction, module_rows
from tests.fixtures.people import person
from tests.runs.calibrated import JUDGE_PASSES, MARK, calibration_made, number_in, rate_all
from toolevals.runs.drift.services import drift_begin
from toolevals.runs.judging.judge_reliability import standings_of
from toolevals.runs.judging.services import judge_change
from toolevals.runs.models import DriftCheck, JudgeCalibration
from toolevals.workspace.models import Project, Role
from toolevals.workspace.projects.services import member_set, project_create

# The fixtures: a test file imports them by `*`.
__all__ = ["calibration", "check", "in_module_transaction", "judge", "made", "module_rows", "project", "scripted"]

# Five that passed fail now; people passed these. Compared with people: 5, 2, 7 and 6.
NOW_PASSES = frozenset({*range(5), 10, 11})


class Scripted:
    """A judge whose mind changes: it passes what `passes` holds, and says garbage of what `broken` holds."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Be of the first mind again, and forget what was asked."""
        self.passes = JUDGE_PASSES
        self.broken: frozenset[int] = frozenset()
        self.asked: list[int] = []

    def __call__(self, inputs: dict[str, Any]) -> Any:
        number = number_in(inputs)
        self.asked.append(number)
        if number in self.broken:
            return "{{ no JSON"
        return {"score": 1 if number in self.passes else 0, "reason": f"{MARK} {number} of {len(self.passes)}"}


def closed(project: Project, judge: Scripted) -> Iterator[JudgeCalibration]:
    """Yield a closed calibration of twenty cases that one person rated, and the judge still there to be asked."""
    rater = person("Ana")
    member_set(project=project, actor=None, user=rater, role=Role.REVIEWER)
    with override_settings(AGENT_NETWORKS=["127.0.0.0/8"]), chat_server(judging(judge)) as server:
        made = calibration_made(project, server, jobs_run, raters=1)
        rate_all(made, rater)
        made.refresh_from_db()
        judge_change(judge=made.judge, actor=None, threshold=0.5)
        yield made


@pytest.fixture(scope="module")
def scripted() -> Scripted:
    """The judge that all tests of a module ask."""
    return Scripted()


@pytest.fixture(scope="module")
def made(module_rows: None, scripted: Scripted) -> Iterator[JudgeCalibration]:
    """A closed calibration, made once for a module."""
    yield from closed(project_create(actor=None, slug="shop", name="Shop support"), scripted)


@pytest.fixture
def calibration(made: JudgeCalibration, judge: Scripted, db: None) -> JudgeCalibration:
    """The calibration as it is made, read by each test anew."""
    return JudgeCalibration.objects.get(pk=made.pk)


@pytest.fixture
def judge(made: JudgeCalibration, scripted: Scripted) -> Scripted:
    """A judge that says what it says in calibrations."""
    scripted.reset()
    return scripted


@pytest.fixture
def project(calibration: JudgeCalibration) -> Project:
    """The project of the calibration."""
    return calibration.judge.project


@pytest.fixture
def check(calibration: JudgeCalibration, run_jobs: Any) -> Any:
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
