"""Asking again what could not be had, running again what failed, and exporting it."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.db.models import Sum
from django.urls import reverse

from tests.agents.chat_server import Trouble, chat_server
from tests.runs.building import baseline_run, call, cases_of, silence, uploaded_run, version_of
from tests.runs.live import last, live_run, shop_agent
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import CaseGrade, Run, Transcript
from toolevals.runs.runs.repeating import errored_ask_again, run_repeat
from toolevals.runs.runs.requesting import RunRequest, run_request_baseline
from toolevals.workspace.jobs.services import job_cancel, job_retry
from toolevals.workspace.models import JobState

# Conversations run in threads, whose connections see only what is committed.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]
COST = (40 + 7) / 1e6


class Moody:
    """Refuses whoever asks for an order's status while `away`."""

    def __init__(self) -> None:
        self.away = True

    def __call__(self, body: dict[str, Any]) -> Any:
        if self.away and "status" in last(body)["content"]:
            return Trouble(401, '{"error": {"message": "no"}}')
        return shop_agent(body)


def outcomes(grading: Any) -> dict[tuple[str, int], str]:
    return {key: case.outcome for key, case in cases_of(grading).items()}


def spent_on(run: Run) -> Any:
    return Transcript.objects.filter(run=run).aggregate(spent=Sum("cost"))["spent"]


def test_only_errored_conversations_are_asked_again_and_a_new_grading_has_the_answers(project, version, run_jobs):
    moody = Moody()
    with chat_server(moody) as server:
        run = live_run(project, version, server, trials=2, settings={"prices": {"input": 1, "output": 1}})
        run_jobs()
        run.refresh_from_db()
        first = run.grading
        before = outcomes(first)
        kept = set(Transcript.objects.of_run(run).exclude(ended="unreachable").values_list("pk", flat=True))
        assert [key for key, outcome in before.items() if outcome == "errored"] == [("status", 0), ("status", 1)]
        moody.away = False
        server.requests.clear()
        errored_ask_again(run=run, actor=None)
        run_jobs()
    run.refresh_from_db()
    assert len(server.requests) == 2
    assert run.grading.number == 2
    assert outcomes(run.grading) == before | {("status", 0): "passed", ("status", 1): "passed"}
    # The first grading still has what it was made of.
    assert outcomes(first) == before
    assert CaseGrade.objects.filter(grading=first).count() == 8
    assert kept < set(Transcript.objects.of_run(run).values_list("pk", flat=True))
    assert Transcript.objects.of_run(run).count() == 8
    assert not Transcript.objects.of_run(run).errored().exists()


def test_the_budget_is_not_charged_twice_for_what_is_kept(project, version, run_jobs):
    moody = Moody()
    with chat_server(moody) as server:
        settings = {"prices": {"input": 1, "output": 1}, "budget": COST * 3.5, "concurrency": 1}
        run = live_run(project, version, server, settings=settings)
        run_jobs()
        run.refresh_from_db()
        assert spent_on(run) == pytest.approx(COST * 3)
        moody.away = False
        errored_ask_again(run=run, actor=None)
        run_jobs()
    run.refresh_from_db()
    assert set(outcomes(run.grading).values()) <= {"passed", "failed"}
    assert spent_on(run) == pytest.approx(COST * 4)


def test_asking_again_survives_a_cancel_and_nothing_is_graded_meanwhile(project, version, run_jobs):
    moody = Moody()
    with chat_server(moody) as server:
        run = live_run(project, version, server)
        run_jobs()
        run.refresh_from_db()
        grading = errored_ask_again(run=run, actor=None)
        assert grading.job is not None
        job_cancel(job=grading.job, actor=None)
        with pytest.raises(InvalidDocument, match="being re-run"):
            grading_start(run=run, actor=None)
        with pytest.raises(InvalidDocument, match="has not succeeded"):
            errored_ask_again(run=run, actor=None)
        moody.away = False
        job_retry(job=grading.job, actor=None)
        run_jobs()
    run.refresh_from_db()
    assert outcomes(run.grading)["status", 0] == "passed"


def test_there_must_be_something_to_ask_again(project, version, run_jobs):
    plain = baseline_run(project, version)
    with chat_server(shop_agent) as server:
        run = live_run(project, version, server)
        with pytest.raises(InvalidDocument, match="has not succeeded"):
            errored_ask_again(run=run, actor=None)
        run_jobs()
    run.refresh_from_db()
    with pytest.raises(InvalidDocument, match="has no errored case that can be re-run"):
        errored_ask_again(run=run, actor=None)
    with pytest.raises(InvalidDocument, match="has no errored case that can be re-run"):
        errored_ask_again(run=plain, actor=None)


def test_what_failed_is_run_again_alone(project, version, run_jobs):
    with chat_server(shop_agent) as server:
        run = live_run(project, version, server, trials=2)
        run_jobs()
        run.refresh_from_db()
        failed = {name for (name, _), outcome in outcomes(run.grading).items() if outcome == "failed"}
        assert failed == {"history", "refund"}
        server.requests.clear()
        again: Any = run_repeat(run=run, actor=None, only_failing=True)
        run_jobs()
    again.refresh_from_db()
    assert (again.failing_of, again.size, again.agent, again.trials) == (run, 2, run.agent, 2)
    assert again.job.state == JobState.SUCCEEDED
    assert {name for name, _ in outcomes(again.grading)} == failed
    assert len(server.requests) == 4
    assert again.job.progress == (9, 9)
    # Graded again it still holds those alone.
    grading_start(run=again, actor=None)
    run_jobs()
    again.refresh_from_db()
    assert len(outcomes(again.grading)) == 4


