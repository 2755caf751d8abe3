"""Propose a run's calls as second looks, for examples that are still to label."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any
from uuid import UUID

from labeling.models import Dataset, LookPlan, Resolution, Revision
from labeling.second_looks.pending_second_looks import proposal_document
from labeling.second_looks.services import second_looks_begin
from toolevals.grading.values import ToolCall, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject
from toolevals.runs.models import Run
from toolevals.runs.models import Transcript as StoredTranscript
from toolevals.workspace.models import User

AT_ONCE = 500


def second_looks_propose(
    *, dataset: Dataset, actor: User, run: Run, planted_share: float = 0, seed: int = 0
) -> LookPlan:
    """Propose what a run's agent called, in its first trial, for the examples of a dataset that are still to label.

    An answer belongs to an example with the same input and the same offered tools, in whichever dataset the run found
    it. Raises InvalidDocument where it holds none, or is another project's.
    """
    if run.project_id != dataset.project_id:
        raise InvalidDocument.at("/run", "is not of this project")
    return second_looks_begin(
        dataset=dataset,
        actor=actor,
        run=run.number,
        agent=run.agent.name,
        proposals=dict(_proposals(dataset, run)),
        planted_share=planted_share,
        seed=seed,
    )


def _proposals(dataset: Dataset, run: Run) -> Iterator[tuple[UUID, JsonObject]]:
    """Yield the calls of a run by the revision that they are proposed for; what cannot be read is left out."""
    rows = Revision.objects.current().filter(example__dataset=dataset, resolution=Resolution.OPEN)
    wanted = rows.order_by("pk").values_list("digest", "pk")
    rows_left = wanted.iterator(chunk_size=AT_ONCE)
    while by_digest := dict(islice(rows_left, AT_ONCE)):
        answers = StoredTranscript.objects.filter(run=run, trial=0, entry__revision__digest__in=by_digest)
        documents = answers.order_by("entry__position").values_list("entry__revision__digest", "document")
        for digest, document in documents:
            calls = _calls(document)
            if calls is not None:
                yield by_digest[digest], proposal_document(calls)


def _calls(document: Any) -> list[ToolCall] | None:
    """Return a transcript's calls; None where there is no answer, or a call in it cannot be read."""
    if document is None:
        return None
    transcript = Transcript.from_document(document)
    calls = [call for call in transcript.calls if isinstance(call, ToolCall)]
    return calls if transcript.error is None and len(calls) == len(transcript.calls) else None
