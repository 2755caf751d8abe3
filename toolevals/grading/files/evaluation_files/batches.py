"""Reads the output files of batch jobs of OpenAI, Anthropic and Gemini as predictions, named by the request's id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolevals.grading.files.evaluation_files.entry import Entry, Found, Trial, entries_read, items_at, object_in
from toolevals.grading.reading.parsing import read_transcript
from toolevals.grading.values import Transcript
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

_BAD_STATUS = 400


def detect_openai(item: object) -> str | None:
    """Return why an item is a line of OpenAI's output; None where it is none."""
    is_line = isinstance(item, Mapping) and {"custom_id", "response"} <= item.keys()
    return "lines have custom_id and response" if is_line else None


def detect_anthropic(item: object) -> str | None:
    """Return why an item is a line of Anthropic's results; None where it is none."""
    is_line = isinstance(item, Mapping) and "custom_id" in item and "type" in object_in(item, "result")
    return "lines have custom_id and result with a type" if is_line else None


def detect_gemini(item: object) -> str | None:
    """Return why an item is a line of Gemini's output; None where it is none."""
    if not isinstance(item, Mapping) or not {"key", "request"} & item.keys():
        return None
    if "candidates" in object_in(item, "response"):
        return "lines have a key or request, and a response with candidates"
    return "lines have a key and an error" if "key" in item and isinstance(item.get("error"), Mapping) else None


def read_openai(document: object) -> Iterator[Found]:
    """Yield a trial for each request."""
    yield from entries_read(items_at(document), _openai)


def read_anthropic(document: object) -> Iterator[Found]:
    """Yield a trial for each request."""
    yield from entries_read(items_at(document), _anthropic)


def read_gemini(document: object) -> Iterator[Found]:
    """Yield a trial for each request."""
    yield from entries_read(items_at(document), _gemini)


def _openai(item: JsonMapping) -> Entry:
    response, error = object_in(item, "response"), item.get("error")
    status, body = response.get("status_code"), response.get("body")
    if error or not isinstance(body, Mapping) or (isinstance(status, int) and status >= _BAD_STATUS):
        told = error or (object_in(body, "error") if isinstance(body, Mapping) else None)
        return _failed(_name(item, "custom_id"), told, f"status {status}" if status else "no response")
    return _answered(_name(item, "custom_id"), body, "/response/body")


def _anthropic(item: JsonMapping) -> Entry:
    result = object_in(item, "result")
    if result.get("type") != "succeeded":
        error = object_in(result, "error")
        return _failed(_name(item, "custom_id"), error.get("error", error), f"the request {result.get('type')}")
    return _answered(_name(item, "custom_id"), result.get("message"), "/result/message")


def _gemini(item: JsonMapping) -> Entry:
    name = _name(item, "key") if "key" in item else ""
    if not name:
        labels = object_in(object_in(item, "request"), "labels")
        name = next((str(labels[key]) for key in ("id", "key", "custom_id") if labels.get(key)), "")
        if not name:
            raise InvalidDocument.at("/key", "is missing, and the request has no label id: nothing names the example")
    if item.get("error") or "candidates" not in object_in(item, "response"):
        return _failed(name, item.get("error") or item.get("status"), "no candidates")
    return _answered(name, item["response"], "/response")


def _name(item: JsonMapping, key: str) -> str:
    if not isinstance(name := item.get(key), str) or not name:
        raise InvalidDocument.at(f"/{key}", "is not text: it names the example")
    return name


def _answered(name: str, response: object, pointer: str) -> Entry:
    try:
        read = read_transcript(response)
    except InvalidDocument as error:
        raise error.below(pointer) from None
    losses = tuple(Problem(pointer + each.first, f"{each.count:,} × {each.what}: left out") for each in read.losses)
    return Entry(trial=Trial(name, read.transcript, {}), losses=losses)


def _failed(name: str, error: object, otherwise: str) -> Entry:
    message = error.get("message") if isinstance(error, Mapping) else error
    told = message if isinstance(message, str) and message else otherwise
    return Entry(trial=Trial(name, Transcript((), error=told), {}))
