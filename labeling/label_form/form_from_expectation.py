"""Turn an expectation back into the fields of the label page's form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from labeling.label_form.calls import EntryError, chosen_field, read_entry
from labeling.label_form.fields import (
    IN_LINE,
    ArgumentField,
    Kind,
    Root,
    argument_fields,
    children_of,
    extra_field,
    item_of,
    variant_of,
)
from labeling.label_form.matchers import FREE, IS_EMPTY, IS_NULL, RAW, RESULT_OF, UNNAMED, CallEntries, first_matcher
from labeling.label_form.plan import MAX_CALLS, plan_of
from labeling.label_form.reading import ANY_CALL, EXPECTATION, NONE, OWN, REASONS, read_form
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

# Of variants in variants so many are tried together for one value.
MAX_TRIES = 60
# A form with more fields than this stays JSON: servers take a limited number.
MAX_FIELDS = 900
# What a text field of a browser would change.
_CHANGED_BY_BROWSERS = re.compile(r"[\x00-\x09\x0b-\x1f]")
_CONTROLS = re.compile(r"[\x00-\x1f]")
_LINES = ("why_own", "says_pattern")


def empty_form() -> QueryDict:
    """Return the fields of a page on which nothing is entered yet."""
    return QueryDict()


def form_of(document: JsonMapping | None, tools: Sequence[ToolSpec], *, answer: str = EXPECTATION) -> QueryDict:
    """Return the page's fields for a label: as a form where it can say all of it, else as raw JSON."""
    data = QueryDict(mutable=True)
    if document is None:
        data["tool"] = answer
        return data
    filled = fill_form(document, tools)
    if filled is not None:
        return filled
    data.update({"mode": "json", "json": expectation_text(document)})
    return data


def expectation_text(document: JsonMapping) -> str:
    """Return an expectation as the page shows it where that is raw JSON."""
    return json.dumps(document, ensure_ascii=False, indent=2)


def fill_form(document: JsonMapping, tools: Sequence[ToolSpec]) -> QueryDict | None:
    """Return the form's fields for an expectation, or None where the form cannot say all of it.

    The form is read back and compared: what it shows is what the expectation says, nothing more and nothing less.
    """
    normal = _normal(document)
    if normal is None:
        return None
    filled = _fill_kind(normal, tools)
    if filled is None:
        return None
    filled |= _fill_beside(normal)
    if any(_CONTROLS.search(filled[name][0]) for name in _LINES if filled.get(name)):
        return None
    data = QueryDict(mutable=True)
    for name, values in filled.items():
        data.setlist(name, values)
    read = read_form(data, tools).document
    back = _normal(read) if read is not None else None
    is_short = sum(len(values) for _, values in data.lists()) <= MAX_FIELDS
    return data if is_short and back is not None and canonical(back) == canonical(normal) else None


def _normal(document: JsonMapping) -> JsonObject | None:
    try:
        return Expectation.from_document(dict(document)).to_document()
    except InvalidDocument:
        return None


def _fill_kind(normal: JsonMapping, tools: Sequence[ToolSpec]) -> dict[str, list[str]] | None:
    if normal["kind"] == "no_call":
        return {"tool": [NONE], **_fill_why(normal)}
    return {"tool": [ANY_CALL]} if normal["kind"] == "some_call" else _fill_calls(normal, tools)


def _fill_calls(normal: JsonMapping, tools: Sequence[ToolSpec]) -> dict[str, list[str]] | None:
    plan, calls = plan_of(normal["alternatives"])
    if len(calls) > MAX_CALLS:
        return None
    filled = {"plan": [plan.to_text()]}
    for route, document in zip(plan.routes, normal["alternatives"], strict=True):
        if document.get("additional_calls", True):
            filled[f"a{route.number}.more"] = ["1"]
    around = QueryDict(mutable=True)
    places = {tool.name: place for place, tool in reversed(list(enumerate(tools)))}
    for number, call in calls.items():
        schema = tools[places[call["tool"]]].input_schema if call["tool"] in places else {}
        filled |= fill_call(CallEntries(around, number, plan), schema, call)
    first = next(iter(calls), 0)
    if first:
        filled["open"] = [str(first)]
        if calls[first]["tool"] in places:
            filled["tool"] = [str(places[calls[first]["tool"]])]
    return filled


