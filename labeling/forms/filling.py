"""From an expectation back to what the label page's form would send for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from labeling.forms.entries import fill_entry
from labeling.forms.fields import ArgumentField, Kind, argument_fields
from labeling.forms.reading import NONE, read_form
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Expectation, ToolSpec


def fill_form(document: Mapping[str, Any], tools: Sequence[ToolSpec]) -> QueryDict | None:
    """Return the form's fields for an expectation, or None where the form cannot say all of it.

    The form is read back and compared: what it shows is what the expectation says, nothing more and nothing less.
    """
    normal = _normal(document)
    if normal is None:
        return None
    data = QueryDict(mutable=True)
    if normal.get("kind") == "no_call":
        data.update({"tool": NONE, "why": str(normal.get("why") or "")})
    elif (call := _only_call(normal)) is not None:
        _fill_call(data, normal, call, tools)
    read = read_form(data, tools).document
    return data if read is not None and _normal(read) == normal else None


def _normal(document: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        return Expectation.from_document(dict(document)).to_document()
    except InvalidDocument:
        return None


def _only_call(normal: Mapping[str, Any]) -> dict[str, Any] | None:
    alternatives = normal.get("alternatives") or []
    calls = (alternatives[0].get("ordered") or []) if len(alternatives) == 1 else []
    return calls[0] if len(calls) == 1 and "tool" in calls[0] else None


def _fill_call(data: QueryDict, normal: Mapping[str, Any], call: Mapping[str, Any], tools: Sequence[ToolSpec]) -> None:
    place = next((number for number, tool in enumerate(tools) if tool.name == call["tool"]), None)
    if place is None:
        return
    data["tool"] = str(place)
    if call.get("additional_arguments", True):
        data["other_arguments"] = "1"
    if normal["alternatives"][0].get("additional_calls", True):
        data["other_calls"] = "1"
    _fill_fields(data, argument_fields(tools[place].input_schema), call.get("arguments") or {})


def _fill_fields(data: QueryDict, fields: Iterable[ArgumentField], matchers: Mapping[str, Any]) -> None:
    for field in fields:
        matcher = matchers.get(field.name)
        if matcher is None:
            continue
        if field.kind is Kind.OBJECT and "fields" in matcher:
            data[f"m:{field.path}"] = "fields"
            _fill_fields(data, field.children, matcher["fields"])
            continue
        for name, values in fill_entry(field, matcher).items():
            data.setlist(name, values)
