"""The rows of what agents did when tools failed, made with the verdicts of their cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from toolevals.grading.offer import LONGEST_CLASS
from toolevals.grading.verdicts import UNPARSED
from toolevals.runs.models import Grading

if TYPE_CHECKING:
    from toolevals.runs.services.case_grading import Graded

_COPIED: Final = ("error_class", "reaction", "score", "recovered", "failures", "errors", "identical_retries")
EPISODE_COLUMNS: Final = ("grading_id", "case_id", "number", "tool", *_COPIED)
ANSWER_COLUMNS: Final = ("grading_id", "start", "tool", "answers")


def episode_rows(grading: Grading, case: Graded) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a case's episodes, in the order of EPISODE_COLUMNS."""
    for number, episode in enumerate(case.grade.details.get("recovery", {}).get("episodes", ())):
        yield grading.pk, case.id, number, _tool(episode["tool"]), *(episode[name] for name in _COPIED)


def answers_of(case: Graded) -> Iterator[str]:
    """Yield the tool of each answer in a case that was graded."""
    if case.transcript is not None and case.compiled is not None and case.transcript.error is None:
        for result in case.transcript.results:
            yield _tool(result.call.name if result.call else "")


def answer_rows(grading: Grading, start: int, answers: Mapping[str, int]) -> Iterator[tuple[Any, ...]]:
    """Yield how often each tool answered in a batch, in the order of ANSWER_COLUMNS."""
    for tool, count in sorted(answers.items()):
        yield grading.pk, start, tool, count


def _tool(name: str) -> str:
    return name[:LONGEST_CLASS] or UNPARSED