def test_another_agent_runs_what_failed(project, version, run_jobs):
    run = uploaded_run(project, version, [silence("status"), call("history", "issue_refund"), silence("hello")])
    run_jobs()
    run.refresh_from_db()
    request = RunRequest(experiment="nightly", dataset_version=version, failing_of=run)
    other: Any = run_request_baseline(project=project, actor=None, request=request)
    run_jobs()
    other.refresh_from_db()
    assert {name for name, _ in outcomes(other.grading)} == {"status", "history"}


def test_what_cannot_be_run_again_is_said(project, version, run_jobs):
    good = [call("status", "get_order_status"), call("history", "get_order_history"), call("refund", "issue_refund")]
    run = uploaded_run(project, version, [*good, silence("hello")])
    wrong = uploaded_run(project, version, [silence("status")])
    run_jobs()
    for each in (run, wrong):
        each.refresh_from_db()
    with pytest.raises(InvalidDocument, match="uploaded"):
        run_repeat(run=wrong, actor=None, only_failing=True)
    newer = version_of(project, slug="other")
    for failing_of, on, said in ((run, version, "no failed cases"), (wrong, newer, "another dataset version")):
        request = RunRequest(experiment="nightly", dataset_version=on, failing_of=failing_of)
        with pytest.raises(InvalidDocument, match=said):
            run_request_baseline(project=project, actor=None, request=request)
    assert Run.objects.count() == 2


def test_failing_cases_are_exported(project, version, run_jobs, client, viewer):
    uploaded_run(project, version, [silence("status"), call("history", "issue_refund", order_id="=1+1")])
    run_jobs()
    client.force_login(viewer)
    lines = client.get(reverse("runs:failing-jsonl", args=["shop", 1])).getvalue().splitlines()
    first, second = map(json.loads, lines)
    assert (first["id"], first["expected"], first["actual"]) == ("status", "get_order_status", "(none)")
    assert (second["mode"], second["verdicts"]["selection"]) == ("wrong_tool", "failed")
    assert second["prediction"]["messages"]
    text = client.get(reverse("runs:failing-csv", args=["shop", 1])).getvalue().decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["id"] for row in rows] == ["status", "history"]


def test_an_earlier_grading_has_its_own_failing_cases(project, version, run_jobs, client, viewer):
    run = uploaded_run(project, version, [silence("status"), call("history", "issue_refund", order_id="A-1")])
    run_jobs()
    grading_start(run=run, actor=None)
    run_jobs()
    run.refresh_from_db()
    CaseGrade.objects.filter(grading=run.grading_id, transcript__entry__position=0).update(outcome="passed")
    client.force_login(viewer)
    api = "/api/v1/projects/shop/runs/1/"

    def failing(address: str, **query: str) -> list[str]:
        rows = csv.DictReader(io.StringIO(client.get(f"{address}failing.csv", query).getvalue().decode()))
        lines = client.get(f"{address}failing.jsonl", query).getvalue().splitlines()
        names = [row["id"] for row in rows]
        assert names == [json.loads(line)["id"] for line in lines]
        return names

    for address in ("/p/shop/runs/1/", api):
        newest = failing(address)
        assert newest == failing(address, grading="2")
        assert failing(address, grading="1") == ["status", *newest]
        for number in ("3", "x"):
            assert client.get(f"{address}failing.csv", {"grading": number}).status_code == 404


def test_the_page_and_the_interface_offer_it(project, version, run_jobs, client, adjudicator):
    client.force_login(adjudicator)
    moody = Moody()
    with chat_server(moody) as server:
        live_run(project, version, server)
        run_jobs()
        page = client.get("/p/shop/runs/1/").content.decode()
        assert re.search(r"Re-run \d+ failing cases", page)
        assert "Re-run 1 errored case" in page
        assert "of 4 cases</a> are errored" in " ".join(page.replace('<span class="num">4</span>', "4").split())
        assert "The agent could not be reached" in page
        moody.away = False
        client.post(reverse("runs:run-errored", args=["shop", 1]))
        assert "1 errored case again" in client.get("/p/shop/runs/1/").content.decode()
        run_jobs()
        assert "errored case" not in client.get("/p/shop/runs/1/").content.decode()
        response = client.post(reverse("runs:run-failing", args=["shop", 1]))
        assert response["Location"] == "/p/shop/runs/2/"
        run_jobs()
    assert "examples that failed in" in client.get("/p/shop/runs/2/").content.decode()
    base = "/api/v1/projects/shop/runs/1/"
    assert client.post(f"{base}errored/").status_code == 422
    assert client.get(f"{base}failing.jsonl").getvalue().count(b"\n") == 2
    assert client.get(f"{base}failing.csv").getvalue().count(b"history") >= 1
