"""Ask judges several questions at once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from django.db import DatabaseError, InterfaceError
from django.db.models import Sum

from toolevals.agents.chats import safe
from toolevals.agents.judge import Judge, JudgeReply
from toolevals.agents.prices import Prices
from toolevals.grading.judging import JudgementRequest
from toolevals.json_types import JsonObject
from toolevals.runs.models import DriftCheck, ProbeCheck
from toolevals.workspace.jobs.leases import BatchPreempted, JobCancelled, Lease

logger = logging.getLogger(__name__)
# Questions at once in each worker.
CONCURRENCY = 8
# Between two looks at whether to begin nothing more, while no answer comes.
LOOK_SECONDS = 1.0
# So long those that are under way when their job is cancelled are waited for.
GRACE_SECONDS = 10.0
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Question(Generic[Key]):
    """One question to a judge; `key` says whose it is to the caller."""

    key: Key
    judge: Judge
    request: JudgementRequest


def ask_concurrently(questions: Iterable[Question[Key]], lease: Lease) -> Iterator[tuple[Key, JudgeReply]]:
    """Yield answers as they come. The next question is taken only where a place is free, after answers were yielded.

    While the lease must give way none is begun: once those under way are answered, BatchPreempted is raised. Where the
    job is cancelled, what is answered within `GRACE_SECONDS` is yielded, errors apart, and JobCancelled is raised.
    """
    pool = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="judge")
    asked: dict[Future[JudgeReply], Key] = {}
    try:
        yield from _heard(pool, asked, iter(questions), lease)
    except JobCancelled:
        wait(asked, timeout=GRACE_SECONDS)
        for future, key in asked.items():
            if future.done() and not (heard := future.result()).judgement.error:
                yield key, heard
        raise
    finally:
        # A judge that hangs is not waited for when its answer is no longer wanted.
        pool.shutdown(wait=False, cancel_futures=True)


def _heard(
    pool: ThreadPoolExecutor, asked: dict[Future[JudgeReply], Key], coming: Iterator[Question[Key]], lease: Lease
) -> Iterator[tuple[Key, JudgeReply]]:
    while True:
        may_begin = not lease.must_give_way()
        if may_begin:
            for question in islice(coming, CONCURRENCY - len(asked)):
                asked[pool.submit(_answer, question.judge, question.request)] = question.key
        if not asked:
            if may_begin or next(coming, None) is None:
                return
            raise BatchPreempted
        ended, _ = wait(asked, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
        for future in ended:
            yield asked.pop(future), future.result()


def _answer(judge: Judge, request: JudgementRequest) -> JudgeReply:
    """Return a judge's answer. What no one foresaw errs this question alone; the database's errors are raised."""
    try:
        return judge.hear(request)
    except (DatabaseError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("A question to a judge failed.")
        said = safe(f"The question failed ({type(error).__name__}): {error}")
        return JudgeReply(judge.errored(request, said), was_reached=False)


def answer_columns(heard: JudgeReply, prices: Prices | None) -> JsonObject:
    """Return what is kept of an answer, but for the answer's own document; no cost without prices."""
    return {
        "value": heard.judgement.value,
        "reason": heard.judgement.reason,
        "error": heard.judgement.error,
        "answered_by": heard.answered_by[:120],
        "cost": prices.cost(heard.usage) if prices else None,
        "input_tokens": int(heard.usage.get("input_tokens", 0)),
        "output_tokens": int(heard.usage.get("output_tokens", 0)),
    }


def has_money(check: DriftCheck | ProbeCheck) -> bool:
    """Tell whether a check of a judge may cost more than its answers have."""
    return check.budget is None or (check.answers.aggregate(cost=Sum("cost"))["cost"] or 0.0) < check.budget
