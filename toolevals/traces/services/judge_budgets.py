"""Keep what judges of traces are asked in a day within their budgets.

A question is counted before it is asked, with what it is expected to take, while the row of the day is held: so no two
workers spend the same rest. What it took is put right when the answer is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from django.db.models import F
from django.utils import timezone

from toolevals.agents.judge_prompts import ANSWER_TOKENS, messages_for
from toolevals.agents.prices import Prices
from toolevals.grading.judging import JudgementRequest
from toolevals.runs.live.estimate import CHARACTERS_PER_TOKEN
from toolevals.traces.models import TraceJudge, TraceJudgeDay
from toolevals.workspace.clock import database_now

SPENT: Final = "The judge's budget of the day was spent."
TOO_DEAR: Final = "The question would have taken more than was left of the judge's budget of the day."


@dataclass(frozen=True, slots=True)
class Spending:
    """Holds what one question takes: tokens, in and out, and money, 0 without prices."""

    tokens: int
    cost: float


def expected_spending(request: JudgementRequest, prices: Prices | None) -> Spending:
    """Return what a question is expected to take."""
    tokens = sum(len(message.content or "") for message in messages_for(request)) // CHARACTERS_PER_TOKEN
    cost = prices.cost({"input_tokens": tokens, "output_tokens": ANSWER_TOKENS}) if prices else 0.0
    return Spending(tokens + ANSWER_TOKENS, cost)


def question_reserve(judge: TraceJudge, expected: Spending) -> tuple[date, str]:
    """Count a question of today, within a transaction; return the day, and why it may not be asked, or nothing."""
    day = timezone.localdate(database_now())
    TraceJudgeDay.objects.bulk_create([TraceJudgeDay(judge=judge, day=day)], ignore_conflicts=True)
    row = TraceJudgeDay.objects.select_for_update(no_key=True).get(judge=judge, day=day)
    limits = ((row.tokens, expected.tokens, judge.most_tokens), (row.cost, expected.cost, judge.most_cost))
    if row.questions >= judge.most_questions:
        return day, SPENT
    if any(limit is not None and spent >= limit for spent, _, limit in limits):
        return day, SPENT
    if any(limit is not None and spent + more > limit for spent, more, limit in limits):
        return day, TOO_DEAR
    _add(judge, day, 1, expected.tokens, expected.cost)
    return day, ""


def question_settle(judge: TraceJudge, day: date, expected: Spending, took: Spending, *, was_asked: bool) -> None:
    """Put what a question took in the place of what was expected; one that no one heard does not count."""
    _add(judge, day, 0 if was_asked else -1, took.tokens - expected.tokens, took.cost - expected.cost)


def _add(judge: TraceJudge, day: date, questions: int, tokens: int, cost: float) -> None:
    TraceJudgeDay.objects.filter(judge=judge, day=day).update(
        questions=F("questions") + questions, tokens=F("tokens") + tokens, cost=F("cost") + cost
    )
