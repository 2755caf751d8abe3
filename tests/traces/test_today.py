"""Would today's agent still do this? Production and a live agent are runs on the same examples, beside each other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from labeling.imports.services import examples_import
from labeling.models import Example, Resolution, Revision
from labeling.versions.services import version_freeze
from tests.agents.chat_server import calls, chat_server, says
from tests.runs.live import last, live_run
from tests.traces.promoting import promoted
from toolevals.grading.reading.examples import read_example
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import Agent, CaseGrade, Run
from toolevals.traces.promotion.asking_today import TodayRequest, today_start
from toolevals.workspace.models import Job, Role

# Conversations run in threads, whose connections see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/p/shop/traces/today/"
API = "/api/v1/projects/shop/traces/today/"


@pytest.fixture(autouse=True)
def loopback(settings) -> None:
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]


def decide(dataset: Any, calls_due: int) -> None:
    """Give the dataset's examples gold: the first ones want the call that production made, the others none."""
    for place, example in enumerate(Example.objects.filter(dataset=dataset).order_by("pk")):
        revision: Any = example.current
        due: dict[str, Any] = {"expected_tool": None}
        if place < calls_due:
            due = {"expected_tool": "get_order", "expected_args": {"id": "7"}}
        row = {
            "id": example.external_id,
            "input": revision.input,
            "tools": [tool.to_document() for tool in tools_in(revision.tools)],
            **due,
        }
        examples_import(dataset=dataset, actor=None, rows=[read_example(row)])


def quiet_agent(body: dict[str, Any]) -> dict[str, Any]:
    """Call for order 1 alone, and then answer."""
    message = last(body)
    if message["role"] == "user" and "order 1?" in message["content"]:
        return calls(("get_order", json.dumps({"id": "7"})))
    return says("I would rather not.")


@pytest.fixture
def decided(sent, dataset, owner, run_jobs) -> Any:
    promoted(run_jobs, dataset, owner, traces=tuple(trace.pk for trace in sent[:4]))
    decide(dataset, 3)
    return dataset


def outcomes(run: Run) -> dict[str, str]:
    cases = CaseGrade.objects.filter(grading=run.grading_id)
    return {
        name.removesuffix("-1")[-1]: outcome
        for name, outcome in cases.values_list("transcript__entry__revision__example__external_id", "outcome")
    }


def test_production_and_a_live_agent_stand_beside_each_other(
    decided, sent, project, adjudicator, viewer, client, run_jobs
):
    with chat_server(quiet_agent) as server:
        first = live_run(project, version_freeze(dataset=decided, actor=None), server)
        run_jobs()
        client.force_login(adjudicator)
        assert "Shop agent" in client.get(f"{PAGE}?tool=get_order").content.decode()
        said = {"agent": str(first.agent_id), "dataset": str(decided.pk)}
        answer = client.post(f"{PAGE}?tool=get_order", said)
        assert answer.status_code == 302, answer.content.decode()
        run_jobs()
    production, today = Run.objects.filter(baseline_agent="").order_by("number")[1:]
    assert (production.agent.name, today.agent) == ("production", first.agent)
    assert production.only == today.only == [0, 1, 2, 3]
    assert outcomes(production) == {"1": "passed", "2": "passed", "3": "passed", "4": "failed"}
    assert outcomes(today) == {"1": "passed", "2": "failed", "3": "failed", "4": "passed"}
    assert production.job is not None
    assert production.job.report["missing"] == 0
    done = production.transcripts.order_by("entry__position")[0].document
    assert [message["role"] for message in done["messages"]] == ["assistant", "tool", "assistant"]
    job = Job.objects.get(kind="production_run")
    client.force_login(viewer)
    page = client.get(job.result_path).content.decode()
    assert page.count("<svg") >= 2
    assert f'href="/p/shop/runs/{production.number}/compare/{today.number}/"' in page
    assert client.get(f"/p/shop/runs/{production.number}/compare/{today.number}/").status_code == 200
    assert "production" in client.get(f"/p/shop/runs/{production.number}/").content.decode()


def test_a_part_of_the_traces_is_a_part_of_the_examples(decided, sent, project, owner, client, run_jobs):
    with chat_server(quiet_agent) as server:
        live_run(project, version_freeze(dataset=decided, actor=None), server)
        run_jobs()
        client.force_login(owner)
        agent = str(Agent.objects.get(name="Shop agent").pk)
        said = {"agent": agent, "dataset": "core", "filter": {"session": "s-2"}}
        answer = client.post(API, json.dumps(said), content_type="application/json")
        assert answer.status_code == 202, answer.content
        run_jobs()
    production, today = Run.objects.filter(baseline_agent="").order_by("number")[1:]
    assert (len(production.only), production.only) == (1, today.only)
    assert list(outcomes(production)) == ["2"]
    for wrong in ({"filter": {"colour": "red"}}, {"agent": "00000000-0000-0000-0000-000000000000"}, {"dataset": "x"}):
        answer = client.post(API, json.dumps(said | wrong), content_type="application/json")
        assert answer.status_code == 422, wrong


def test_what_people_still_label_is_not_shown_as_a_run(decided, sent, project, owner, run_jobs):
    with chat_server(quiet_agent) as server:
        run = live_run(project, version_freeze(dataset=decided, actor=None), server)
        run_jobs()
    Revision.objects.filter(example__traces__trace=sent[1]).update(resolution=Resolution.OPEN)
    request = TodayRequest(dataset=decided, agent=run.agent, wanted={"session": "s-2"})
    with pytest.raises(InvalidDocument, match="no example with gold"):
        today_start(request=request, actor=owner, role=Role.OWNER)


def test_without_agents_or_examples_the_page_says_what_to_do(project, adjudicator, client, sent, dataset, run_jobs):
    client.force_login(adjudicator)
    assert "No examples have been created from traces yet" in client.get(PAGE).content.decode()
    promoted(run_jobs, dataset, adjudicator, traces=(sent[0].pk,))
    assert "No agent was asked in this project yet" in client.get(PAGE).content.decode()
