"""Read a benchmark's result file as a dataset's tasks and a run's predictions, joined by content and not by id."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labeling.imports.gzip_files import too_large, unpacked_limit
from labeling.imports.parts import Settings
from labeling.imports.readers.recorded_tasks import tau2_rows, tau_rows
from toolevals.grading.files.evaluation_files.reading import content_key
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing.recorded import RecordedRun, is_tau2, tau2_runs, tau_runs
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

# Result files are large; nothing in them is nested deeper.
MOST_BYTES = 512_000_000
MAX_DEPTH = 100
# Why gold that breaks its tools' schemas is frozen with the rest.
AS_PUBLISHED = "the gold is as it was published"


# What a prediction holds of a recorded trial next to its messages.
_SAID = ("answer", "ended", "recorded", "usage")


def result_document(content: bytes, most: int = MOST_BYTES) -> Any:
    """Return the document of a result file, which may be packed with gzip. Raises InvalidDocument."""
    if content[:2] == b"\x1f\x8b":
        try:
            with gzip.open(io.BytesIO(content)) as stream:
                limit = min(most, unpacked_limit(len(content)))
                content = stream.read(limit + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidDocument.at("", f"is not a whole gzip file: {error}") from None
        if len(content) > limit:
            raise too_large(limit)
    return load_json(content, max_bytes=most, max_depth=MAX_DEPTH)


def recorded_runs(document: object) -> list[RecordedRun]:
    """Return the recorded trials of a result file of either benchmark. Raises InvalidDocument."""
    return list((tau2_runs if is_tau2(document) else tau_runs)(document))


def readings_of(runs: Iterable[RecordedRun]) -> Readings:
    """Return what was left out of the recorded conversations."""
    readings = Readings()
    for run in runs:
        readings.lose(run.losses)
    return readings


class Joined(NamedTuple):
    """The id of a task in the dataset; `is_known` where an example of the same content is there already."""

    id: str
    is_known: bool


def task_rows(document: object, order: str, *, offered: bool, decided_by: str = "benchmark") -> list[ExampleRow]:
    """Return the tasks of a result file as examples; without `offered` tools, with ones made of the calls.

    Raises InvalidDocument with the place of the first that is wrong.
    """
    read = tau2_rows if is_tau2(document) else tau_rows
    rows = []
    for _, row in read(document, Settings({"order": order, "decided_by": decided_by}, {} if offered else None)):
        if isinstance(row, InvalidDocument):
            raise row
        rows.append(row)
    return rows


def joined(rows: Iterable[ExampleRow], known: Iterable[JsonMapping]) -> dict[str, Joined]:
    """Return each task's id in a dataset that holds the `known` examples (`id`, `input`).

    A task is an example that has the same content: what the user asks for, and what is known of the user. An id says
    nothing: where another example has it, a task gets one of its own.
    """
    ids: dict[str, list[str]] = {}
    taken = set()
    for example in known:
        taken.add(example["id"])
        ids.setdefault(content_key(example["input"]), []).append(example["id"])
    by_id: dict[str, Joined] = {}
    for row in rows:
        key = content_key(row.input)
        if same := ids.get(key):
            by_id[row.external_id] = Joined(row.external_id if row.external_id in same else same[0], is_known=True)
        else:
            free = row.external_id not in taken
            by_id[row.external_id] = Joined(row.external_id if free else f"{row.external_id}-{key[:8]}", is_known=False)
    return by_id


def example_document(row: ExampleRow, names: Mapping[str, Joined]) -> JsonObject:
    """Return a task as a line of examples."""
    document: JsonObject = {"id": names[row.external_id].id, "input": row.input}
    if isinstance(row.tools, list):
        document["tools"] = [tool.to_document() for tool in row.tools]
    if row.expectation is not None:
        document["expectation"] = row.expectation.to_document()
    beside = {"rationale": row.rationale, "decided_by": row.decided_by}
    return document | {name: value for name, value in beside.items() if value}


def predictions(runs: Sequence[RecordedRun], names: Mapping[str, Joined], domain: str) -> Iterator[JsonObject]:
    """Yield a line for each recorded trial: the policy, what was said and done, and what the source recorded.

    Raises InvalidDocument for a run of a task that the file does not hold.
    """
    for run in runs:
        if (name := names.get(f"{domain}-{run.task_id}") or names.get(f"task-{run.task_id}")) is None:
            raise InvalidDocument.at("", f"task {run.task_id} has recorded runs, and the file does not hold it")
        policy = [{"role": "system", "content": run.policy}] if run.policy else []
        transcript = run.transcript.to_document()
        said: JsonObject = {key: transcript[key] for key in _SAID if key in transcript}
        messages = [*policy, *transcript["messages"]]
        yield {"id": name.id, "trial": run.trial, "format": "native", "messages": messages, **said}
