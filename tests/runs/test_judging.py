"""A grading with judges: after the rules, nothing twice, within the cap; a judge in trouble fails no run."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from tests.agents.chat_server import Trouble, chat_server
from tests.agents.judges import MODEL, judging
from tests.runs.building import cases_of, rows_of
from tests.runs.judged import POLITE, judge_of, judged_run, verdicts_of
from toolevals.agents.chats import RetryPolicy
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.grading.services import grading_start
from toolevals.runs.judging import bench
from toolevals.runs.judging import concurrent_questions as several_module
from toolevals.runs.judging.services import JudgeRequest, judge_add, judge_change, rubric_add, rubric_use
from toolevals.runs.models import Judge, JudgeCount, JudgedCase, Judgement, Rubric
from toolevals.workspace.jobs.services import job_cancel, job_retry
from toolevals.workspace.models import Batch, JobState

pytestmark = pytest.mark.django_db
PRICES = {"input": 1, "output": 10}
COST = (40 + 7 * 10) / 1e6


@pytest.fixture(autouse=True)
def nearby(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges are on loopback, and nobody waits between tries."""
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("toolevals.agents.chats.time.sleep", lambda _: None)


def half(_: Any) -> Any:
    return {"score": 0.5}


def test_without_judges_a_grading_has_no_further_stage_and_nothing_is_judged(project, run_jobs):
    run = judged_run(project)
    run_jobs()
    run.refresh_from_db()
    assert run.grading.judges == []
    assert not Batch.objects.filter(task="runs.judge").exists()
    assert not JudgedCase.objects.exists()
    assert "judged" not in cases_of(run.grading)["differs", 0].detail


def test_what_rules_leave_open_is_asked_and_stands_beside_their_verdicts(project, run_jobs):
    with chat_server(judging(half)) as server:
        judge = judge_of(project, server, prices=PRICES)
        run = judged_run(project)
        run_jobs()
    assert len(server.requests) == 1
    assert verdicts_of(run, "argument_semantics") == {
        "equal": ("passed", 1.0),
        "differs": ("failed", 0.5),
        "wrong": ("unscored", None),
        "worded": ("unscored", None),
        "hello": ("unscored", None),
    }
    case = cases_of(run.grading)["differs", 0]
    assert (case.arguments, case.outcome, case.mode) == ("failed", "failed", "wrong_value")
    assert case.detail["judged"]["argument_semantics"]["model"] == MODEL
    count = JudgeCount.objects.get(grading=run.grading, judge=judge)
    assert (count.passed, count.failed, count.unscored, count.errored) == (1, 1, 3, 0)
    assert (count.mean, count.asked) == (0.75, 1)
    assert count.cost == pytest.approx(COST)
    assert run.grading.judges[0] | {"judge": ""} == {
        "judge": "",
        "name": judge.name,
        "rubric": "argument_semantics",
        "version": 1,
        "title": "Argument semantics",
        "layer": "arguments",
        "model": MODEL,
        "pinned": True,
        "share": 1.0,
        "budget": None,
    }


@pytest.mark.parametrize(("score", "status"), [(1, "passed"), (0, "failed")])
def test_criteria_in_words_decide_the_case_its_pairs_and_its_counts(project, run_jobs, score, status):
    with chat_server(judging(lambda inputs: {"score": score if inputs["criteria"] == POLITE else 0})) as server:
        judge_of(project, server, "natural_language")
        run = judged_run(project)
        run_jobs()
    assert verdicts_of(run, "natural_language")["worded"] == (status, float(score))
    case = cases_of(run.grading)["worded", 0]
    assert (case.arguments, case.equivalence, case.outcome) == (status, status, status)
    assert case.pairs.get().arguments == status
    counts = dict(run.grading.verdict_counts.filter(column="outcome").values_list("value", "count"))
    assert counts == ({"passed": 3, "failed": 2} if score else {"passed": 2, "failed": 3})


def test_nothing_is_asked_twice_and_the_old_grading_stays(project, run_jobs):
    run = judged_run(project)
    run_jobs()
    run.refresh_from_db()
    plain, before = run.grading, rows_of(run.grading)
    with chat_server(judging(half)) as server:
        judge_of(project, server, prices=PRICES)
        for number in (2, 3):
            grading_start(run=run, actor=None)
            run_jobs()
            run.refresh_from_db()
            assert run.grading.number == number
            assert verdicts_of(run, "argument_semantics")["differs"] == ("failed", 0.5)
    assert len(server.requests) == 1
    assert rows_of(plain) == before
    asked = JudgeCount.objects.order_by("grading__number").values_list("asked", "cost")
    assert list(asked) == [(1, pytest.approx(COST)), (0, None)]


def test_what_errored_is_asked_again_by_the_next_grading(project, run_jobs):
    answers = iter([Trouble(401, "{}"), {"score": 1}])
    with chat_server(judging(lambda _: next(answers))) as server:
        judge_of(project, server)
        run = judged_run(project)
        run_jobs()
        assert verdicts_of(run, "argument_semantics")["differs"] == ("errored", None)
        grading_start(run=run, actor=None)
        run_jobs()
    assert verdicts_of(run, "argument_semantics")["differs"] == ("passed", 1.0)
    assert Judgement.objects.count() == 1


@pytest.mark.parametrize("said", ["I would rather not say.", Trouble(500, "{}"), Trouble(401, '{"error": "no"}')])
def test_a_judge_in_trouble_is_errored_in_its_column_and_the_run_goes_on(project, run_jobs, said):
    with chat_server(judging(lambda _: said)) as server:
        judge_of(project, server)
        judge_of(project, server, "natural_language")
        run = judged_run(project)
        run_jobs()
    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    assert verdicts_of(run, "argument_semantics")["differs"] == ("errored", None)
    assert verdicts_of(run, "natural_language")["worded"] == ("errored", None)
    case = cases_of(run.grading)["worded", 0]
    assert (case.arguments, case.outcome, case.tag) == ("unscored", "unscored", "")
    assert cases_of(run.grading)["equal", 0].outcome == "passed"


