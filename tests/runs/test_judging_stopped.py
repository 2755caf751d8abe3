"""A judging that is paused, cancelled or gives way stops between two questions: nothing lost, nothing asked twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.runs.building import REFUND, call, rows_of, uploaded_run, version_of
from tests.runs.judged import judge_of, worded_example
from toolevals.runs.grading.services import grading_start
from toolevals.runs.judging import concurrent_questions as several_module
from toolevals.runs.models import JudgedCase, Judgement
from toolevals.workspace.jobs.services import BatchPlan, job_cancel, job_create, job_pause, job_resume, job_retry
from toolevals.workspace.models import BatchState, Job, JobState, Queue

# The judge's own thread stops the job: what it does must be committed, and seen.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]
CASES = 6


class Stopping:
    """A judge that passes everything, and does something while it is asked its nth question: later ones wait for it."""

    def __init__(self, number: int, do: Callable[[Any], object]) -> None:
        self.number = number
        self.do = do
        self.asked: list[str] = []
        self.counting, self.done = threading.Lock(), threading.Event()
        self.run: Any = None

    def __call__(self, inputs: dict[str, Any]) -> Any:
        with self.counting:
            self.asked.append(str(inputs))
            number = len(self.asked)
        if number == self.number:
            try:
                self.do(self.run)
            finally:
                self.done.set()
                # The server's thread keeps none.
                connection.close()
        elif number > self.number:
            self.done.wait(60)
        return {"score": 1}


def run_of_words(project: Any) -> Any:
    """Start a run of cases that are all asked about."""
    names = [f"ex-{number}" for number in range(CASES)]
    predictions = [call(name, REFUND, reason=f"Sorry, {name}") for name in names]
    return uploaded_run(project, version_of(project, map(worded_example, names)), predictions)


def judging_batch(run: Any) -> Any:
    return run.job.batches.get(task="runs.judge")


def state_of(run: Any) -> str:
    run.job.refresh_from_db()
    return str(run.job.state)


def check_whole(run: Any, run_jobs: Any) -> None:
    """Compare the grading with one that nobody stopped and that asks nothing, since all is kept."""
    run.refresh_from_db()
    assert state_of(run) == JobState.SUCCEEDED
    first = run.grading
    assert JudgedCase.objects.filter(grading=first, status="passed").count() == CASES
    second = grading_start(run=run, actor=None)
    run_jobs()
    assert rows_of(first) == rows_of(second)
    assert Judgement.objects.count() == CASES


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_paused_judging_keeps_what_is_under_way_and_begins_nothing_more(project, run_jobs, concurrency, monkeypatch):
    monkeypatch.setattr(several_module, "CONCURRENCY", concurrency)
    told = Stopping(2, lambda run: job_pause(job=run.job, actor=None))
    with chat_server(judging(told)) as server:
        judge_of(project, server, "natural_language")
        told.run = run = run_of_words(project)
        run_jobs()
        assert state_of(run) == JobState.PAUSED
        # One more may have been begun while the pause was on its way.
        assert 2 <= len(told.asked) <= 1 + concurrency
        assert Judgement.objects.count() == len(told.asked)
        assert JudgedCase.objects.count() == 0
        batch = judging_batch(run)
        assert (batch.state, batch.attempts) == (BatchState.QUEUED, 0)
        job_resume(job=run.job, actor=None)
        run_jobs(impatient=True)
        check_whole(run, run_jobs)
    assert len(told.asked) == len(set(told.asked)) == CASES


def test_judging_lets_quick_work_come_first_and_goes_on(project, run_jobs, monkeypatch):
    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    asked_before: list[int] = []

    def quick_work(_: Any) -> None:
        job_create(project=project, actor=None, kind="quick", title="Quick", batches=[BatchPlan("tests.work", {})])

    told = Stopping(2, quick_work)

    def note(lease: Any) -> None:
        asked_before.append(len(told.asked))

    monkeypatch.setattr("tests.workspace.tasks.work", note)
    with chat_server(judging(told)) as server:
        judge_of(project, server, "natural_language")
        told.run = run = run_of_words(project)
        run_jobs(impatient=True)
        check_whole(run, run_jobs)
    assert asked_before == [2]
    assert Job.objects.get(kind="quick").batches.get().queue == Queue.IO
    assert len(told.asked) == CASES


def test_a_cancelled_judging_does_not_wait_for_a_judge_that_hangs_and_keeps_no_error(project, run_jobs, monkeypatch):
    monkeypatch.setattr(several_module, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(several_module, "LOOK_SECONDS", 0.05)
    released = threading.Event()

    def hang(inputs: dict[str, Any]) -> Any:
        if "ex-5" in str(inputs):
            job_cancel(job=run.job, actor=None)
            connection.close()
            released.wait(60)
        return {"score": 1}

    with chat_server(judging(hang)) as server, patch("toolevals.workspace.jobs.leases.LOOK_SECONDS", 0):
        judge_of(project, server, "natural_language", timeout=60)
        run = run_of_words(project)
        run_jobs()
        # Back here though the judge has not answered yet.
        assert not released.is_set()
        assert state_of(run) == JobState.CANCELLED
        assert judging_batch(run).state == BatchState.CANCELLED
        assert Judgement.objects.filter(error="").count() == Judgement.objects.count() == CASES - 1
        released.set()
        server.behaviour = judging(lambda _: {"score": 1})
        before = len(server.requests)
        job_retry(job=run.job, actor=None)
        run_jobs()
        assert len(server.requests) == before + 1
        check_whole(run, run_jobs)


def test_a_job_that_is_cancelled_and_taken_up_again_before_its_worker_stops_loses_no_batch(
    project, run_jobs, monkeypatch
):
    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    told = Stopping(2, lambda run: job_cancel(job=run.job, actor=None))

    def taken_up_again(asked: Any, **said: Any) -> Any:
        if "return_when" not in said:
            job_retry(job=run.job, actor=None)
        return wait(asked, **said)

    monkeypatch.setattr(several_module, "wait", taken_up_again)
    with chat_server(judging(told)) as server:
        judge_of(project, server, "natural_language")
        told.run = run = run_of_words(project)
        run_jobs()
        check_whole(run, run_jobs)
    assert len(told.asked) == CASES
