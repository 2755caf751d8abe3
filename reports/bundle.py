"""All that is known of one grading of a run, as one zip: every table, every verdict, what was said, and the gold."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, Final

from labeling.datasheet.gathering import datasheet_of
from labeling.exports import version_lines
from reports.analyses.layers import layers_of
from reports.analyses.matrix import matrix_of
from reports.analyses.tools import tools_of
from reports.cases.state import state_rows
from reports.filters.asked import CaseFilter, Filters
from reports.filters.placing import matrix_counts
from reports.pages.tool_costs import COLUMNS, grading_tool_costs, spent_csv
from reports.queries.arguments import grading_arguments
from reports.queries.grading import KEYSET_PAGE, cases_for_export, verdict_counts
from reports.queries.judges import judged_for_export, judges_of
from reports.queries.overreach import grading_overreach
from reports.queries.run_facts import COMPARED
from reports.queries.trials import grading_compounding, grading_reliability, trial_counts, trial_rows
from reports.tables import mistakes as mistake_tables
from reports.tables import reliability as reliability_tables
from reports.tables import run as tables
from toolevals.grading.canonical import exact
from toolevals.presentation.csv import csv_stream
from toolevals.runs.counted import View
from toolevals.runs.judging.blindness import detail_without, hidden_in
from toolevals.runs.models import CaseGrade, Grading

# What a part of the zip is made of, written as it is read.
Parts = Iterator[bytes]


def bundle_write(grading: Grading, file: IO[bytes], progress: Callable[[int], None]) -> None:
    """Write the zip. `progress` is told the cases written so far, of those of VERDICTS, the largest part."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, (_, part) in PARTS.items():
            with bundle.open(name, "w", force_zip64=True) as written:
                for chunk in part(grading):
                    written.write(chunk)
        with bundle.open(VERDICTS, "w", force_zip64=True) as written:
            for number, line in enumerate(_verdicts(grading), 1):
                written.write(line)
                if number % KEYSET_PAGE == 0:
                    progress(number)


def _about(grading: Grading) -> Parts:
    run = grading.run
    found = {
        "project": run.project.slug,
        "experiment": run.experiment.slug,
        "run": run.number,
        "grading": grading.number,
        "trials": run.trials,
        "size": run.size,
        "created_at": run.created_at.isoformat(),
        "finished_at": grading.finished_at.isoformat() if grading.finished_at else None,
        "subject": {name: read(run) for name, read in COMPARED.items()},
        "dataset": {"slug": grading.dataset_version.dataset.slug, "version": grading.dataset_version.number},
        "graders": grading.graders,
        "judges": grading.judges,
        "spending": grading.spending,
    }
    yield (json.dumps(found, indent=2, ensure_ascii=False) + "\n").encode()


def _verdicts(grading: Grading) -> Parts:
    """Yield a line for each case: its ids, every verdict with its reason, and what the subject said and did."""
    cases = CaseGrade.objects.filter(grading=grading).order_by("transcript_id")
    columns = ("transcript_id", "pk", "transcript__trial", "transcript__entry__revision__example__external_id")
    rows = cases.values_list(*columns, "detail", "transcript__document", "transcript__entry__revision")
    hidden = hidden_in(grading.run.project_id)
    page = list(rows[:KEYSET_PAGE])
    while page:
        for transcript, case, trial, external_id, detail, document, revision in page:
            ids = {"case_id": str(case), "transcript_id": str(transcript), "external_id": external_id, "trial": trial}
            grade = detail_without(detail, hidden.get(revision, ()))
            yield f"{exact({**ids, 'grade': grade, 'transcript': document})}\n".encode()
        page = list(rows.filter(transcript_id__gt=page[-1][0])[:KEYSET_PAGE])


def _matrix(view: View) -> Callable[[Grading], Parts]:
    def part(grading: Grading) -> Parts:
        return csv_stream(tables.MATRIX_LONG, tables.matrix_long(matrix_of(matrix_counts(grading, Filters(view)))))

    return part


