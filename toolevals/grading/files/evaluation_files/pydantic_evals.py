"""Reads datasets (YAML or JSON) of Pydantic Evals, and reports of their evaluation (JSON).

Source: pydantic_evals (`Dataset.to_file`, `EvaluationReport` as pydantic dumps it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolevals.grading.files.evaluation_files.content import (
    content_of,
    example_of,
    expectation_of,
    said_in,
    transcript_of,
)
from toolevals.grading.files.evaluation_files.entries import strata_in
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    entries_read,
    items_at,
    keys,
    milliseconds,
    object_at,
    unknown_keys,
)
from toolevals.grading.reading.examples import tools_in_row
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonValue

_CASE = keys("name inputs metadata expected_output evaluators")
_REPORTED = _CASE | keys(
    "output metrics attributes scores labels assertions evaluator_failures task_duration total_duration trace_id "
    "span_id source_case_name report_evaluator_failures error_message error_stacktrace error_type"
)


def detect_dataset(document: JsonValue) -> str | None:
    """Return why a document is a dataset; None where it is none."""
    cases = document.get("cases") if isinstance(document, Mapping) else None
    if not isinstance(cases, list) or not all(isinstance(case, Mapping) and "inputs" in case for case in cases[:5]):
        return None
    return None if _is_report(document) else "has cases, each with inputs"


def detect_report(document: object) -> str | None:
    """Return why a document is a report; None where it is none."""
    if isinstance(document, Mapping) and isinstance(document.get("cases"), list) and _is_report(document):
        return "has cases with outputs and durations, and failures"
    return None


def _is_report(document: JsonMapping) -> bool:
    cases = [case for case in document["cases"] if isinstance(case, Mapping)]
    failed = isinstance(document.get("failures"), list)
    return failed and all("output" in case or "task_duration" in case for case in cases[:5])


def read_dataset(document: object) -> Iterator[Found]:
    """Yield the cases as examples."""
    outer = object_at(document)
    given = _evaluators(outer.get("evaluators"), "the dataset's evaluator")
    shared = tuple(Problem("", loss.message) for loss in given)
    for place, (pointer, item) in enumerate(items_at(outer, "cases")):
        try:
            # What all cases share is said once.
            yield pointer, _case(object_at(item), _CASE, () if place else shared)
        except InvalidDocument as error:
            yield pointer, error


def read_report(document: object) -> Iterator[Found]:
    """Yield the cases with what the task gave back; a case whose task raised has its error."""
    outer = object_at(document)
    for key in ("cases", "failures"):
        yield from entries_read(items_at(outer, key), _reported)


def _case(item: JsonMapping, known: frozenset[str], shared: tuple[Problem, ...] = ()) -> Entry:
    inputs, metadata = item.get("inputs"), item.get("metadata")
    left: list[Problem] = []
    content = content_of(inputs, "/inputs", left)
    expectation, losses = expectation_of(item.get("expected_output"), "/expected_output")
    offered = next(
        (each["tools"] for each in (inputs, metadata) if isinstance(each, Mapping) and each.get("tools")), None
    )
    tools, more = tools_in_row(offered, "/inputs/tools")
    losses = (
        *left,
        *losses,
        *more,
        *_evaluators(item.get("evaluators"), "the evaluator"),
        *shared,
        *unknown_keys(item, known),
    )
    strata = strata_in(metadata) if isinstance(metadata, Mapping) else {}
    name = item.get("name")
    row = example_of(
        name if isinstance(name, str) and name else None, "case", content, tools=tools, expectation=expectation,
        strata=strata, losses=losses,
    )  # fmt: skip
    return Entry(row, losses=losses)


def _reported(item: JsonMapping) -> Entry:
    # Repeated cases are named after the case that they repeat.
    source = item.get("source_case_name") or item.get("name")
    entry = _case({**item, "name": source}, _REPORTED)
    if entry.example is None:
        return entry
    error = item.get("error_message")
    left: list[Problem] = []
    messages = said_in(item.get("output"), "/output", left)
    seconds = item.get("task_duration")
    transcript = transcript_of(
        messages,
        latency_ms=milliseconds(seconds),
        error=error if isinstance(error, str) and error else None,
    )
    return Entry(
        entry.example, Trial(entry.example.external_id, transcript, entry.example.input), (*entry.losses, *left)
    )


def _evaluators(given: JsonValue, whose: str) -> tuple[Problem, ...]:
    """Return a loss for each evaluator: here the expected output alone is graded."""
    names = [next(iter(each), "") if isinstance(each, Mapping) else str(each) for each in given or ()]
    return tuple(
        Problem(f"/evaluators/{place}", f"{whose} {name} is left out: what is expected is graded here")
        for place, name in enumerate(names)
        if name not in ("Equals", "EqualsExpected", "Contains")
    )
