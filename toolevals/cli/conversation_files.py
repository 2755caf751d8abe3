"""Read whole conversations from files: recorded runs of tau-bench and tau2-bench, and files of evaluation tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.imports.readers.recorded_tasks import domain_of
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.values import ToolSpec, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.files.recorded_files import recorded_runs, result_document, task_rows

_RECORDED = ("records", "simulations")


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its name in the file, what the agent was given and offered, and what was said and done."""

    name: str
    given: tuple[Mapping[str, Any], ...]
    tools: tuple[ToolSpec, ...]
    transcript: Transcript


def conversations_read(content: bytes) -> Iterator[Conversation]:
    """Yield the conversations of a file, which may be packed with gzip. Raises InvalidDocument."""
    document = _recorded_document(content)
    if document is None:
        yield from _of_evaluation_file(content)
    else:
        yield from _of_recorded_runs(document)


def _recorded_document(content: bytes) -> Any:
    """Return the document of a file of recorded runs; None for every other file."""
    try:
        document = result_document(content)
    except InvalidDocument:
        return None
    first = document[0] if isinstance(document, list) and document else document
    is_recorded = isinstance(first, dict) and ("traj" in first or any(key in first for key in _RECORDED))
    return document if is_recorded else None


def _of_recorded_runs(document: Any) -> Iterator[Conversation]:
    """Yield a conversation for each recorded trial. Tools are those that the file holds, else made of the calls."""
    domain = domain_of(document)
    rows = {row.external_id: row for row in task_rows(document, "unordered", offered=False)}
    for run in recorded_runs(document):
        row = rows.get(f"{domain}-{run.task_id}") or rows.get(f"task-{run.task_id}")
        tools = row.tools if row and isinstance(row.tools, list) else []
        policy = ({"role": "system", "content": run.policy},) if run.policy else ()
        yield Conversation(f"{domain}-{run.task_id}-{run.trial}", policy, tuple(tools), run.transcript)


def _of_evaluation_file(content: bytes) -> Iterator[Conversation]:
    """Yield a conversation for each trial of the file of an evaluation tool, or of a plain log."""
    names: dict[str, int] = {}
    for place, found in evaluation_file(content).entries():
        if isinstance(found, InvalidDocument):
            raise found.below(f"/{place.number}")
        if found.trial is None:
            continue
        tools = found.example.tools if found.example and isinstance(found.example.tools, list) else []
        said = found.trial.content.get("messages")
        given = tuple(each for each in said if isinstance(each, dict)) if isinstance(said, list) else ()
        number = names[found.trial.external_id] = names.get(found.trial.external_id, -1) + 1
        yield Conversation(f"{found.trial.external_id}-{number}", given, tuple(tools), found.trial.transcript)
