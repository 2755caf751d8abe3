"""Starting a run of a model by page and by REST."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.chat_server import ChatServer, chat_server
from tests.agents.messages_server import messages_server, text, use
from tests.agents.webhook_server import webhook_server
from tests.runs.building import STATUS, cases_of
from tests.runs.live import live_run, shop_agent
from toolevals.agents.secret_binding import Origin
from toolevals.runs.models import Run, Transcript
from toolevals.runs.runs.requesting import RunRequest, run_request_live
from toolevals.workspace.secrets.services import secret_set

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]


@pytest.fixture
def page(client, owner, project):
    client.force_login(owner)
    return client


def form(version: Any, url: str, **more: str) -> dict[str, str]:
    said = {
        "experiment": "Live",
        "dataset_version": str(version.pk),
        "trials": "2",
        "name": "Shop agent",
        "base_url": url,
        "model": "small",
        "tools_by": "native",
        "timeout": "30",
        "concurrency": "2",
        "max_steps": "5",
        "tries": "1",
    }
    return said | more


def asked(server: ChatServer, **more: Any) -> dict[str, Any]:
    return {
        "experiment": "Live",
        "dataset": "core",
        "trials": 2,
        "name": "Shop agent",
        "model": "small",
        "options": {"base_url": server.url},
    } | more


def test_the_page_estimates_first_and_starts_then(page, project, version, run_jobs):
    with chat_server(shop_agent) as server:
        secret_set(
            project=project, actor=None, name="model-host", value="key-0815", addresses=[str(Origin.of(server.url))]
        )
        said = form(
            version, server.url, secret="model-host", temperature="0", input_price="2", output_price="8", budget="1"
        )
        seen = page.post("/p/shop/runs/live/", said).content.decode()
        assert "at least 8" not in seen
        assert ">8</dd>" in seen
        assert not Run.objects.exists()
        answer = page.post("/p/shop/runs/live/", said | {"start": "1"})
        run = Run.objects.get()
        assert answer["Location"] == f"/p/shop/runs/{run.number}/"
        run_jobs()
    assert Transcript.objects.exclude(document=None).count() == 8
    assert run.agent.options["secret"] == "model-host"
    assert run.agent.options["temperature"] == 0
    assert run.settings["prices"] == {"input": 2.0, "output": 8.0, "cached": None}
    assert (run.settings["concurrency"], run.settings["budget"]) == (2, 1.0)
    assert "key-0815" not in page.get("/p/shop/agents/").content.decode()


def test_the_page_names_what_is_wrong_beside_its_field(page, version):
    for field, value, words in [
        ("base_url", "not an address", "valid URL"),
        ("base_url", "https://user:hush@models.example.org/", "without a password"),
        ("concurrency", "99", "less than or equal to 32"),
        ("input_price", "1", "both prices"),
        ("user_model", "large", "must be an address"),
        ("secret", "nothing", "not one of the available choices"),
    ]:
        answer = page.post("/p/shop/runs/live/", form(version, "https://models.example.org/v1", **{field: value}))
        assert answer.status_code == 422, field
        assert words in answer.content.decode(), field
    answer = page.post("/p/shop/runs/live/", form(version, "https://models.example.org/v1", budget="3", start="1"))
    assert "needs prices" in answer.content.decode()
    assert not Run.objects.exists()


def test_rest_estimates_and_starts(page, version, run_jobs):
    with chat_server(shop_agent) as server:
        said = asked(server, settings={"prices": {"input": 1, "output": 1}})
        estimate = page.post("/api/v1/projects/shop/runs/live/estimate/", said, "application/json").json()
        assert estimate["conversations"] == 8
        assert estimate["cost"] == pytest.approx(estimate["input_tokens"] / 1e6)
        assert not Run.objects.exists()
        started = page.post("/api/v1/projects/shop/runs/live/", said, "application/json")
        assert started.status_code == 202
        run_jobs()
    assert started.json()["run"]["agent"]["connector"] == "openai"
    assert Run.objects.filter(grading__finished_at__isnull=False).count() == 1


def message_agent(body: dict[str, Any]) -> list[dict[str, Any]]:
    words = body["messages"][-1]["content"][-1]["text"]
    return [use(STATUS, {"order_id": "ORD-1"})] if "status" in words else [text("How can I help?")]


def test_each_connector_has_its_own_fields_and_the_run_goes_that_way(page, version, run_jobs):
    shown = page.get("/p/shop/runs/live/?connector=anthropic").content.decode()
    assert 'aria-current="page">Anthropic Messages<' in shown
    assert 'value="https://api.anthropic.com"' in shown
    assert 'name="seed"' not in shown
    assert 'name="seed"' in page.get("/p/shop/runs/live/?connector=nothing").content.decode()
    with messages_server(message_agent) as server:
        said = form(version, server.url, max_tokens="100", trials="1", start="1")
        assert page.post("/p/shop/runs/live/?connector=anthropic", said).status_code == 302
        run_jobs()
    run = Run.objects.get()
    assert (run.agent.connector, run.agent.options["max_tokens"]) == ("anthropic", 100)
    assert {key: case.outcome for key, case in cases_of(run.grading).items()}["status", 0] == "passed"
    assert "a model behind Anthropic Messages" in page.get("/p/shop/agents/").content.decode()


def test_an_agent_behind_a_webhook_is_sent_each_trial(page, project, version, run_jobs):
    def agent(task: dict[str, Any]) -> Any:
        if "status" not in task["input"]["messages"][0]["content"]:
            return {"done": True}
        return {"tool_calls": [{"name": STATUS, "arguments": {"order_id": "ORD-1"}}]}

    with webhook_server(agent) as server:
        secret_set(project=project, actor=None, name="hook", value="whsec_a2V5", addresses=[str(Origin.of(server.url))])
        said = {
            "experiment": "Hook",
            "dataset_version": str(version.pk),
            "trials": "2",
            "name": "Mine",
            "url": server.url,
            "secret": "hook",
            "timeout": "30",
            "concurrency": "2",
            "max_steps": "5",
            "tries": "1",
        }
        estimate = page.post("/p/shop/runs/live/?connector=webhook", said).content.decode()
        assert ">8</dd>" in estimate
        assert "Input tokens" not in estimate
        assert page.post("/p/shop/runs/live/?connector=webhook", said | {"start": "1"}).status_code == 302
        run_jobs()
    run = Run.objects.get()
    assert sorted((task["run"], task["trial"]) for task in server.tasks) == [(str(run.pk), n // 4) for n in range(8)]
    assert len({task["example"] for task in server.tasks}) == 4
    assert all("webhook-signature" in headers for headers in server.headers)
    cases = cases_of(run.grading)
    assert cases["status", 1].outcome == "passed"
    assert (cases["hello", 0].outcome, cases["hello", 0].tag) == ("errored", "ADAPTER_ERROR")


def test_rest_takes_the_connector_and_refuses_what_it_does_not_know(page, version):
    with messages_server(message_agent) as server:
        said = asked(ChatServer(shop_agent), connector="anthropic", options={"base_url": server.url})
        assert page.post("/api/v1/projects/shop/runs/live/", said, "application/json").status_code == 202
    changes: list[tuple[dict[str, Any], str]] = [
        ({"connector": "telepathy"}, "/connector"),
        ({"model": ""}, "/options/model"),
        ({"options": {"seed": 3}}, "/options/seed"),
    ]
    for change, pointer in changes:
        answer = page.post("/api/v1/projects/shop/runs/live/", {**said, **change}, "application/json")
        assert [error["pointer"] for error in answer.json()["problems"]] == [pointer]


def test_rest_names_what_is_wrong_by_its_place(page, version):
    with chat_server(shop_agent) as server:
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"options": {"base_url": "x"}}, "/options/base_url"),
            ({"options": {"base_url": server.url, "secret": "none"}}, "/options/secret"),
            ({"settings": {"max_steps": 0}}, "/settings/max_steps"),
        ]
        for change, pointer in wrong:
            answer = page.post("/api/v1/projects/shop/runs/live/", asked(server, **change), "application/json")
            assert answer.status_code == 422
            assert [error["pointer"] for error in answer.json()["problems"]] == [pointer]


@pytest.mark.parametrize("base_url", ["http://10.0.0.7:8000/v1", "http://192.168.0.9/v1", "http://[::1]/v1"])
def test_an_agent_on_a_private_address_is_refused_before_there_is_a_run(page, version, base_url):
    with chat_server(shop_agent) as server:
        change = {"options": {"base_url": base_url}}
        answer = page.post("/api/v1/projects/shop/runs/live/", asked(server, **change), "application/json")
    assert answer.status_code == 422
    (problem,) = answer.json()["problems"]
    assert problem["pointer"] == "/options"
    assert "TOOLEVALS_AGENT_NETWORKS" in problem["message"]
    assert not Run.objects.exists()


def test_a_case_shows_how_it_ended_who_answered_and_what_it_cost(page, project, version, run_jobs):
    with chat_server(shop_agent) as server:
        settings = {"prices": {"input": 100, "output": 100}}
        run = live_run(project, version, server, settings=settings)
        run_jobs()
    case = cases_of(Run.objects.get(pk=run.pk).grading)["status", 0]
    seen = " ".join(page.get(f"/p/shop/runs/{run.number}/cases/{case.pk}/").content.decode().split())
    assert "small-2026-01-01" in seen
    assert "40 tokens in, 7 out" in seen
    assert "0.0047" in seen
    assert "their tools have no simulator" in seen


def test_what_is_left_out_of_answers_is_counted_once_and_shown_as_that_of_a_file(page, project, version, run_jobs):
    def thinking(body: dict[str, Any]) -> dict[str, Any]:
        hidden = [{"type": "reasoning.encrypted", "data": "x"}]
        return shop_agent(body) | {"reasoning_content": "Hm, so.", "reasoning_details": hidden, "mood": "calm"}

    with chat_server(thinking) as server:
        run = live_run(project, version, server, trials=2)
        run_jobs()
    run.refresh_from_db()
    assert len(server.requests) == 8
    assert [str(loss) for loss in run.job.read.losses] == [
        "8 × unknown key mood at /choices/*/message/mood",
        "8 × reasoning at /choices/*/message/reasoning_details",
    ]
    case = run.grading.cases.order_by("pk").first()
    assert "Hm, so." in page.get(f"/p/shop/runs/{run.number}/cases/{case.pk}/").content.decode()
    shown = page.get(f"/p/shop/runs/{run.number}/").content.decode()
    assert "Losses of the answers" in shown
    assert "unknown key mood" in shown
    told = page.get(f"/api/v1/projects/shop/runs/{run.number}/readings/").json()["rows"]
    assert [(row["kind"], row["name"], row["count"]) for row in told] == [
        ("left out", "unknown key mood", 8),
        ("left out", "reasoning", 8),
    ]
    file = b"".join(page.get(f"/p/shop/runs/{run.number}/readings.csv").streaming_content)
    assert file.count(b"left out,") == 2
    report = page.get(f"/api/v1/projects/shop/jobs/{run.job.pk}/").json()["report"]
    assert [loss["count"] for loss in report["read"]["losses"]] == [8, 8]


def test_what_is_left_out_of_the_answers_of_a_webhook_is_counted(page, project, version, run_jobs):
    with webhook_server(lambda _: {"messages": [{"role": "assistant", "content": "Hi.", "mood": "calm"}]}) as server:
        options = {"url": server.url}
        request = RunRequest("Hook", version, name="Mine", connector="webhook", options=options)
        run = run_request_live(project=project, actor=None, request=request)
        run_jobs()
    run.refresh_from_db()
    assert run.job is not None
    assert [(loss.what, loss.count) for loss in run.job.read.losses] == [("unknown key mood", 4)]
