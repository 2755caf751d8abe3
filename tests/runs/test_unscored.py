"""A judge on exactly what rules leave unscored: the estimate, one click, and rules' verdicts that stay."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.agents.chat_server import Trouble, chat_server
from tests.agents.judges import judging
from tests.reports.gate_building import checks, hold, rate
from tests.runs.building import STATUS, cases_of, example, rows_of, uploaded_run, version_of
from tests.runs.judged import judge_of, verdicts_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.grading.services import grading_start, unscored_ask
from toolevals.runs.judging.unscored import unscored_layers
from toolevals.runs.models import JudgeCount, Judgement
from toolevals.workspace.models import Project, User

pytestmark = pytest.mark.django_db
DOWN = "Error: 503 Service Unavailable"
SHIPPED = {"order_id": "ORD-1", "status": "shipped", "total": 129.5}
TALKS = {
    "traced": (json.dumps(SHIPPED), "Order ORD-1: the total is 129.5."),
    "wrong": (json.dumps(SHIPPED | {"currency": "USD"}), "The total is $192.50."),
    "open": (json.dumps(SHIPPED), "It is on its way and will be with you soon."),
    "also": (json.dumps(SHIPPED), "Your parcel has left us."),
    "down": (DOWN, "Let me know if you need anything else."),
}
GROUNDED = {"claims": [{"claim": "It is on its way.", "supported": True}]}


@pytest.fixture(autouse=True)
def nearby(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges are on loopback, and nobody waits between tries."""
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("toolevals.agents.chats.time.sleep", lambda _: None)


def talk(name: str, result: str, answer: str) -> dict[str, Any]:
    """Return the prediction of a right call, what its tool answered, and the reply."""
    made = {"id": "c1", "name": STATUS, "arguments": {"order_id": "ORD-1"}}
    return {
        "id": name,
        "messages": [
            {"role": "assistant", "content": None, "calls": [made]},
            {"role": "tool", "call_id": "c1", "content": result},
            {"role": "assistant", "content": answer},
        ],
    }


@pytest.fixture
def run(project: Project, run_jobs: Any) -> Any:
    """Return a finished run: one traced reply, one wrong one, two that no rule can tell, and a tool that failed."""
    rows = [example(name, f"What is the shipping status of order ORD-1, {name}?", STATUS) for name in TALKS]
    made = uploaded_run(project, version_of(project, rows), [talk(name, *said) for name, said in TALKS.items()])
    run_jobs()
    made.refresh_from_db()
    return made


def by_rules(grading: Any) -> dict[str, list[Any]]:
    """Return everything that a grading wrote but what judges said."""
    rows = rows_of(grading)
    for _, _, *_, detail, _ in rows["cases"]:
        detail.pop("judged", None)
    return rows


def asked(server: Any) -> list[str]:
    """Return the names of the examples that the judge was asked about."""
    said = (message["content"] for body in server.requests for message in body["messages"] if message["role"] == "user")
    return sorted(name for text in said for name in TALKS if f"ORD-1, {name}?" in text)


def test_exactly_the_unscored_cases_are_asked_and_rules_verdicts_stay(run, run_jobs, project):
    before = run.grading
    with chat_server(judging(lambda _: GROUNDED)) as server:
        judge = judge_of(project, server, "result_groundedness", on=False, prices={"input": 1, "output": 10})
        (replies, failures) = unscored_layers(before)
        assert (replies.layer, replies.cases, failures.layer, failures.cases) == ("result_use", 3, "recovery", 1)
        (estimate,) = replies.estimates
        assert (estimate.judge, estimate.questions, estimate.known, failures.estimates) == (judge, 3, 0, ())
        unscored_ask(run=run, actor=None, judge=judge)
        run_jobs()
        run.refresh_from_db()
        assert asked(server) == ["also", "down", "open"]
        assert estimate.cost == pytest.approx((estimate.input_tokens + 3 * 120 * 10) / 1e6)
        with pytest.raises(InvalidDocument, match="no question left"):
            unscored_ask(run=run, actor=None, judge=judge)
    assert run.grading.number == 2
    assert by_rules(run.grading) == by_rules(before)
    assert verdicts_of(run, "result_groundedness") == {
        "traced": ("unscored", None),
        "wrong": ("unscored", None),
        "open": ("passed", 1.0),
        "also": ("passed", 1.0),
        "down": ("passed", 1.0),
    }
    judge.refresh_from_db()
    assert not judge.is_on
    count = JudgeCount.objects.get(grading=run.grading)
    assert (count.passed, count.failed, count.unscored, count.asked) == (3, 0, 2, 3)


