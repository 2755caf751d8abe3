"""Reads runs of OpenAI Evals: the event log of its command, and the output items of its service.

Source: evals.record (`spec`, `sampling` and other events) and the API's `eval.run.output_item`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import content_of, example_of, said_in, transcript_of
from toolevals.grading.files.evaluation_files.entries import ideal_expectation
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
from toolevals.grading.reading.parsing.extras import usage_in
from toolevals.grading.values import Expectation, Transcript
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_ITEM = keys(
    "object id created_at run_id eval_id status datasource_item_id datasource_item results sample "
    "_datasource_item_content_hash"
)
_OBJECT = "eval.run.output_item"
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
    return _entry(name, content, transcript_of(said), (ideal, "/data/expected"), losses)


def _item(item: JsonMapping) -> Entry:
    losses = [*unknown_keys(item, _ITEM)]
    sample = object_at(item.get("sample"), "/sample")
    source = object_at(item.get("datasource_item") or {}, "/datasource_item")
    source = source["item"] if isinstance(source.get("item"), Mapping) else source
    given = sample.get("input") or source.get("input")
    content = content_of(given, "/sample/input" if sample.get("input") else "/datasource_item/input", losses)
    output = sample.get("output")
    said = said_in(output, "/sample/output", losses)
    error = sample.get("error")
    failed = error.get("message") if isinstance(error, Mapping) else None
    usage = usage_in({"usage": sample.get("usage")})
    known = {"usage": usage, "error": failed if isinstance(failed, str) and failed and not said else None}
    name = item.get("datasource_item_id")
    expected = (source.get("ideal"), "/datasource_item/ideal")
    return _entry(None if name is None else f"item-{name}", content, transcript_of(said, **known), expected, losses)


def _entry(
    name: str | None,
    content: JsonObject,
    trial: Transcript,
    expected: tuple[Any, str],
    losses: list[Problem],
) -> Entry:
    expectation: Expectation | None = None
    ideal, pointer = expected
    if ideal not in (None, "", []):
        expectation, words = ideal_expectation(ideal, pointer)
        losses += [Problem(pointer, "is words and no call: expected as the answer without a call")] if words else []
    row = example_of(name, "eval", content, expectation=expectation, losses=tuple(losses))
    return Entry(row, Trial(row.external_id, trial, content), tuple(losses))
