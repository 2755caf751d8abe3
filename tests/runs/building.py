"""Small datasets and runs to test with, made through the services that people use."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.models import Dataset, DatasetVersion
from labeling.versions.services import version_freeze
from tests.fixtures.people import known_as_valid
from toolevals.grading.reading.examples import read_example
from toolevals.runs.agents.services import agent_ensure, experiment_ensure
from toolevals.runs.grading.episode_rows import ANSWER_COLUMNS, EPISODE_COLUMNS
from toolevals.runs.models import (
    AlignedPair,
    ArgumentCount,
    ArgumentFault,
    CaseGrade,
    Connector,
    CountedCases,
    Episode,
    MatrixCount,
    PlacedCase,
    ToolAnswers,
    VerdictCount,
)
from toolevals.runs.runs.services import RunParts, run_start, run_upload
from toolevals.workspace.models import Project, Upload
from toolevals.workspace.uploads.services import upload_store

ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TOOLS = [
    {"name": "get_order_status", "description": "Returns the shipping status of an order.", "input_schema": ORDER},
    {"name": "get_order_history", "description": "Returns the last orders of a customer.", "input_schema": ORDER},
    {"name": "issue_refund", "description": "Gives the money for an order back.", "input_schema": ORDER},
]
STATUS, HISTORY, REFUND = (str(tool["name"]) for tool in TOOLS)


def example(name: str, says: str, tool: str | None, **strata: str) -> dict[str, Any]:
    """Return a row whose right call is `tool` for order ORD-1, or none."""
    row: dict[str, Any] = {
        "id": name,
        "input": {"messages": [{"role": "user", "content": says}]},
        "tools": TOOLS,
        "expected_tool": tool,
        "strata": strata,
    }
    return row | ({"expected_args": {"order_id": "ORD-1"}} if tool else {})


EXAMPLES = [
    example("status", "What is the shipping status of order ORD-1?", STATUS, bucket="selection", difficulty="easy"),
    example("history", "Which orders did the customer of ORD-1 have last?", HISTORY, difficulty="hard"),
    example("refund", "Give me the money for order ORD-1 back", REFUND),
    example("hello", "Hi there!", None, bucket="no_call"),
]


def call(name: str, tool: str, trial: int = 0, **arguments: Any) -> dict[str, Any]:
    """Return the prediction of one call; without arguments, of the right ones."""
    return {"id": name, "trial": trial, "tool_calls": [{"name": tool, "arguments": arguments or {"order_id": "ORD-1"}}]}


def silence(name: str, trial: int = 0) -> dict[str, Any]:
    """Return the prediction of no call."""
    return {"id": name, "trial": trial, "answer": "How can I help?"}


def version_of(project: Project, rows: Iterable[Mapping[str, Any]] = EXAMPLES, slug: str = "core") -> Any:
    """Import rows into the project's dataset of that slug and freeze it."""
    dataset = Dataset.objects.filter(project=project, slug=slug).first()
    if dataset is None:
        with known_as_valid():
            dataset = dataset_create(project=project, actor=None, slug=slug, name=slug.title())
    examples_import(dataset=dataset, actor=None, rows=[read_example(row) for row in rows])
    return version_freeze(dataset=dataset, actor=None, misfits_reason="Tests name what no tool has.")


def baseline_run(project: Project, version: DatasetVersion, *, trials: int = 1, **options: Any) -> Any:
    """Start a run of the baseline."""
    return run_start(
        RunParts(
            project=project,
            actor=None,
            experiment=experiment_ensure(project=project, actor=None, slug="nightly"),
            agent=agent_ensure(
                project=project, actor=None, name="baseline", connector=Connector.BASELINE, options=options
            ),
            dataset_version=version,
            trials=trials,
        )
    )


def jsonl(rows: Iterable[Any]) -> bytes:
    """Return JSON Lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def stored(project: Project, content: bytes) -> Upload:
    """Keep a file."""
    return upload_store(project=project, actor=None, file=io.BytesIO(content), name="predictions.jsonl")


def uploaded_run(
    project: Project, version: DatasetVersion, rows: Sequence[Any] | bytes, *, trials: int = 1, **agent: Any
) -> Any:
    """Start a run of these predictions."""
    return run_upload(
        RunParts(
            project=project,
            actor=None,
            experiment=experiment_ensure(project=project, actor=None, slug="nightly"),
            agent=agent_ensure(project=project, actor=None, name="agent", connector=Connector.UPLOAD, **agent),
            dataset_version=version,
            trials=trials,
        ),
        upload=stored(project, rows if isinstance(rows, bytes) else jsonl(rows)),
    )


def cases_of(grading: Any) -> dict[tuple[str, int], Any]:
    """Return the cases of a grading by external id and trial."""
    cases = CaseGrade.objects.filter(grading=grading).select_related("transcript__entry__revision__example")
    cases = cases.order_by("transcript__entry__position", "transcript__trial")
    return {(case.transcript.entry.revision.example.external_id, case.transcript.trial): case for case in cases}


def rows_of(grading: Any) -> dict[str, list[Any]]:
    """Return everything that a grading wrote, in order, without ids and times: equal input, equal rows."""
    place = ("case__transcript__entry__position", "case__transcript__trial", "number")
    where = tuple(name.removeprefix("case__") for name in place[:2])
    verdicts = ("outcome", "selection", "arguments", "schema", "shape", "equivalence", "tag", "mode")
    cells = ("expected", "actual", "bucket", "difficulty")
    cases = CaseGrade.objects.filter(grading=grading).order_by(*where)
    pairs = AlignedPair.objects.filter(grading=grading).order_by(*place)
    matrix = MatrixCount.objects.filter(grading=grading).order_by("view", "expected", "actual")
    faults = ArgumentFault.objects.filter(grading=grading).order_by(*place[:2], "kind", "place", "argument")
    wrong = ArgumentCount.objects.filter(grading=grading).order_by("tool", "argument", "kind")
    counts = VerdictCount.objects.filter(grading=grading).order_by("column", "value")
    episodes = Episode.objects.filter(grading=grading).order_by(*place)
    answers = ToolAnswers.objects.filter(grading=grading).order_by("start", "tool")
    counted = CountedCases.objects.filter(grading=grading).order_by("view", "unit")
    placed = PlacedCase.objects.filter(grading=grading).order_by("view", "unit", "cell", *place[:2])
    return {
        "cases": list(cases.values_list(*where, *verdicts, *cells, "detail", "transcript__document")),
        "pairs": list(pairs.values_list(*place, *cells, "arguments")),
        "matrix": list(matrix.values_list("view", "expected", "actual", "count")),
        "faults": list(faults.values_list(*place[:2], "kind", "place", "argument", "tool")),
        "wrong": list(wrong.values_list("tool", "argument", "kind", "count")),
        "episodes": list(episodes.values_list(*place, *EPISODE_COLUMNS[3:])),
        "answers": list(answers.values_list(*ANSWER_COLUMNS[1:])),
        "counts": list(counts.values_list("column", "value", "count")),
        "counted": [(row.view, row.unit, row.document, bytes(row.numbers), bytes(row.costs)) for row in counted],
        "placed": list(placed.values_list("view", "unit", "cell", *place[:2])),
    }
