"""Reads runs of OpenAI Evals: the event log of its command, and of its service output items, data files and datasets.

Source: evals.record (`spec`, `sampling` and other events), the API's `eval.run.output_item` and data of type `jsonl`,
and the guides of its datasets, in which people give a rating and an `output_feedback`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolevals.grading.files.evaluation_files.content import content_of, example_of, json_in, said_in, transcript_of
from toolevals.grading.files.evaluation_files.entries import ideal_expectation, tools_at
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    entries_read,
    items_at,
    keys,
    object_at,
    unknown_keys,
)
from toolevals.grading.files.evaluation_files.judging import Answer, judged
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing.extras import usage_in
from toolevals.grading.values import Expectation, Transcript
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_ITEM = keys(
    "object id created_at run_id eval_id status datasource_item_id datasource_item results sample "
    "_datasource_item_content_hash"
)
_OBJECT = "eval.run.output_item"
# Where an item holds what is expected; the first one there counts. The names of its columns are each team's own.
_IDEALS = (
    "ideal", "expected_tool_calls", "expected_tool_call", "expected_call", "expected_output", "expected",
    "ground_truth", "reference_answer", "reference", "correct_label", "label", "target",
)  # fmt: skip
# Columns in which people judge the output, and who they are.
_JUDGED = keys("rating output_feedback")
_ANNOTATION = "annotation."
_AUTHORS = ("annotator", "annotated_by", "rated_by")
# What else is no part of the input.
_APART = frozenset((*_AUTHORS, "output", "tools", "id"))
_EXPECTED = ("match", "metrics")


def detect(item: object) -> str | None:
    """Return why an item is of a run; None where it is not."""
    if not isinstance(item, Mapping):
        return None
    if item.get("object") == _OBJECT:
        return f"entries are objects of {_OBJECT}"
    spec = item.get("spec")
    if isinstance(spec, Mapping) and "completion_fns" in spec:
        return "begins with the spec of a run"
    if isinstance(item.get("item"), Mapping) and item.keys() <= {"item", "sample"}:
        return "entries have item, as the data files of hosted evals"
    if "output_feedback" in item and "output" in item:
        return "entries have output and output_feedback, as datasets of the dashboard"
    return None


def read(document: object) -> Iterator[Found]:
    """Yield an entry for each sample; one that was asked several times is refused, as nothing says which counts."""
    listed = document["data"] if isinstance(document, Mapping) and isinstance(document.get("data"), list) else document
    prefix = "/data" if listed is not document else ""
    items = [(f"{prefix}{pointer}", item) for pointer, item in items_at(listed)]
    if isinstance(items[0][1], Mapping) and "spec" in items[0][1]:
        yield from _events(items)
        return
    yield from entries_read(items, _item)


def _events(items: list[tuple[str, Any]]) -> Iterator[Found]:
    sampled: dict[str, list[tuple[str, JsonMapping]]] = {}
    expected: JsonObject = {}
    for pointer, item in items:
        if not isinstance(item, Mapping) or "type" not in item:
            continue
        name, data = str(item.get("sample_id")), item.get("data")
        if item["type"] == "sampling" and isinstance(data, Mapping):
            sampled.setdefault(name, []).append((pointer, data))
        elif item["type"] in _EXPECTED and isinstance(data, Mapping) and "expected" in data:
            expected.setdefault(name, data["expected"])
    for name, asked in sampled.items():
        pointer, data = asked[0]
        try:
            if len(asked) > 1:
                raise InvalidDocument.at("", f"the sample {name} was asked {len(asked)} times: a run keeps one of them")
            yield pointer, _sampled(name, data, expected.get(name))
        except InvalidDocument as error:
            yield pointer, error


def _sampled(name: str, data: JsonMapping, ideal: object) -> Entry:
    losses: list[Problem] = []
    content = content_of(data.get("prompt"), "/data/prompt", losses)
    given = data.get("sampled")
    one = given[0] if isinstance(given, list) and len(given) == 1 else given
    said = said_in(one, "/data/sampled", losses)
    expectation = _expectation(ideal, "/data/expected", losses)
    row = example_of(name, "eval", content, expectation=expectation, losses=tuple(losses))
    return _entry(row, transcript_of(said))


def _item(item: JsonMapping) -> Entry:
    if "object" not in item and "item" not in item:
        # A row of a dataset of the dashboard is its item, with what was answered and judged next to it.
        item = {"datasource_item": item, "sample": {"output": json_in(item.get("output"))}}
    losses = [*unknown_keys(item, _ITEM)]
    sample = object_at(item.get("sample") or {}, "/sample")
    source = object_at(item.get("datasource_item") or item.get("item") or {}, "/datasource_item")
    source = source["item"] if isinstance(source.get("item"), Mapping) else source
    source = {key: json_in(value) for key, value in source.items()}
    expected = next((key for key in _IDEALS if source.get(key) not in (None, "")), "")
    said = [key for key in source if key in _JUDGED or str(key).startswith(_ANNOTATION)]
    tools, lost = tools_at({"tools": sample.get("tools") or source.get("tools")}, "tools")
    losses += lost
    if given := sample.get("input"):
        content = content_of(given, "/sample/input", losses)
    else:
        apart = {expected, *said, *_APART}
        rest = {key: value for key, value in source.items() if key not in apart}
        content = content_of(rest, "/datasource_item", losses)
    output = sample.get("output")
    made = said_in(output, "/sample/output", losses)
    error = sample.get("error")
    failed = error.get("message") if isinstance(error, Mapping) else None
    usage = usage_in({"usage": sample.get("usage")})
    known = {"usage": usage, "error": failed if isinstance(failed, str) and failed and not made else None}
    number = item.get("datasource_item_id")
    name = source.get("id") if number is None else f"item-{number}"
    trial = transcript_of(made, **known) if "output" in sample or known["error"] else None
    expectation = _expectation(source.get(expected), f"/datasource_item/{expected}", losses)
    row = example_of(name, "eval", content, tools=tools, expectation=expectation, losses=tuple(losses))
    author = str(next((source[key] for key in _AUTHORS if source.get(key)), ""))
    return _entry(judged(row, _answers(source, said, author), trial.messages if trial else None), trial)


def _answers(source: JsonMapping, said: Sequence[str], author: str) -> list[Answer]:
    """Return a person's answers: the words of the feedback stand next to the rating."""
    held = {key: source[key] for key in said if source[key] not in (None, "")}
    words = held.pop("output_feedback", "") if "rating" in held else ""
    comment = words if isinstance(words, str) else ""
    return [
        Answer(author, str(key).removeprefix(_ANNOTATION), value, comment if key == "rating" else "",
               pointer=f"/datasource_item/{key}")
        for key, value in held.items()
    ]  # fmt: skip


def _expectation(ideal: object, pointer: str, losses: list[Problem]) -> Expectation | None:
    if ideal in (None, "", []):
        return None
    expectation, words = ideal_expectation(ideal, pointer)
    losses += [Problem(pointer, "is words and no call: expected as the answer without a call")] if words else []
    return expectation


def _entry(row: ExampleRow, trial: Transcript | None) -> Entry:
    made = None if trial is None else Trial(row.external_id, trial, row.input)
    return Entry(row, made, row.losses)
