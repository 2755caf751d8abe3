"""Turn one call's fields into its expected call, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labeling.label_form.fields import (
    ArgumentField,
    Kind,
    Root,
    argument_fields,
    children_of,
    extra_field,
    item_of,
    variant_of,
)
from labeling.label_form.matchers import (
    RAW,
    UNNAMED,
    CallEntries,
    EntryError,
    fill_entry,
    first_matcher,
    matcher_keys,
    matcher_of,
    read_entry,
)
from toolevals.grading.values.problems import pointer_to

MAX_EXTRAS = 100
MAX_ITEMS = 200
# Of variants in variants so many are tried together for one value.
MAX_TRIES = 60
_KEY = re.compile(r"[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A problem, and the field next to which it is shown.

    The field is an argument's ("c1/order_id"), a call's as a whole ("c1"), another of the form's names ("tool", "why",
    "json"), or "" for the label as a whole.
    """

    field: str
    message: str


@dataclass(slots=True)
class ReadProblems:
    """The problems that reading found, and the field that each pointer into the document came from."""

    problems: list[FieldProblem] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)

    def field_at(self, pointer: str) -> str:
        """Return the field that a pointer into the document lies in; "" for none."""
        while pointer and pointer not in self.origins:
            pointer = pointer.rpartition("/")[0]
        return self.origins.get(pointer, "")


def chosen_field(entries: CallEntries, one: ArgumentField) -> ArgumentField:
    """Return a field as the chosen one of its variants says it; the first one unless another was chosen."""
    if one.kind is not Kind.VARIANT:
        return one
    chosen = entries.one("x", one.path)
    return variant_of(one, int(chosen) if _KEY.fullmatch(chosen) else 0)


def extra_names(entries: CallEntries, path: str, known: Iterable[ArgumentField]) -> list[str]:
    """Return the names of the properties that were added to those of the schema."""
    names = {one.name for one in known}
    return [name for name in dict.fromkeys(entries.every("e", path)) if name not in names][:MAX_EXTRAS]


def item_keys(entries: CallEntries, path: str) -> list[str]:
    """Return the keys of a list's items, in order."""
    return [key for key in dict.fromkeys(entries.every("k", path)) if _KEY.fullmatch(key)][:MAX_ITEMS]


def shown_item_keys(entries: CallEntries, one: ArgumentField) -> list[str]:
    """Return the keys of the items that a list shows: one is open where its schema does not admit an empty list."""
    return item_keys(entries, one.path) or (["0"] if one.fewest_items > 0 else [])


def fields_of_call(entries: CallEntries, schema: Mapping[str, Any]) -> list[ArgumentField]:
    """Return the fields of a call: those of the tool's schema, then those that were added."""
    known = argument_fields(schema)
    root = Root(schema)
    return [*known, *(extra_field(schema, root, "", name) for name in extra_names(entries, "", known))]


def fields_of_object(entries: CallEntries, one: ArgumentField) -> list[ArgumentField]:
    """Return the fields of an object argument: those of its schema, then those that were added."""
    known = children_of(one)
    names = extra_names(entries, one.path, known)
    return [*known, *(extra_field(one.schema, one.root, one.path, name) for name in names)]


def read_call(entries: CallEntries, schema: Mapping[str, Any], at: str, read_problems: ReadProblems) -> dict[str, Any]:
    """Return the expected call without its tool; `at` is where it stands in the expectation."""
    read_problems.origins[at] = entries.address("")
    matchers = _read_fields(entries, fields_of_call(entries, schema), f"{at}/arguments", read_problems)
    return {"arguments": matchers, "additional_arguments": bool(entries.one("more"))}


def _read_fields(
    entries: CallEntries, fields: Iterable[ArgumentField], at: str, read_problems: ReadProblems
) -> dict[str, Any]:
    matchers = {}
    for one in fields:
        document = _read_field(entries, one, at + pointer_to([one.name]), read_problems)
        if document is not None:
            matchers[one.name] = document
    return matchers


def _read_field(
    entries: CallEntries, one: ArgumentField, at: str, read_problems: ReadProblems
) -> dict[str, Any] | None:
    """Return one field's matcher; None where the label does not name it, or what was entered cannot be read."""
    one = chosen_field(entries, one)
    read_problems.origins[at] = entries.address(one.path)
    matcher = matcher_of(entries, one)
    if matcher == UNNAMED and not one.is_item:
        return None
    if matcher not in matcher_keys(one):
        read_problems.problems.append(FieldProblem(entries.address(one.path), "Cannot be compared in this way."))
        return None
    try:
        if matcher in ("fields", "items"):
            return _read_parts(entries, one, matcher, at, read_problems)
        return read_entry(entries, one, matcher)
    except EntryError as problem:
        read_problems.problems.append(FieldProblem(entries.address(one.path), str(problem)))
        return None


def _read_parts(
    entries: CallEntries, one: ArgumentField, matcher: str, at: str, read_problems: ReadProblems
) -> dict[str, Any]:
    document: dict[str, Any]
    if matcher == "fields":
        document = {"fields": _read_fields(entries, fields_of_object(entries, one), f"{at}/fields", read_problems)}
        if entries.one("more", one.path):
            document["additional_fields"] = True
    else:
        items: list[Any] = []
        for key in shown_item_keys(entries, one):
            item = _read_field(entries, item_of(one, key), f"{at}/items/{len(items)}", read_problems)
            if item is not None:
                items.append(item)
        document = {"items": items}
    if entries.one("o", one.path):
        document["optional"] = True
    return document


Parts = dict[str, list[str]]


def fill_call(entries: CallEntries, schema: Mapping[str, Any], call: Mapping[str, Any]) -> Parts:
    """Return what the form would send for an expected call, by field name."""
    known = argument_fields(schema)
    matchers: Mapping[str, Any] = call.get("arguments") or {}
    filled: Parts = {entries.name("tool"): [call["tool"]]}
    if call.get("additional_arguments", True):
        filled[entries.name("more")] = ["1"]
    return filled | _fill_fields(entries, known, matchers, (schema, Root(schema), ""))


def _fill_fields(
    entries: CallEntries,
    known: Iterable[ArgumentField],
    matchers: Mapping[str, Any],
    inside: tuple[Mapping[str, Any], Root, str],
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


def _fill_field(entries: CallEntries, one: ArgumentField, matcher: Mapping[str, Any], tries: int) -> Parts:
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


def _fill_plain(entries: CallEntries, one: ArgumentField, matcher: Mapping[str, Any], tries: int) -> Parts:
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
        return {entries.name(part, path): values for part, values in fill_entry(entries, one, matcher).items()}
    if matcher.get("optional"):
        filled[entries.name("o", path)] = ["1"]
    return filled


def _awkwardness(filled: Parts) -> int:
    """Return how much of a filled form is raw JSON or beyond the schema: the fitting variant has least of it."""
    extras = sum(len(values) for name, values in filled.items() if ".e/" in name or name.endswith(".e"))
    return extras + sum(".m" in name and values == [RAW] for name, values in filled.items())


def _misfits(variant: ArgumentField, matcher: Mapping[str, Any]) -> bool:
    """Return whether a matcher is for values of another kind than a variant takes."""
    value = matcher.get("exact")
    is_object, is_list = "fields" in matcher or isinstance(value, dict), "items" in matcher or isinstance(value, list)
    wanted = Kind.OBJECT if is_object else Kind.LIST if is_list else None
    return variant.kind not in (wanted, Kind.JSON) if wanted else variant.kind in (Kind.OBJECT, Kind.LIST)