Parts = dict[str, list[str]]


def fill_call(entries: CallEntries, schema: JsonMapping, call: JsonMapping) -> Parts:
    """Return what the form would send for an expected call, by field name."""
    known = argument_fields(schema)
    matchers: JsonMapping = call.get("arguments") or {}
    filled: Parts = {entries.name("tool"): [call["tool"]]}
    if call.get("additional_arguments", True):
        filled[entries.name("more")] = ["1"]
    return filled | _fill_fields(entries, known, matchers, (schema, Root(schema), ""))


def _fill_fields(
    entries: CallEntries,
    known: Iterable[ArgumentField],
    matchers: JsonMapping,
    inside: tuple[JsonMapping, Root, str],
    tries: int = MAX_TRIES,
) -> Parts:
    schema, root, path = inside
    filled: Parts = {}
    names = set()
    for one in known:
        names.add(one.name)
        if one.name in matchers:
            filled |= _fill_field(entries, one, matchers[one.name], tries)
        elif first_matcher(chosen_field(entries, one)) != UNNAMED:
            filled[entries.name("m", one.path)] = [UNNAMED]
    extras = [name for name in matchers if name not in names]
    if extras:
        filled[entries.name("e", path)] = extras
    for name in extras:
        filled |= _fill_field(entries, extra_field(schema, root, path, name), matchers[name], tries)
    return filled


