"""Reads records of Argilla, as its SDK exports them: nested, flat as on a hub, or as its server answers.

Source: `Record.to_dict` and `GenericIO` of the package `argilla` 2, and `FeedbackRecord` of version 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import example_of, json_in, transcript_of
from toolevals.grading.files.evaluation_files.entries import strata_in, tools_at
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    entries_read,
    items_at,
    keys,
    object_in,
    unknown_keys,
)
from toolevals.grading.files.evaluation_files.judging import Answer, judged, split_data
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_RECORD = keys(
    "id fields responses suggestions metadata vectors external_id _server_id status inserted_at updated_at dataset_id"
)
_RESPONSES = ".responses"
# Parts of flat records that no person has said.
_BY_MODELS = (".suggestion", ".suggestion.score", ".suggestion.agent")
_SUBMITTED = (None, "", "submitted")
# Ends of the columns in which version 1 keeps what models suggested.
_SUGGESTED = ("-suggestion", "-suggestion-metadata")


def detect(item: object) -> str | None:
    """Return why an item is a record; None where it is none."""
    if not isinstance(item, Mapping):
        return None
    if isinstance(item.get("fields"), Mapping) and isinstance(item.get("responses"), Mapping | list):
        return "entries are records: they have fields and responses"
    if any(str(key).endswith(".responses.users") for key in item):
        return "entries are flat records: they have responses and their users"
    if any(
        str(key).endswith("-suggestion") and _of_version_1(item.get(str(key).removesuffix("-suggestion"))) is not None
        for key in item
    ):
        return "entries are flat records of version 1: they have suggestions next to responses"
    return None


def read(document: object) -> Iterator[Found]:
    """Yield each record with what people answered."""
    yield from entries_read(items_at(document), _record)


def _record(item: JsonMapping) -> Entry:
    losses: list[Problem] = []
    if isinstance(item.get("fields"), Mapping):
        fields, pointer = item["fields"], "/fields"
        losses += unknown_keys(item, _RECORD)
        answers = list(_nested(item.get("responses"), losses))
    else:
        ends = (*_BY_MODELS, *_SUGGESTED, _RESPONSES, f"{_RESPONSES}.users", f"{_RESPONSES}.status")
        asked = {str(key).removesuffix("-suggestion") for key in item if str(key).endswith("-suggestion")}
        fields = {
            key: value
            for key, value in item.items()
            if key not in _RECORD and not str(key).endswith(ends) and key not in asked
        }
        pointer = ""
        answers = list(_flat(item, losses))
    try:
        tools, lost = tools_at(fields, "tools", "functions")
    except InvalidDocument as error:
        raise error.below(pointer) from None
    losses += (loss.below(pointer) for loss in lost)
    content, made = split_data(_without_empty(fields), losses, pointer)
    metadata = json_in(item.get("metadata"))
    strata = strata_in(metadata if isinstance(metadata, Mapping) else fields)
    identifier = item.get("external_id") or item.get("id")
    row = example_of(identifier, "record", content, tools=tools, strata=strata, losses=tuple(losses))
    row = judged(row, answers, made)
    trial = None if made is None else Trial(row.external_id, transcript_of(made), content)
    return Entry(row, trial, row.losses)


def _without_empty(fields: JsonMapping) -> JsonObject:
    """Return the fields that hold something: an export gives every record the fields of all."""
    return {str(key): value for key, value in fields.items() if value is not None}


def _nested(responses: Any, losses: list[Problem]) -> Iterator[Answer]:
    if isinstance(responses, Mapping):
        for question, given in responses.items():
            for place, each in enumerate(given if isinstance(given, list) else [given]):
                if isinstance(each, Mapping):
                    answer = Answer(
                        _author(each), question, each.get("value"), pointer=f"/responses/{question}/{place}"
                    )
                    yield from _submitted(answer, each.get("status"), losses)
        return
    for place, each in enumerate(responses if isinstance(responses, list) else ()):
        if not isinstance(each, Mapping):
            continue
        for question, said in object_in(each, "values").items():
            value = said.get("value") if isinstance(said, Mapping) else said
            answer = Answer(_author(each), question, value, pointer=f"/responses/{place}/values/{question}")
            yield from _submitted(answer, each.get("status"), losses)


def _of_version_1(given: object) -> list[JsonMapping] | None:
    """Return the responses of a question in a record of version 1, as rows or as columns; None where there are none."""
    value = json_in(given)
    if isinstance(value, Mapping) and {"user_id", "value", "status"} <= value.keys():
        columns = {key: each if isinstance(each, list) else [each] for key, each in value.items()}
        return [{key: _at(each, place) for key, each in columns.items()} for place in range(len(columns["value"]))]
    if not isinstance(value, list):
        return [] if value is None else None
    return value if all(isinstance(each, Mapping) and "value" in each for each in value) else None


def _flat(item: JsonMapping, losses: list[Problem]) -> Iterator[Answer]:
    for key, values in item.items():
        if f"{key}-suggestion" in item:
            for place, each in enumerate(_of_version_1(values) or ()):
                answer = Answer(_author(each), key, each["value"], pointer=f"/{key}/{place}")
                yield from _submitted(answer, each.get("status"), losses)
        if not key.endswith(_RESPONSES):
            continue
        question = key.removesuffix(_RESPONSES)
        given = json_in(values)
        users, states = (json_in(item.get(f"{key}.{part}")) for part in ("users", "status"))
        for place, value in enumerate(given if isinstance(given, list) else ()):
            author = _author({"user_id": _at(users, place)})
            yield from _submitted(
                Answer(author, question, value, pointer=f"/{key}/{place}"), _at(states, place), losses
            )


def _at(values: Any, place: int) -> Any:
    return values[place] if isinstance(values, list) and place < len(values) else None


def _author(response: JsonMapping) -> str:
    return f"user {response['user_id']}" if response.get("user_id") else ""


def _submitted(answer: Answer, status: Any, losses: list[Problem]) -> Iterator[Answer]:
    if answer.value in (None, ""):
        return
    if status in _SUBMITTED:
        yield answer
    else:
        losses.append(Problem(answer.pointer, f"{answer.name} is {status}, not submitted: no label"))