def test_a_second_judge_keeps_what_the_first_said_and_only_errors_are_asked_again(run, run_jobs, project):
    answers = iter([Trouble(401, "{}")])
    with chat_server(judging(lambda _: next(answers, GROUNDED))) as server:
        grounded = judge_of(project, server, "result_groundedness", on=False)
        unscored_ask(run=run, actor=None, judge=grounded)
        with pytest.raises(InvalidDocument, match="wait for it"):
            unscored_ask(run=run, actor=None, judge=grounded)
        run_jobs()
        said = verdicts_of(run, "result_groundedness")
        assert sorted(status for status, _ in said.values()) == ["errored", "passed", "passed", "unscored", "unscored"]
        unscored_ask(run=run, actor=None, judge=grounded)
        run_jobs()
        assert (len(server.requests), Judgement.objects.count()) == (4, 3)
    with chat_server(judging(lambda _: {"score": 0.5})) as server:
        unscored_ask(run=run, actor=None, judge=judge_of(project, server, "trajectory_recovery", on=False))
        run_jobs()
        assert asked(server) == ["down"]
    assert verdicts_of(run, "trajectory_recovery")["down"] == ("failed", 0.5)
    assert [status for status, _ in verdicts_of(run, "result_groundedness").values()].count("passed") == 3
    assert cases_of(run.grading)["down", 0].recovery == "unscored"
    assert {seat["rubric"] for seat in run.grading.judges} == {"result_groundedness", "trajectory_recovery"}


@pytest.mark.parametrize("rubric", ["context_adherence", "task_completion"])
def test_a_judge_of_another_question_is_refused(run, project, rubric):
    with chat_server(judging(lambda _: GROUNDED)) as server:
        judge = judge_of(project, server, rubric, on=False)
    with pytest.raises(InvalidDocument, match="does not answer"):
        unscored_ask(run=run, actor=None, judge=judge)


def test_another_judge_does_not_answer_the_rest_of_the_first(run, run_jobs, project):
    with chat_server(judging(lambda _: Trouble(401, "{}"))) as server:
        unscored_ask(run=run, actor=None, judge=judge_of(project, server, "result_groundedness", on=False))
        run_jobs()
        run.refresh_from_db()
        other = judge_of(project, server, "result_groundedness", on=False, name="Other")
    assert [each.judge.name for each in next(unscored_layers(run.grading)).estimates] == [
        "Judge of result_groundedness"
    ]
    with pytest.raises(InvalidDocument, match="must be Judge of result_groundedness"):
        unscored_ask(run=run, actor=None, judge=other)


def test_a_judge_with_a_share_goes_on_with_it_and_has_the_unscored_besides(run, run_jobs, project):
    with chat_server(judging(lambda _: GROUNDED)) as server:
        judge = judge_of(project, server, "result_groundedness", share=0.3)
        grading_start(run=run, actor=None)
        run_jobs()
        run.refresh_from_db()
        shared = {name for name, (status, _) in verdicts_of(run, "result_groundedness").items() if status == "passed"}
        # The share is drawn by random ids: seldom it holds all three.
        if {"open", "also", "down"} - shared:
            unscored_ask(run=run, actor=None, judge=judge)
            run_jobs()
    said = verdicts_of(run, "result_groundedness")
    assert {name for name, (status, _) in said.items() if status == "passed"} == shared | {"open", "also", "down"}
    assert len(server.requests) == len(shared | {"open", "also", "down"})