def _fill_field(entries: CallEntries, one: ArgumentField, matcher: JsonMapping, tries: int) -> Parts:
    """Return a field's parts; so many variants are tried, those in each other multiplied."""
    if one.kind is not Kind.VARIANT:
        return _fill_plain(entries, one, matcher, tries)
    tried = []
    count = min(len(one.variants), tries)
    for number in range(count):
        variant = variant_of(one, number)
        parts = _fill_plain(entries, variant, matcher, max(1, tries // count))
        filled = {entries.name("x", one.path): [str(number)], **parts}
        tried.append((_awkwardness(filled) + _misfits(variant, matcher), filled))
    return min(tried, key=lambda pair: pair[0])[1]


def _fill_plain(entries: CallEntries, one: ArgumentField, matcher: JsonMapping, tries: int) -> Parts:
    path = one.path
    if "fields" in matcher:
        filled: Parts = {entries.name("m", path): ["fields"]}
        filled |= _fill_fields(entries, children_of(one), matcher["fields"], (one.schema, one.root, path), tries)
        if matcher.get("additional_fields"):
            filled[entries.name("more", path)] = ["1"]
    elif "items" in matcher:
        keys = [str(number) for number in range(len(matcher["items"]))]
        filled = {entries.name("m", path): ["items"], entries.name("k", path): keys}
        for key, item in zip(keys, matcher["items"], strict=True):
            filled |= _fill_field(entries, item_of(one, key), item, tries)
    else:
        return {entries.name(part, path): values for part, values in _fill_entry(entries, one, matcher).items()}
    if matcher.get("optional"):
        filled[entries.name("o", path)] = ["1"]
    return filled


def _awkwardness(filled: Parts) -> int:
    """Return how much of a filled form is raw JSON or beyond the schema: the fitting variant has least of it."""
    extras = sum(len(values) for name, values in filled.items() if ".e/" in name or name.endswith(".e"))
    return extras + sum(".m" in name and values == [RAW] for name, values in filled.items())


def _misfits(variant: ArgumentField, matcher: JsonMapping) -> bool:
    """Return whether a matcher is for values of another kind than a variant takes."""
    value = matcher.get("exact")
    is_object, is_list = "fields" in matcher or isinstance(value, dict), "items" in matcher or isinstance(value, list)
    wanted = Kind.OBJECT if is_object else Kind.LIST if is_list else None
    return variant.kind not in (wanted, Kind.JSON) if wanted else variant.kind in (Kind.OBJECT, Kind.LIST)


def _fill_entry(entries: CallEntries, field: ArgumentField, matcher: JsonMapping) -> dict[str, list[str]]:
    """Return what the form would send for a matcher, by part; as JSON where nothing else says just the same."""
    parts = _filled(entries, field, matcher)
    if parts is None or _read_back(entries, field, parts) != canonical(matcher):
        return {"m": [RAW], "v": [json.dumps(matcher, ensure_ascii=False)]}
    return parts


def _read_back(around: CallEntries, field: ArgumentField, parts: Mapping[str, list[str]]) -> str | None:
    data = QueryDict(mutable=True)
    entries = CallEntries(data, around.number, around.plan)
    for part, values in parts.items():
        if any(map(_CHANGED_BY_BROWSERS.search, values)):
            return None
        data.setlist(entries.name(part, field.path), values)
    try:
        return canonical(read_entry(entries, field, parts["m"][0]))
    except EntryError:
        return None


def _filled(entries: CallEntries, field: ArgumentField, matcher: JsonMapping) -> dict[str, list[str]] | None:
    if matcher.get("key_only") and matcher.get("optional"):
        return {"m": [FREE]}
    key = next((name for name in matcher if name != "optional"), "")
    value: Any = matcher.get(key)
    parts = {"m": [key], **({"o": ["1"]} if matcher.get("optional") else {})}
    if key == "exact":
        return parts | _fill_exact(field, value)
    if key == "one_of":
        listed = [_shown(one, field.kind) for one in value] if field.kind in IN_LINE else [_pretty(value)]
        return parts | {"v": listed}
    if key == "range":
        return parts | {part: [_bound(one)] for part, one in zip(("lo", "hi"), value, strict=True)}
    if key == "approximately":
        bounds = {part: [_bound(value.get(name))] for part, name in (("abs", "absolute"), ("rel", "relative"))}
        return parts | {"v": [_bound(value["value"])]} | bounds
    if key == RESULT_OF:
        before = entries.before()[value["call"] - 1 : value["call"]]
        return parts | {"of": [str(before[0].options[0])], "v": [value["pointer"]]} if before else None
    if key == "date_equal" and isinstance(value, Mapping):
        return parts | {"v": [value["date"]], "fmt": value["formats"][:1]}
    return parts | ({} if value is True else {"v": [str(value)]})


def _fill_exact(field: ArgumentField, value: Any) -> dict[str, list[str]]:
    if value is None and field.kind is not Kind.CHOICE:
        return {"m": [IS_NULL]}
    if (value == "" and field.kind is Kind.TEXT) or (value == [] and field.kind is Kind.LIST):
        return {"m": [IS_EMPTY]}
    if field.kind is Kind.LIST and isinstance(value, list) and field.entries in IN_LINE:
        return {"v": [_shown_in_list(entry, field) for entry in value]}
    return {"v": [_shown(value, field.kind) if field.kind in IN_LINE else _pretty(value)]}


def _bound(value: float | None) -> str:
    return "" if value is None else json.dumps(value)


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _shown(value: Any, kind: Kind) -> str:
    if kind is Kind.TEXT and isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _shown_in_list(value: Any, field: ArgumentField) -> str:
    literal = _shown(value, field.entries)
    return next((choice.shown for choice in field.choices if choice.literal == literal), literal)


def _fill_why(document: JsonMapping) -> dict[str, list[str]]:
    """Return what the form would send for the reason of no call, and for the tools that come near."""
    why = str(document.get("why") or "")
    near = {"near": list(document["near"])} if document.get("near") else {}
    if not why or why in {reason for reason, _, _ in REASONS}:
        return {"why": [why], **near}
    return {"why": [OWN], "why_own": [why], **near}


def _fill_beside(document: JsonMapping) -> dict[str, list[str]]:
    """Return what the form would send for what is next to the calls."""
    filled: dict[str, list[str]] = {}
    if document.get("reactions"):
        filled["reaction"] = list(document["reactions"])
    answer = document.get("answer")
    if answer is not None:
        filled["says"] = list(answer.get("contains") or [])
        filled["says_exact"], filled["says_pattern"] = [answer.get("exact", "")], [answer.get("pattern", "")]
    if document.get("state") is not None:
        filled["state"] = [json.dumps(document["state"], ensure_ascii=False, indent=1)]
    if document.get("profile", "standard") != "standard":
        filled["profile"] = [document["profile"]]
    sections = {"reactions": "reaction", "answer": "says", "state": "state", "profile": "profile"}
    filled["also"] = [section for section, name in sections.items() if name in filled]
    return filled
