"""Judges of traces: whom they are asked about, within which budget, and what is kept of their answers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.agents.chat_server import Trouble
from tests.agents.judges import judging
from tests.runs.judged import judge_of
from tests.traces.sending import conversation, export, send, span
from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.judges.asking import TraceJudging
from toolevals.traces.judges.services import Spending, TraceJudgeRequest, trace_judge_set, traces_judge
from toolevals.traces.models import QuestionState, SpanVerdict, TraceJudge, TraceJudgeDay, TraceQuestion
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.clock import database_now

PRICES = {"input": 1000.0, "output": 1000.0}


pytestmark = pytest.mark.usefixtures("nearby")


@pytest.fixture
def bound(project, owner, server) -> Any:
    """Return a function that binds a judge of the whole task to traces."""

    def bind(*, prices: Any = None, rubric: str = "task_completion", **said: Any) -> TraceJudge:
        judge = judge_of(project, server, rubric, on=False, prices=prices)
        request = TraceJudgeRequest(share=said.pop("share", 1.0), **said)
        return trace_judge_set(project=project, actor=owner, judge=judge, request=request)

    return bind


@pytest.fixture
def sends(client, token) -> Any:
    """Return a function that sends so many conversations, each about an order of its own, and sums them up."""

    def some(count: int, first: int = 1, *, again: bool = False) -> None:
        for number in range(first, first + count):
            trace = f"{number:032x}"
            spans = conversation(trace, asked=f"Where is my order {number}?")
            send(client, token, export(*([span(9, "step", trace=trace, parent=1)] if again else spans)))
        traces_settle()

    return some


def verdicts() -> list[tuple[str, str, str]]:
    rows = SpanVerdict.objects.exclude(judge=None).order_by("trace__trace_id")
    return [(each.trace.trace_id.hex[-1], each.status, each.span_id) for each in rows.select_related("trace")]


def states() -> list[tuple[str, str]]:
    return list(TraceQuestion.objects.order_by("trace__trace_id").values_list("state", "reason"))


def later() -> None:
    """Let every pause and every claim be over."""
    past = database_now() - timedelta(seconds=1)
    TraceQuestion.objects.exclude(due_at=None).update(due_at=past)
    TraceJudge.objects.exclude(paused_until=None).update(paused_until=past)
    TraceJudge.objects.exclude(busy_until=None).update(busy_until=past)


def test_verdicts_say_whose_they_are_and_what_they_took(bound, sends, server):
    bound(prices=PRICES)
    sends(2, first=7)
    assert traces_judge() == 2
    assert verdicts() == [("7", "passed", f"{1:016x}"), ("8", "failed", f"{1:016x}")]
    found = SpanVerdict.objects.get(status="failed", judge__isnull=False)
    assert (found.rule, found.version, found.value) == ("judge:task_completion", 1, 0.0)
    assert found.reason == "As the rubric says."
    assert found.snapshot == "judge-2026-01-31-2026-01-01"
    assert found.tokens == 47
    assert found.judge_cost == pytest.approx(0.047)
    day = TraceJudgeDay.objects.get()
    assert (day.questions, day.tokens) == (2, 94)
    assert day.cost == pytest.approx(0.094)
    assert traces_judge() == 0
    assert len(server.requests) == 2


def test_the_share_is_decided_by_the_traces_id(bound, sends, project):
    judge = bound(share=0.3)
    sends(12)
    few = set(TraceQuestion.objects.values_list("trace", flat=True))
    TraceQuestion.objects.all().delete()
    trace_judge_set(project=project, actor=None, judge=judge.judge, request=TraceJudgeRequest(share=0.7))
    # More has come to each: it is summed up anew.
    sends(12, again=True)
    more = set(TraceQuestion.objects.values_list("trace", flat=True))
    assert 0 < len(few) < len(more) < 12
    assert few < more


@pytest.mark.parametrize(
    ("limits", "judged"),
    [({"most_questions": 2}, 2), ({"most_tokens": 200}, 3), ({"most_cost": 0.2, "prices": PRICES}, 3)],
)
def test_what_is_beyond_the_days_budget_is_not_judged(bound, sends, server, monkeypatch, limits, judged):
    # Each takes 47 tokens.
    monkeypatch.setattr("toolevals.traces.judges.services.expected_spending", lambda *_: Spending(100, 0.1))
    bound(**limits)
    sends(5)
    traces_judge()
    assert len(verdicts()) == len(server.requests) == judged
    assert [state for state, _ in states()] == ["judged"] * judged + ["not_judged"] * (5 - judged)
    assert all("daily budget" in reason for state, reason in states() if state == "not_judged")
    # The next day it is asked about what comes then.
    TraceJudgeDay.objects.update(day=timezone.localdate() - timedelta(days=1))
    sends(1, first=6)
    traces_judge()
    assert states()[-1] == ("judged", "")
    assert len(server.requests) == judged + 1


def test_one_long_trace_beyond_what_is_left_leaves_the_others(bound, sends, server, client, token):
    bound(most_tokens=3_000)
    long = conversation(f"{1:032x}", asked="Where is my order 1? " + "Please! " * 3_000)
    send(client, token, export(*long))
    sends(1, first=2)
    traces_judge()
    assert [state for state, _ in states()] == ["not_judged", "judged"]
    assert "would exceed" in states()[0][1]


def test_who_cannot_be_reached_gives_no_verdict_and_is_asked_again(bound, sends, server):
    judge = bound(prices=PRICES)
    ready, server.behaviour = server.behaviour, lambda _: Trouble(503, "busy")
    sends(2)
    traces_judge()
    judge.refresh_from_db()
    assert (judge.failures, len(server.requests), verdicts()) == (1, 1, [])
    assert "could not be reached" in judge.trouble
    assert judge.paused_until > database_now()
    assert {state for state, _ in states()} == {"waiting"}
    # What nobody heard does not count.
    assert TraceJudgeDay.objects.values_list("questions", "tokens", "cost").get() == (0, 0, 0.0)
    assert traces_judge() == 0
    first = TraceQuestion.objects.exclude(reason="").get().due_at
    later()
    traces_judge()
    judge.refresh_from_db()
    assert (judge.failures, verdicts()) == (2, [])
    assert first is not None
    server.behaviour = ready
    later()
    traces_judge()
    judge.refresh_from_db()
    assert (judge.failures, judge.trouble) == (0, "")
    assert [status for _, status, _ in verdicts()] == ["passed", "passed"]


def test_a_question_that_is_never_answered_is_given_up_without_a_verdict(bound, sends, server, monkeypatch):
    monkeypatch.setattr("toolevals.traces.judges.services.MOST_TRIES", 2)
    bound()
    server.behaviour = lambda _: Trouble(503, "busy")
    sends(1)
    for _ in range(2):
        traces_judge()
        later()
    ((state, reason),) = states()
    assert state == QuestionState.NOT_JUDGED
    assert reason.startswith("After 2 tries: The judge could not be reached")
    assert verdicts() == []


def test_an_answer_that_fits_no_rubric_is_errored_and_counts(bound, sends, server):
    bound()
    server.behaviour = judging(lambda _: "I like it.")
    sends(1)
    traces_judge()
    assert [status for _, status, _ in verdicts()] == ["errored"]
    assert TraceJudgeDay.objects.get().questions == 1


def test_a_worker_that_dies_while_it_asks_leaves_one_question_that_is_asked_again(bound, sends, server, monkeypatch):
    judge = bound()
    sends(2)

    def die(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("toolevals.traces.judges.services._verdict_write", die)
        with pytest.raises(KeyboardInterrupt):
            traces_judge()
    judge.refresh_from_db()
    assert judge.busy_until > database_now()
    assert traces_judge() == 0
    later()
    assert traces_judge() == 2
    assert [status for _, status, _ in verdicts()] == ["passed", "passed"]
    assert len(server.requests) == 3
    assert TraceJudgeDay.objects.get().questions == 3


def test_an_answer_that_comes_too_late_is_dropped_but_counted(bound, sends, monkeypatch):
    bound()
    sends(1)
    verdict = TraceJudging.verdict

    def late(*said: Any) -> Any:
        # Meanwhile more spans arrived, and the trace was summed up again.
        TraceQuestion.objects.update(due_at=database_now() + timedelta(hours=1))
        return verdict(*said)

    monkeypatch.setattr(TraceJudging, "verdict", late)
    traces_judge()
    assert verdicts() == []
    assert TraceJudgeDay.objects.get().questions == 1


def test_a_trace_that_grows_is_judged_again_and_one_that_is_as_it_was_is_not(bound, sends, server, client, token):
    bound()
    sends(1)
    traces_judge()
    lone = span(9, "step", trace=f"{1:032x}", parent=1, attributes={"shop.shard": "eu-7"})
    send(client, token, export(lone))
    traces_settle()
    assert TraceQuestion.objects.get().state == "waiting"
    traces_judge()
    assert (len(server.requests), len(verdicts())) == (1, 1)
    more = conversation(f"{1:032x}", asked="Where is my order 1, and is it 8?", result="lost")
    for each in more:
        each["spanId"] = f"{int(each['spanId'], 16) + 16:016x}"
    send(client, token, export(*more))
    traces_settle()
    traces_judge()
    assert (len(server.requests), len(verdicts())) == (2, 1)


def test_a_trace_that_raises_no_question_is_unscored_and_costs_nothing(bound, sends, server):
    bound(rubric="trajectory_recovery")
    sends(1)
    traces_judge()
    assert [status for _, status, _ in verdicts()] == ["unscored"]
    assert SpanVerdict.objects.get(judge__isnull=False).reason == "Not asked: no tool failed."
    assert server.requests == []
    assert not TraceJudgeDay.objects.exists()


def test_a_judge_that_is_switched_off_is_asked_nothing(bound, sends, server, project):
    judge = bound()
    sends(1)
    off = TraceJudgeRequest(share=1.0, is_on=False)
    trace_judge_set(project=project, actor=None, judge=judge.judge, request=off)
    assert states() == [("not_judged", "The judge was switched off.")]
    sends(1, first=2)
    assert traces_judge() == 0
    assert server.requests == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"share": 0}, "/share"),
        ({"share": float("nan")}, "/share"),
        ({"most_questions": 0}, "/most_questions"),
        ({"most_tokens": 0}, "/most_tokens"),
        ({"most_cost": 1.0}, "needs prices"),
        ({"rubric": "tool_choice"}, "traces have no gold"),
        ({"rubric": "argument_semantics"}, "traces have no gold"),
    ],
)
def test_what_cannot_be_is_refused(bound, said, words):
    with pytest.raises(InvalidDocument) as refused:
        bound(**said)
    assert words in " ".join(map(str, refused.value.problems))
    assert not TraceJudge.objects.exists()


def test_of_each_rubric_one_judge_is_on(bound, project, server):
    bound()
    other = judge_of(project, server, "task_completion", on=False, name="Other")
    with pytest.raises(InvalidDocument, match="switch it off first"):
        trace_judge_set(project=project, actor=None, judge=other, request=TraceJudgeRequest(share=1.0))