def test_a_judge_that_hangs_is_errored(project, run_jobs, monkeypatch):
    monkeypatch.setattr(bench, "RETRY", RetryPolicy(tries=1))
    done, answer = threading.Event(), judging(half)

    def hanging(body: Any) -> Any:
        # Who waits for it gets a verdict: only giving up makes an error.
        done.wait(30)
        return answer(body)

    with chat_server(hanging) as server:
        judge_of(project, server, timeout=1)
        run = judged_run(project)
        run_jobs()
        done.set()
    assert verdicts_of(run, "argument_semantics")["differs"] == ("errored", None)


def test_the_cap_ends_the_asking_and_what_it_does_not_reach_is_unscored(project, run_jobs):
    with chat_server(judging(half)) as server:
        judge_of(project, server, prices=PRICES, budget=0)
        run = judged_run(project)
        run_jobs()
    assert server.requests == []
    assert verdicts_of(run, "argument_semantics")["differs"] == ("unscored", None)
    assert "cap" in cases_of(run.grading)["differs", 0].detail["judged"]["argument_semantics"]["reason"]


def test_a_share_asks_about_the_same_examples_always(project, run_jobs):
    with chat_server(judging(half)) as server:
        judge_of(project, server, share=1e-9)
        run = judged_run(project)
        run_jobs()
    assert server.requests == []
    assert {status for status, _ in verdicts_of(run, "argument_semantics").values()} == {"unscored"}


# The server's own thread cancels the job: what it does must be committed, and seen.
@pytest.mark.django_db(transaction=True)
def test_an_attempt_that_was_cut_short_asks_nothing_again(project, run_jobs, monkeypatch):
    run: Any = None
    asked: list[Any] = []

    def cancelling(inputs: Any) -> Any:
        asked.append(inputs)
        if len(asked) == 2:
            job_cancel(job=run.job, actor=None)
            # The server's thread keeps none.
            connection.close()
        return {"score": 1}

    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    with chat_server(judging(cancelling)) as server:
        judge_of(project, server)
        judge_of(project, server, "natural_language")
        run = judged_run(project)
        run_jobs()
        run.job.refresh_from_db()
        assert run.job.state == JobState.CANCELLED
        # The second request's answer came after the cancel: it was paid for, and is kept.
        assert (Judgement.objects.count(), JudgedCase.objects.count()) == (2, 0)
        job_retry(job=run.job, actor=None)
        run_jobs()
        assert verdicts_of(run, "argument_semantics")["differs"] == ("passed", 1.0)
        assert len(server.requests) == 2
        again = grading_start(run=run, actor=None)
        run_jobs()
        run.refresh_from_db()
        assert run.grading == again
        first, second = (rows_of(run.gradings.get(number=number)) for number in (1, 2))
    assert first == second
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"model": "judge-large"}, "/model"),
        ({"model": ""}, "/model"),
        ({"name": " "}, "/name"),
        ({"share": 0}, "/share"),
        ({"budget": 1}, "/budget"),
        ({"budget": -1}, "/budget"),
        ({"prices": {"input": -1, "output": 1}}, "/prices/input"),
        ({"options": {"base_url": "ftp://x"}}, "/options/base_url"),
        ({"options": {"base_url": "http://x", "secret": "missing"}}, "/options/secret"),
    ],
)
def test_what_is_wrong_with_a_judge_is_named(project, change, pointer):
    said = {"name": "J", "model": MODEL, "options": {"base_url": "http://x"}, **change}
    rubric = rubric_use(project=project, actor=None, name="task_completion")
    with pytest.raises(InvalidDocument) as caught:
        judge_add(project=project, actor=None, rubric=rubric, request=JudgeRequest(**said))
    assert caught.value.problems[0].pointer == pointer
    assert not Judge.objects.exists()


def test_an_alias_is_taken_where_somebody_insists_and_is_marked(project, run_jobs):
    with chat_server(judging(half)) as server:
        judge_of(project, server, model="judge-large", allow_alias=True)
        run = judged_run(project)
        run_jobs()
    run.refresh_from_db()
    assert not run.grading.judges[0]["pinned"]
    assert not cases_of(run.grading)["differs", 0].detail["judged"]["argument_semantics"]["pinned"]


def test_of_one_rubric_one_judge_is_on(project):
    with chat_server(judging(half)) as server:
        first = judge_of(project, server)
        second = judge_of(project, server, name="Another", on=False)
        with pytest.raises(InvalidDocument):
            judge_change(judge=second, actor=None, is_on=True)
        judge_change(judge=first, actor=None, is_on=False)
        assert judge_change(judge=second, actor=None, is_on=True, share=0.5).share == 0.5


def test_a_rubric_of_ones_own_has_versions_and_equal_content_makes_none(project):
    document = {**rubric_use(project=project, actor=None, name="task_completion").document, "name": "own"}
    first = rubric_add(project=project, actor=None, document=document)
    assert rubric_add(project=project, actor=None, document=document) == first
    second = rubric_add(project=project, actor=None, document={**document, "title": "Another title"})
    assert (first.version, second.version, second.document["version"]) == (1, 2, 2)
    assert Rubric.objects.filter(is_shipped=True).count() == 1
    with pytest.raises(InvalidDocument):
        rubric_add(project=project, actor=None, document={**document, "name": "task_completion"})
