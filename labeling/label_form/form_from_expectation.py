"""Turn an expectation back into the fields of the label page's form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from labeling.label_form.calls import fill_call
from labeling.label_form.matchers import CallEntries
from labeling.label_form.plan import MAX_CALLS, plan_of
from labeling.label_form.reading import ANY_CALL, NONE, fill_beside, fill_why, read_form
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.problems import InvalidDocument

# A form with more fields than this stays JSON: servers take a limited number.
MAX_FIELDS = 900
# What a text field of a browser would change.
_CONTROLS = re.compile(r"[\x00-\x1f]")
_LINES = ("why_own", "says_pattern")


def fill_form(document: Mapping[str, Any], tools: Sequence[ToolSpec]) -> QueryDict | None:
    """Return the form's fields for an expectation, or None where the form cannot say all of it.

    The form is read back and compared: what it shows is what the expectation says, nothing more and nothing less.
    """
    normal = _normal(document)
    if normal is None:
        return None
    filled = _fill_kind(normal, tools)
    if filled is None:
        return None
    filled |= fill_beside(normal)
    if any(_CONTROLS.search(filled[name][0]) for name in _LINES if filled.get(name)):
        return None
    data = QueryDict(mutable=True)
    for name, values in filled.items():
        data.setlist(name, values)
    read = read_form(data, tools).document
    back = _normal(read) if read is not None else None
    is_short = sum(len(values) for _, values in data.lists()) <= MAX_FIELDS
    return data if is_short and back is not None and canonical(back) == canonical(normal) else None


def _normal(document: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        return Expectation.from_document(dict(document)).to_document()
    except InvalidDocument:
        return None


def _fill_kind(normal: Mapping[str, Any], tools: Sequence[ToolSpec]) -> dict[str, list[str]] | None:
    if normal["kind"] == "no_call":
        return {"tool": [NONE], **fill_why(normal)}
    return {"tool": [ANY_CALL]} if normal["kind"] == "some_call" else _fill_calls(normal, tools)


def _fill_calls(normal: Mapping[str, Any], tools: Sequence[ToolSpec]) -> dict[str, list[str]] | None:
    plan, calls = plan_of(normal["alternatives"])
    if len(calls) > MAX_CALLS:
        return None
    filled = {"plan": [plan.to_text()]}
    for route, document in zip(plan.routes, normal["alternatives"], strict=True):
        if document.get("additional_calls", True):
            filled[f"a{route.number}.more"] = ["1"]
    around = QueryDict(mutable=True)
    around["plan"] = plan.to_text()
    places = {tool.name: place for place, tool in reversed(list(enumerate(tools)))}
    for number, call in calls.items():
        schema = tools[places[call["tool"]]].input_schema if call["tool"] in places else {}
        filled |= fill_call(CallEntries(around, number), schema, call)
    first = next(iter(calls), 0)
    if first:
        filled["open"] = [str(first)]
        if calls[first]["tool"] in places:
            filled["tool"] = [str(places[calls[first]["tool"]])]
    return filled
