"""Reads exports of Label Studio: tasks with the annotations of each person (JSON), or a row for each (JSON-MIN, CSV).

Source: Label Studio's guide, "Label Studio JSON format of annotated tasks", its tags' results, and its converter's
`convert_to_json_min`, which writes the data, `id`, the answers and what it knows of them in this order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolevals.grading.files.evaluation_files.content import example_of, transcript_of
from toolevals.grading.files.evaluation_files.entries import strata_in, tools_at
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    entries_read,
    items_at,
    keys,
    object_at,
    object_in,
    unknown_keys,
)
from toolevals.grading.files.evaluation_files.judging import UNNAMED, Answer, judged, split_data
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping

_TASK = keys(
    "id data annotations completions predictions drafts meta created_at updated_at inner_id total_annotations "
    "cancelled_annotations total_predictions comment_count unresolved_comment_count last_comment_updated_at project "
    "updated_by comment_authors file_upload is_labeled overlap allow_skip precomputed_agreement agreement"
)


def detect(item: object) -> str | None:
    """Return why an item is a task; None where it is none."""
    if not isinstance(item, Mapping) or not isinstance(item.get("data"), Mapping):
        return None
    said = item.get("annotations", item.get("completions"))
    return "entries are tasks: they have data and annotations" if isinstance(said, list) else None


def read(document: object) -> Iterator[Found]:
    """Yield each task with what people said of it."""
    yield from entries_read(items_at(document), _task)


def detect_rows(item: object) -> str | None:
    """Return why an item is a row of JSON-MIN; None where it is none."""
    is_row = isinstance(item, Mapping) and item.keys() >= {"id", "annotator", "annotation_id", "lead_time"}
    return "entries are rows of JSON-MIN: they have an annotator and an annotation_id" if is_row else None


def read_rows(document: object) -> Iterator[Found]:
    """Yield each row of JSON-MIN with what its person said: rows with one id are of one task."""
    known: set[str] = set()
    for pointer, found in entries_read(items_at(document), _row):
        trial = found.trial if isinstance(found, Entry) else None
        if isinstance(found, Entry) and trial and trial.external_id in known:
            # The call that people judged was made once, however many rows repeat it.
            yield pointer, replace(found, trial=None)
        else:
            yield pointer, found
        known |= {trial.external_id} if trial else set()


def _row(item: JsonMapping) -> Entry:
    names = list(item)
    if {"annotation_id", "id"} <= item.keys() and names.index("annotation_id") < names.index("id"):
        words = (
            "stands before the data: Label Studio sorts the columns of a CSV, so the data and the answers look alike"
        )
        raise InvalidDocument.at("/annotation_id", f"{words}. Export as JSON instead of CSV")
    if not {"id", "annotator"} <= item.keys():
        raise InvalidDocument.at("", "is not a row of JSON-MIN: it has no id or no annotator")
    begin, end = names.index("id"), names.index("annotator")
    if not begin:
        words = "stands before the data, which has an id of its own: its fields and the answers look alike"
        raise InvalidDocument.at("/id", f"{words}. Export as JSON instead of JSON-MIN")
    data = {name: item[name] for name in names[:begin]} | {"id": item["id"]}
    # A cell of a table is empty where its person said nothing.
    answers = [name for name in names[begin + 1 : end] if item[name] not in (None, "")]
    results = [{"from_name": name, "value": {"text": item[name]}} for name in answers]
    entry = _task({"data": data, "annotations": [{"completed_by": item["annotator"], "result": results}]})
    losses = tuple(Problem(_flat(loss.pointer, answers), loss.message) for loss in entry.losses)
    return replace(entry, example=entry.example and replace(entry.example, losses=losses), losses=losses)


def _flat(pointer: str, answers: Sequence[str]) -> str:
    """Return the pointer into a row of JSON-MIN for one into the task that was made of it."""
    data, answer = pointer.removeprefix("/data"), re.match(r"/annotations/0/result/(\d+)", pointer)
    return pointer_to([answers[int(answer[1])]]) if answer else data


def _task(item: JsonMapping) -> Entry:
    data = object_at(item.get("data"), "/data")
    losses: list[Problem] = [*unknown_keys(item, _TASK)]
    try:
        tools, lost = tools_at(data, "tools", "functions")
    except InvalidDocument as error:
        raise error.below("/data") from None
    losses += (loss.below("/data") for loss in lost)
    content, made = split_data(data, losses, "/data")
    answers = list(_answers(item, losses))
    identifier = data.get("id", item.get("id"))
    row = example_of(
        None if identifier is None else str(identifier),
        "task",
        content,
        tools=tools,
        strata=strata_in(object_in(item, "meta")),
        losses=tuple(losses),
    )
    row = judged(row, answers, made)
    trial = None if made is None else Trial(row.external_id, transcript_of(made), content)
    return Entry(row, trial, row.losses)


def _answers(item: JsonMapping, losses: list[Problem]) -> Iterator[Answer]:
    key = "annotations" if "annotations" in item else "completions"
    for place, each in enumerate(item.get(key) or ()):
        pointer = f"/{key}/{place}"
        annotation = object_at(each, pointer)
        author = _author(annotation.get("completed_by"))
        results = annotation.get("result")
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            losses.append(Problem(pointer, f"was skipped by {author or UNNAMED}: no label"))
        elif not isinstance(results, list) or not results:
            losses.append(Problem(pointer, f"by {author or UNNAMED} says nothing: no label"))
        else:
            reviews = annotation.get("reviews")
            if any(isinstance(one, Mapping) and one.get("accepted") is False for one in reviews or ()):
                words = f"by {author or UNNAMED} was rejected in a review: it is a label all the same"
                losses.append(Problem(pointer, words))
            for number, result in enumerate(results):
                yield _answer(author, object_at(result, f"{pointer}/result/{number}"), f"{pointer}/result/{number}")


def _answer(author: str, result: JsonMapping, pointer: str) -> Answer:
    value = object_in(result, "value")
    kind = str(result.get("type") or "")
    # A text area keeps its texts under another name than its type.
    held = next((value[key] for key in (kind, "text") if key in value), dict(value))
    name = str(result.get("from_name") or kind or "answer")
    return Answer(author, name, held, pointer=pointer)


def _author(who: Any) -> str:
    """Return the name of an annotator: the e-mail address where the export has it, else the user's number."""
    if isinstance(who, Mapping):
        named = (
            who.get("email")
            or who.get("username")
            or " ".join(str(who[key]) for key in ("first_name", "last_name") if who.get(key))
        )
        return str(named or f"user {who.get('id')}")
    return f"user {who}" if isinstance(who, int) or str(who).isdecimal() else str(who or "")
