"""Runs that ask a model over HTTP while they last."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from tests.agents.chat_server import Trouble, calls, chat_server, says
from tests.runs.building import STATUS, cases_of, example, version_of
from tests.runs.live import last, live_run, shop_agent
from toolevals.agents.secret_binding import Origin
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.live.conversations import SharedPace
from toolevals.runs.models import Agent, Run, RunPace, Transcript
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, JobState
from toolevals.workspace.secrets.services import secret_set

# Conversations run in threads, whose connections see only what is committed.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]
SENT = {"results": [{"tool": STATUS, "result": {"state": "sent"}}]}


def simulated(**simulation: Any) -> dict[str, Any]:
    row = example("status", "What is the shipping status of order ORD-1?", STATUS)
    row["input"]["simulation"] = simulation
    return row


def transcripts(run: Run) -> list[Transcript]:
    return list(Transcript.objects.of_run(run))


def test_a_model_is_asked_for_every_trial_and_graded(project, version, run_jobs):
    with chat_server(shop_agent) as server:
        secret_set(
            project=project, actor=None, name="model-host", value="key-0815", addresses=[str(Origin.of(server.url))]
        )
        options = {"secret": "model-host", "temperature": 0, "seed": 3}
        run = live_run(
            project, version, server, trials=2, options=options, settings={"prices": {"input": 1, "output": 10}}
        )
        run_jobs()
    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    assert len(server.requests) == 8
    assert set(server.keys) == {"Bearer key-0815"}
    made = transcripts(run)
    assert [transcript.trial for transcript in made] == [0, 1] * 4
    assert {transcript.model for transcript in made} == {"small-2026-01-01"}
    assert made[0].cost == pytest.approx((40 + 7 * 10) / 1e6)
    outcomes = {key: case.outcome for key, case in cases_of(run.grading).items()}
    assert outcomes == {
        (name, trial): "passed" if name in ("status", "hello") else "failed" for name, trial in outcomes
    }
    assert {transcript.ended for transcript in made} == {"calls", "answer"}


def test_simulated_tools_answer_and_their_words_come_back_to_the_model(project, run_jobs):
    version = version_of(project, [simulated(**SENT)])
    with chat_server(shop_agent) as server:
        run = live_run(project, version, server)
        run_jobs()
    (transcript,) = transcripts(run)
    assert [message["role"] for message in transcript.document["messages"]] == ["assistant", "tool", "assistant"]
    assert transcript.document["answer"] == 'It says: {"state": "sent"}'
    assert not any("simulation" in str(request) for request in server.requests)


def test_faults_come_before_the_tool_recovers(project, run_jobs):
    faults = [{"tool": STATUS, "fault": "503", "times": 2}]
    version = version_of(project, [simulated(**SENT, faults=faults)])

    def stubborn(body):
        failed = last(body)["role"] == "tool" and "503" in last(body)["content"]
        return calls((STATUS, '{"order_id": "ORD-1"}')) if failed else shop_agent(body)

    with chat_server(stubborn) as server:
        run = live_run(project, version, server)
        run_jobs()
    (transcript,) = transcripts(run)
    said = transcript.document["messages"]
    assert [message.get("is_error", False) for message in said if message["role"] == "tool"] == [True, True, False]
    run.refresh_from_db()
    assert cases_of(run.grading)["status", 0].recovery == "passed"


def test_a_simulated_user_is_played_by_the_model_that_the_run_names(project, run_jobs):
    version = version_of(project, [simulated(user={"instruction": "Ask for ORD-1, then leave."})])

    def agent(body):
        return calls((STATUS, '{"order_id": "ORD-1"}')) if "ORD-1 please" in str(last(body)) else says("Which order?")

    with chat_server(agent) as server, chat_server(lambda _: says("ORD-1 please")) as player:
        run = live_run(project, version, server, settings={"user": {"base_url": player.url, "model": "large"}})
        run_jobs()
        assert [message["content"] for message in transcripts(run)[0].document["messages"][:2]] == [
            "Which order?",
            "ORD-1 please",
        ]
        assert "leave" not in str(server.requests)
        unplayed = live_run(project, version, server)
        run_jobs()
    assert "names no model that plays it" in transcripts(unplayed)[0].document["error"]


def test_a_model_that_is_slow_to_take_requests_is_asked_again_as_it_wishes(project, version, run_jobs):
    refused = threading.Event()

    def busy(body):
        if refused.is_set():
            return shop_agent(body)
        refused.set()
        return Trouble(429, '{"error": {"message": "later"}}', Retry_After="0")

    with chat_server(busy) as server:
        run = live_run(project, version, server, settings={"concurrency": 1})
        run_jobs()
    assert len(server.requests) == 5
    assert [transcript.document.get("error") for transcript in transcripts(run)] == [None] * 4


def test_a_model_that_cannot_be_reached_is_errored_and_never_failed(project, version, run_jobs):
    with chat_server(lambda _: Trouble(401, '{"error": {"message": "no"}}')) as server:
        run = live_run(project, version, server)
        run_jobs()
    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    cases = cases_of(run.grading).values()
    assert {(case.outcome, case.tag) for case in cases} == {("errored", "ADAPTER_ERROR")}
    assert len(server.requests) == 4


def test_a_budget_ends_the_run_and_what_it_does_not_reach_is_unscored(project, version, run_jobs):
    cost = (40 + 7) / 1e6
    with chat_server(shop_agent) as server:
        settings = {"prices": {"input": 1, "output": 1}, "budget": cost * 1.5, "concurrency": 1}
        run = live_run(project, version, server, settings=settings)
        run_jobs()
    assert len(server.requests) == 2
    assert sorted(transcript.ended for transcript in transcripts(run)) == ["answer", "budget", "budget", "calls"]
    run.refresh_from_db()
    assert sorted(case.outcome for case in cases_of(run.grading).values()).count("unscored") == 2


def test_a_secret_that_is_gone_fails_the_run_and_says_so(project, version, run_jobs):
    with chat_server(shop_agent) as server:
        secret = secret_set(
            project=project, actor=None, name="model-host", value="key-0815", addresses=[str(Origin.of(server.url))]
        )
        run = live_run(project, version, server, options={"secret": "model-host"})
        secret.delete()
        run_jobs()
    run.job.refresh_from_db()
    assert run.job.state == JobState.FAILED
    assert "no secret named 'model-host'" in run.job.failures().first().error
    assert server.requests == []


def test_a_secret_is_sent_to_no_address_that_its_owner_has_not_named(project, version, run_jobs):
    with chat_server(shop_agent) as server:
        said = {"project": project, "actor": None, "name": "model-host"}
        secret_set(**said, value="key-0815", addresses=["https://models.example.org"])
        for options, settings, pointer in (
            ({"secret": "model-host"}, {}, "/options/secret"),
            ({}, {"user": {"base_url": server.url, "model": "m", "secret": "model-host"}}, "/settings/user/secret"),
        ):
            with pytest.raises(InvalidDocument, match="may not be sent to") as refused:
                live_run(project, version, server, options=options, settings=settings)
            assert refused.value.problems[0].pointer == pointer
        secret_set(**said, value="key-0815", addresses=[str(Origin.of(server.url))])
        run = live_run(project, version, server, options={"secret": "model-host"})
        secret_set(**said, value="key-0815", addresses=[])
        run_jobs()
    run.job.refresh_from_db()
    assert run.job.state == JobState.FAILED
    assert "may be sent to no address yet" in run.job.failures().first().error
    assert server.requests == []
    assert AuditEntry.objects.filter(project=project, verb="secret_refuse").count() == 2


def test_all_workers_of_a_run_keep_one_pace(project, version, run_jobs):
    with chat_server(shop_agent) as server:
        run = live_run(project, version, server, settings={"requests_per_minute": 6_000, "concurrency": 4})
        run_jobs()
    assert len(server.requests) == 4
    waits: list[float] = []
    here, there = (SharedPace(run.pk, 60, waits.append) for _ in range(2))
    RunPace.objects.update(next_at=database_now() + timedelta(hours=1))
    for pace in (here, there, here):
        pace.wait()
    # A second apart, whoever asks.
    assert [round(wait - waits[0]) for wait in waits] == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "told", "pointer"),
    [
        ({"base_url": "ftp://x"}, {}, "/options/base_url"),
        ({"base_url": "http://user:pass@x/"}, {}, "/options/base_url"),
        ({"temperature": 3}, {}, "/options/temperature"),
        ({"tools": "magic"}, {}, "/options/tools"),
        ({"extra": {"model": "another"}}, {}, "/options/extra"),
        ({"colour": "red"}, {}, "/options/colour"),
        ({"secret": "missing"}, {}, "/options/secret"),
        ({}, {"concurrency": 0}, "/settings/concurrency"),
        ({}, {"budget": 5}, "/settings/budget"),
        ({}, {"prices": {"input": -1, "output": 1}}, "/settings/prices/input"),
        ({}, {"user": {"base_url": "http://x"}}, "/settings/user/model"),
        ({}, {"speed": 1}, "/settings/speed"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_begun(project, version, options, told, pointer):
    with chat_server(shop_agent) as server, pytest.raises(InvalidDocument) as caught:
        live_run(project, version, server, options=options, settings=told)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]
    assert not Run.objects.exists()
    assert not Agent.objects.exists()


def test_strict_tools_are_sent_so_and_belong_to_the_agent(project, run_jobs):
    closed = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    tools = [
        {"name": STATUS, "description": "Look up.", "input_schema": {**closed, "additionalProperties": False}},
        {"name": "cancel", "description": "Cancel.", "input_schema": closed},
    ]
    row = example("status", "What is the status of order ORD-1?", STATUS)
    version = version_of(project, [row | {"tools": tools}])
    with chat_server(shop_agent) as server:
        plain = live_run(project, version, server)
        strict = live_run(project, version, server, options={"strict_tools": True})
        run_jobs()
    sent = [
        {each["function"]["name"]: each["function"].get("strict") for each in said["tools"]} for said in server.requests
    ]
    assert sent == [{STATUS: None, "cancel": None}, {STATUS: True, "cancel": None}]
    assert plain.agent_id != strict.agent_id
    assert live_run(project, version, server).agent_id == plain.agent_id
    assert "strict_tools" not in plain.agent.options
    strict.refresh_from_db()
    assert next(iter(cases_of(strict.grading).values())).outcome == "passed"
