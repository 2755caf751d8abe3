"""Write the rows of what agents did when tools failed, with the verdicts of their cases."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from toolevals.grading.engine.compiled import LONGEST_CLASS
from toolevals.grading.metrics.clustered import ExampleSums
from toolevals.grading.values.verdicts import UNPARSED
from toolevals.runs.models import Grading

if TYPE_CHECKING:
    from toolevals.runs.grading.graded_case import Graded

_COPIED: Final = ("error_class", "reaction", "score", "recovered", "failures", "errors", "identical_retries")
EPISODE_COLUMNS: Final = ("grading_id", "case_id", "number", "tool", *_COPIED)
ALL_TOOLS: Final = ""
# The six sums of `ExampleSums` by the columns that hold them, in its order.
ANSWER_SUMS: Final = ("examples", "answers", "errors", "errors_squared", "crossed", "answers_squared")
ANSWER_COLUMNS: Final = ("grading_id", "start", "tool", *ANSWER_SUMS)


def episode_rows(grading: Grading, case: Graded) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a case's episodes, in the order of EPISODE_COLUMNS."""
    for number, episode in enumerate(_episodes(case)):
        yield grading.pk, case.id, number, _tool(episode["tool"]), *(episode[name] for name in _COPIED)


class AnsweredBatch:
    """The answers of tools in a batch of cases, and those of them that are errors, by example."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, defaultdict[UUID, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))

    def add(self, case: Graded) -> None:
        """Count the answers in a case that was graded."""
        if case.transcript is None or case.compiled is None or case.transcript.error is not None:
            return
        for result in case.transcript.results:
            self._add(_tool(result.call.name if result.call else ""), case.revision_id, 0, 1)
        for episode in _episodes(case):
            self._add(_tool(episode["tool"]), case.revision_id, 1, episode["errors"])

    def rows(self, grading: Grading, start: int) -> Iterator[tuple[Any, ...]]:
        """Yield how often each tool answered in the batch, and all together, in the order of ANSWER_COLUMNS."""
        for tool, examples in sorted(self._counts.items()):
            tallies = Counter((answers, min(errors, answers)) for answers, errors in examples.values())
            yield grading.pk, start, tool, *ExampleSums.of(tallies).to_row()

    def _add(self, tool: str, revision: UUID, place: int, count: int) -> None:
        self._counts[tool][revision][place] += count
        self._counts[ALL_TOOLS][revision][place] += count


def _episodes(case: Graded) -> Sequence[Any]:
    episodes: Sequence[Any] = case.grade.detail("recovery").get("episodes", ())
    return episodes


def _tool(name: str) -> str:
    return name[:LONGEST_CLASS] or UNPARSED
