"""Several questions to judges at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

from toolevals.agents.judge import Heard, Judge
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


def _ended(asked: dict[Future[Heard], Key]) -> Iterator[tuple[Key, Heard]]:
    ended, _ = wait(asked, return_when=FIRST_COMPLETED)
    for future in ended:
        yield asked.pop(future), future.result()
