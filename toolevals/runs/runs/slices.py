"""Tell how the work on a run is cut.

Into ranges of the dataset version's positions, with every trial of each example.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from toolevals.json_types import JsonMapping
from toolevals.runs.models import Grading, Run
from toolevals.workspace.jobs.services import BatchPlan
from toolevals.workspace.models import Queue

# Transcripts in one batch: some tenths of a second of grading, and one short transaction to write it. A large run has
# more in each, because a batch costs as much as a hundred of them; still enough batches for every worker to be busy.
SLICE, LARGE_SLICE = 500, 1000
BATCHES = 8
# Transcripts in one batch where their calls are replayed: each may take its simulator's time.
REPLAY_SLICE = 50
# Conversations in one batch: some minutes of waiting for a model.
LIVE_SLICE = 40
# Cases in one batch of judging: some minutes of waiting for judges.
JUDGE_SLICE = 100


def produce_plans(run: Run, *, stage: int) -> Iterator[BatchPlan]:
    """Yield the batches that let the baseline answer the run's examples."""
    yield from _plans("runs.produce", {"run": str(run.pk)}, run, stage, queue=Queue.GRADE)


def converse_plans(run: Run, *, stage: int, positions: Sequence[int] | None = None) -> Iterator[BatchPlan]:
    """Yield the batches that let a live agent answer the run's examples, or those at some positions in order."""
    payload = {"run": str(run.pk)}
    yield from _plans("runs.converse", payload, run, stage, queue=Queue.AGENT, most=LIVE_SLICE, positions=positions)


def ingest_plan(run: Run, upload_id: UUID, *, stage: int) -> BatchPlan:
    """Return the one batch that reads a run's predictions."""
    payload = {"run": str(run.pk), "upload": str(upload_id)}
    return BatchPlan("runs.ingest", payload, size=run.size * run.trials, stage=stage)


def grade_plans(
    grading: Grading, *, stage: int, keep: Grading | None = None, ask: str | None = None
) -> Iterator[BatchPlan]:
    """Yield the batches that grade a run's transcripts, those that ask its judges, and the one after them that counts.

    Without judges there are none of those. What is not errored in the grading to `keep` is taken from it; all is where
    only the judge of one rubric is to be asked (`ask`).
    """
    payload = {"grading": str(grading.pk)} | ({"keep": str(keep.pk)} if keep else {}) | ({"ask": ask} if ask else {})
    most = REPLAY_SLICE if grading.simulator_id and not ask else None
    yield from _plans("runs.grade", payload, grading.run, stage, queue=Queue.GRADE, most=most)
    if grading.judges:
        stage += 1
        yield from _plans("runs.judge", payload, grading.run, stage, queue=Queue.JUDGE, most=JUDGE_SLICE)
    yield BatchPlan("runs.rollup", payload, stage=stage + 1, queue=Queue.GRADE)


def _plans(
    task: str,
    payload: JsonMapping,
    run: Run,
    stage: int,
    *,
    queue: Queue,
    most: int | None = None,
    positions: Sequence[int] | None = None,
) -> Iterator[BatchPlan]:
    places = run.positions if positions is None else positions
    most = most or max(SLICE, min(LARGE_SLICE, len(places) * run.trials // BATCHES))
    step = max(1, most // run.trials)
    for first in range(0, len(places), step):
        some = places[first : first + step]
        part = {**payload, "start": some[0], "stop": some[-1] + 1}
        yield BatchPlan(task, part, size=len(some) * run.trials, stage=stage, queue=queue)