def test_a_gate_on_the_published_name_takes_the_judge_where_it_was_asked_and_else_the_rule(run, run_jobs, project):
    with chat_server(judging(lambda _: GROUNDED)) as server:
        unscored_ask(run=run, actor=None, judge=judge_of(project, server, "result_groundedness", on=False))
        run_jobs()
    found = {
        name: checks(hold(run, rate(name, 0.9)))[0] for name in ("result_groundedness", "judged:result_groundedness")
    }
    # Four of five: the wrong reply is the rule's to fail, and the judge does not hide it.
    assert [(check.observed, check.count, check.status) for check in found.values()] == [
        (0.8, 5, "failed"),
        (1.0, 3, "passed"),
    ]
    assert "Where rules leave no question, they answer." in found["result_groundedness"].note
    every = checks(hold(run, rate("result_groundedness", 0) | {"thresholds": {"default_pass_rate": 0}}))
    assert [check.count for check in every if check.metric == "result_groundedness"] == [5]


def test_a_gate_on_a_layer_is_unanswered_while_its_rules_leave_questions(run):
    found = {name: checks(hold(run, rate(name, 0.2)))[0] for name in ("result_use", "recovery", "result_groundedness")}
    assert [(check.count, check.status) for check in found.values()] == [
        (2, "passed"),
        (0, "unanswered"),
        (2, "passed"),
    ]
    found = {name: checks(hold(run, rate(name, 0.5)))[0] for name in found}
    assert {check.status for check in found.values()} == {"unanswered"}
    assert "the judge result_groundedness answers the rest" in found["result_use"].note
    assert "the judge trajectory_recovery answers the rest" in found["recovery"].note
    assert checks(hold(run, rate("result_use", 0.9)))[0].status == "failed"


def test_the_pages_lead_to_the_click_and_show_the_answer(run, run_jobs, project, client: Client, adjudicator: User):
    client.force_login(adjudicator)
    place = [project.slug, run.number]
    page = reverse("runs:unscored", args=place)
    case = reverse("reports:case", args=[*place, cases_of(run.grading)["open", 0].pk])
    cases = reverse("reports:cases", args=place)

    def shown(address: str) -> str:
        return client.get(address).content.decode()

    assert f'href="{page}">ask a judge</a>' in shown(reverse("reports:recovery", args=place))
    assert f'href="{page}">Ask a judge</a>' in shown(case)
    assert client.get(f"{cases}?found=unscored.result_use").context["count"] == 3
    assert f"{reverse('runs:judge-new', args=place[:1])}?rubric=shipped:result_groundedness" in shown(page)
    with chat_server(judging(lambda _: GROUNDED)) as server:
        judge = judge_of(project, server, "result_groundedness", on=False)
        assert judge.name in shown(page)
        assert client.post(page, {"judge": judge.pk}).status_code == 302
        run_jobs()
    run.refresh_from_db()
    assert "unscored only" in shown(reverse("reports:dialects", args=place))
    assert "never compared" in shown(page)
    case = reverse("reports:case", args=[*place, cases_of(run.grading)["open", 0].pk])
    assert 'href="#judged">Judge: passed</a>' in shown(case)
    assert client.post(page, {"judge": judge.pk}, follow=True).status_code == 200
    assert run.gradings.count() == 2
    assert "Judge is not a judge of this project." in client.post(page, {"judge": "none"}).content.decode()


def test_rest_says_and_does_the_same(run, run_jobs, project, client: Client, adjudicator: User):
    client.force_login(adjudicator)
    address = f"/api/v1/projects/{project.slug}/runs/{run.number}/unscored/"
    with chat_server(judging(lambda _: GROUNDED)) as server:
        judge = judge_of(project, server, "result_groundedness", on=False)
        (replies, _) = client.get(address).json()
        assert (replies["layer"], replies["rubric"], replies["cases"]) == ("result_use", "result_groundedness", 3)
        assert [(each["judge"], each["questions"]) for each in replies["estimates"]] == [(str(judge.pk), 3)]
        answer = client.post(address, {"judge": str(judge.pk)}, content_type="application/json")
        assert (answer.status_code, answer.json()["grading"]["number"]) == (202, 2)
        run_jobs()
    again = client.post(address, {"judge": str(judge.pk)}, content_type="application/json")
    assert again.status_code == 422
    assert "no question left" in again.content.decode()
    (row,) = client.get(f"/api/v1/projects/{project.slug}/runs/{run.number}/judges/").json()
    assert (row["only_unscored"], row["rate"]["passed"], row["flag"]) == (True, 3, "never compared with people")
