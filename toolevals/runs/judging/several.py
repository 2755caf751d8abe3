"""Several questions to judges at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from toolevals.agents.judge import Heard, Judge
from toolevals.agents.prices import Prices
from toolevals.grading.judging import JudgementRequest

# Questions at once in each worker.
CONCURRENCY = 8
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Question(Generic[Key]):
    """One question to a judge; `key` says whose it is to whoever asks."""

    key: Key
    judge: Judge
    request: JudgementRequest


def several_heard(questions: Iterable[Question[Key]]) -> Iterator[tuple[Key, Heard]]:
    """Yield answers as they come. The next question is taken only where a place is free, after answers were yielded.

    What was not begun when the caller stops is not begun.
    """
    with ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="judge") as pool:
        asked: dict[Future[Heard], Key] = {}
        try:
            for question in questions:
                asked[pool.submit(question.judge.hear, question.request)] = question.key
                if len(asked) == CONCURRENCY:
                    yield from _ended(asked)
            while asked:
                yield from _ended(asked)
        finally:
            # A lost lease or a cancelled job: what was not begun is not begun.
            pool.shutdown(wait=False, cancel_futures=True)


def answer_columns(heard: Heard, prices: Prices | None) -> dict[str, Any]:
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


def _ended(asked: dict[Future[Heard], Key]) -> Iterator[tuple[Key, Heard]]:
    ended, _ = wait(asked, return_when=FIRST_COMPLETED)
    for future in ended:
        yield asked.pop(future), future.result()