def _tools(grading: Grading) -> Parts:
    return csv_stream(tables.TOOLS, tables.tools(tools_of(matrix_of(matrix_counts(grading, Filters())))))


def _layers(grading: Grading) -> Parts:
    return csv_stream(tables.LAYERS, tables.layers(layers_of(verdict_counts(grading))))


def _arguments(grading: Grading) -> Parts:
    return csv_stream(mistake_tables.ARGUMENTS, mistake_tables.arguments(grading_arguments(grading)))


def _overreach(grading: Grading) -> Parts:
    return csv_stream(mistake_tables.OVERREACH, mistake_tables.overreach(grading_overreach(grading)))


def _spending(grading: Grading) -> Parts:
    return csv_stream(COLUMNS, spent_csv(grading_tool_costs(grading)))


def _cases(grading: Grading) -> Parts:
    return csv_stream(tuple(tables.CASES), cases_for_export(grading, CaseFilter(), list(tables.CASES.values())))


def _judges(grading: Grading) -> Parts:
    return csv_stream(tables.JUDGES, tables.judges(judges_of(grading)))


def _judged(grading: Grading) -> Parts:
    return csv_stream(tables.JUDGED, judged_for_export(grading))


def _state(grading: Grading) -> Parts:
    return csv_stream(tables.STATE, state_rows(grading))


def _gold(grading: Grading) -> Parts:
    return version_lines(grading.dataset_version)


def _reliability(grading: Grading) -> Parts:
    found = grading_reliability(grading, grading.run.trials)
    return csv_stream(reliability_tables.RELIABILITY, reliability_tables.reliability(found))


def _trials(grading: Grading) -> Parts:
    columns = reliability_tables.TRIALS
    return csv_stream(tuple(columns), trial_rows(trial_counts(grading), list(columns.values())))


def _steps(grading: Grading) -> Parts:
    return csv_stream(reliability_tables.STEPS, reliability_tables.steps(grading_compounding(grading)))


def _datasheet(grading: Grading) -> Parts:
    version = grading.dataset_version
    sheet: Mapping[str, Any] = datasheet_of(version.dataset, version).to_document()
    yield (json.dumps(sheet, indent=2, ensure_ascii=False) + "\n").encode()


# Name in the zip -> what it holds, and what writes it. The columns of each table stand in docs/reports.md.
PARTS: Final[Mapping[str, tuple[str, Callable[[Grading], Parts]]]] = {
    "run.json": ("the subject, the dataset version, graders, judges, what it took", _about),
    "layers.csv": ("outcome, layers and depths", _layers),
    "tools.csv": ("precision, recall and F1 of each tool", _tools),
    "matrix.csv": ("the matrix of first calls", _matrix(View.FIRST)),
    "matrix-aligned.csv": ("the matrix of aligned calls", _matrix(View.ALIGNED)),
    "arguments.csv": ("which parameter is wrong, and how", _arguments),
    "spending.csv": ("what the calls to each tool took", _spending),
    "overreach.csv": ("where more was called than was due", _overreach),
    "cases.csv": ("a row a case, with every verdict", _cases),
    "judges.csv": ("what each judge came to", _judges),
    "judged.csv": ("a row a case and judge", _judged),
    "state.csv": ("where the calls left another state", _state),
    "reliability.csv": ("pass@k and pass^k", _reliability),
    "trials.csv": ("how each example's trials came out", _trials),
    "steps.csv": ("cases by the length of their chain", _steps),
    "gold.jsonl": ("the frozen examples with the gold that was graded against, to be imported again", _gold),
    "datasheet.json": ("the datasheet of that version", _datasheet),
}
VERDICTS = "verdicts.jsonl"
CONTENTS: Final = (
    *((name, says) for name, (says, _) in PARTS.items()),
    (VERDICTS, "a line a case: every verdict with its reason and differences, and the transcript"),
)
