"""Runs that ask a model and are stopped, paused or made to give way while they last."""

from __future__ import annotations

import threading
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection

from tests.agents.chat_server import chat_server
from tests.runs.building import baseline_run
from tests.runs.live import live_run, shop_agent
from toolevals.runs.live import services as conversing
from toolevals.runs.models import CaseGrade, Transcript
from toolevals.workspace.jobs.services import job_cancel, job_pause, job_resume, job_retry
from toolevals.workspace.models import JobState

# Conversations run in threads, whose connections see only what is committed.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]


def test_an_attempt_that_was_cut_short_is_completed_and_nothing_is_asked_twice(project, version, run_jobs):
    run: Any = None

    def cancelling(body):
        if len(server.requests) == 2:
            job_cancel(job=run.job, actor=None)
            # The server's thread keeps none.
            connection.close()
        return shop_agent(body)

    with chat_server(cancelling) as server:
        run = live_run(project, version, server, settings={"concurrency": 1})
        run_jobs()
        run.job.refresh_from_db()
        assert run.job.state == JobState.CANCELLED
        # The second request's answer came after the cancel: it was paid for, and is kept.
        assert Transcript.objects.filter(run=run).count() == 2
        job_retry(job=run.job, actor=None)
        run_jobs()
    assert Transcript.objects.filter(run=run).count() == 4
    assert len(server.requests) == 4


def test_a_cancelled_run_keeps_what_ends_soon_and_waits_for_nothing_that_hangs(project, version, run_jobs, monkeypatch):
    monkeypatch.setattr(conversing, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(conversing, "LOOK_SECONDS", 0.05)
    run: Any = None
    every, released = threading.Barrier(4), threading.Event()

    def hanging(body):
        # All four are under way when the job is cancelled: one ends, three hang.
        if every.wait(30):
            released.wait(60)
        else:
            job_cancel(job=run.job, actor=None)
            connection.close()
        return shop_agent(body)

    with chat_server(hanging) as server, patch("toolevals.workspace.jobs.leases.LOOK_SECONDS", 0):
        run = live_run(project, version, server, settings={"concurrency": 4})
        run_jobs()
        # Back here though three have not ended.
        assert not released.is_set()
        run.job.refresh_from_db()
        assert run.job.state == JobState.CANCELLED
        assert [each.document.get("error") for each in Transcript.objects.of_run(run)] == [None]
        released.set()
        server.behaviour = shop_agent
        job_retry(job=run.job, actor=None)
        run_jobs()
    assert [each.document.get("error") for each in Transcript.objects.of_run(run)] == [None] * 4
    assert len(server.requests) == 7


def test_a_paused_run_keeps_the_conversations_in_hand_and_goes_on_where_it_was(project, version, run_jobs):
    run: Any = None

    def pausing(body):
        if len(server.requests) == 2:
            job_pause(job=run.job, actor=None)
            # The server's thread keeps none.
            connection.close()
        return shop_agent(body)

    with chat_server(pausing) as server, patch("toolevals.workspace.jobs.leases.LOOK_SECONDS", 0):
        run = live_run(project, version, server, settings={"concurrency": 1})
        run_jobs()
        run.job.refresh_from_db()
        assert run.job.state == JobState.PAUSED
        assert Transcript.objects.filter(run=run).count() == 2
        job_resume(job=run.job, actor=None)
        run_jobs(impatient=True)
    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    assert run.grading is not None
    assert len(server.requests) == 4
    assert set(run.job.batches.values_list("attempts", flat=True)) == {1}


def test_a_batch_of_conversations_lets_grading_come_first(project, version, run_jobs):
    quick: Any = None
    asked_before: list[int] = []

    def interrupting(body):
        nonlocal quick
        if quick is None:
            quick = baseline_run(project, version)
        elif not asked_before:
            asked_before.append(CaseGrade.objects.filter(grading__run=quick).count())
        connection.close()
        return shop_agent(body)

    with chat_server(interrupting) as server, patch("toolevals.workspace.jobs.leases.LOOK_SECONDS", 0):
        live_run(project, version, server, settings={"concurrency": 1})
        run_jobs(impatient=True)
    # All of the other run was graded before the second conversation began.
    assert asked_before == [4]
    assert len(server.requests) == 4
