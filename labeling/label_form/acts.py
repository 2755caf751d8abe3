"""Tell what a press of a button does to the form: a call or an item added, opened, moved, taken out.

When another tool is chosen, the values of arguments that both tools have alike stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from django.http import QueryDict

from labeling.label_form.calls import item_keys
from labeling.label_form.fields import ArgumentField, Kind, argument_fields, step
from labeling.label_form.matchers import ALL, UNNAMED, CallEntries, first_matcher, matcher_keys
from labeling.label_form.plan import (
    MAX_CALLS,
    PLACES,
    Plan,
    Position,
    Step,
    add_call,
    move_call,
    place_of,
    put_call,
    remove_call,
)
from labeling.label_form.reading import Page, page_of
from toolevals.grading.values import ToolSpec
from toolevals.json_types import JsonMapping
from toolevals.workspace.requests import whole_number

# What the page sends of a field, whether or not anything was entered.
_WITHOUT_VALUE = frozenset({"m", "x", "fmt"})
_NESTED = frozenset({Kind.LIST, Kind.OBJECT, Kind.VARIANT, Kind.JSON})
# What the page puts the focus on afterwards, beside ids of controls.
FIND, FIRST = "find", "first"
_ADDRESS = re.compile(r"c([0-9]{1,5})((?:/.*)?)", re.DOTALL)


def keep_fitting(entries: CallEntries, before: JsonMapping, after: JsonMapping) -> None:
    """Drop what was entered for arguments that the tool chosen now does not have, or has of another type.

    Args:
        entries: the call's fields, changed in place.
        before: the input schema of the tool that was chosen.
        after: that of the tool chosen now.

    """
    entries.data.setlist(entries.name("e"), [])
    old = {one.path: one for one in argument_fields(before)}
    new = {one.path: one for one in argument_fields(after)}
    for path in old | new:
        if path not in old or path not in new or not _fits(entries, old[path], new[path]):
            forget(entries, path)


def forget(entries: CallEntries, path: str) -> None:
    """Drop what was entered for an argument and inside it."""
    for name in _names(entries, path):
        del entries.data[name]


def _fits(entries: CallEntries, old: ArgumentField, new: ArgumentField) -> bool:
    """Tell whether what was entered for one argument means the same for another of its name.

    An untouched one is compared as the new tool's form begins.
    """
    matcher = entries.one("m", old.path)
    if matcher in ("", first_matcher(old)) and not _is_entered(entries, old.path):
        return False
    is_alike = (old.kind, old.entries, old.choices) == (new.kind, new.entries, new.choices)
    return is_alike and matcher in {"", *matcher_keys(new)} and (new.kind not in _NESTED or old.schema == new.schema)


def _is_entered(entries: CallEntries, path: str) -> bool:
    parts = ((name.partition(".")[2].partition("/")[0], name) for name in _names(entries, path))
    return any(part not in _WITHOUT_VALUE and any(entries.data.getlist(name)) for part, name in parts)


def _names(entries: CallEntries, path: str) -> list[str]:
    own = re.compile(rf"c{entries.number}\.[a-z]+{re.escape(path)}(/.*)?", re.DOTALL)
    return [name for name in entries.data if own.fullmatch(name)]


def act(data: QueryDict, tools: Sequence[ToolSpec], to: str) -> tuple[QueryDict, str]:
    """Return the fields after an act, and what gets the focus; `data["at"]` says on what."""
    data = data.copy()
    page = page_of(data, tools)
    at = data.get("put" if to == "put" else "at", "")
    _keep_tool(page)
    if to in _ON_PLAN:
        focus = _on_plan(page, to, at)
    else:
        address = _ADDRESS.fullmatch(at)
        on_argument = _ON_ARGUMENTS.get(to)
        focus = on_argument(page.entries(int(address[1])), address[2]) if address and on_argument else ""
    return data, focus


def _keep_tool(page: Page) -> None:
    """Write the tool chosen in the list to the open call; only arguments that both have alike go over to another."""
    number = page.open
    if page.kind != "calls" or (not number and not page.data.get("tool")):
        return
    if not number:
        number = page.plan.next_number()
        page.plan.routes[0].ordered.append(Step([Position([number])]))
        page.data["open"], page.data["plan"] = str(number), page.plan.to_text()
    entries = page.entries(number)
    name = page.tool_name(number)
    before = entries.one("tool")
    is_other = before not in ("", name)
    if is_other:
        keep_fitting(entries, page.schema_of(before), page.schema_of(name))
    page.data[entries.name("tool")] = name
    _open_up(page, number, again=is_other)


def _open_up(page: Page, number: int, *, again: bool = False) -> None:
    """Let a call that must not be have any arguments, until some are named: required ones too.

    `again`: its tool has become another.
    """
    entries = page.entries(number)
    if not page.plan.calls() or place_of(page.plan, number) != "disallowed" or bool(entries.one("more")) != again:
        return
    fields = argument_fields(page.schema(number))
    unnamed = [one for one in fields if not any(entries.one(part, one.path) for part in ("m", "v"))]
    if fields and (again or len(unnamed) == len(fields)):
        page.data[entries.name("more")] = "1"
        for one in unnamed:
            page.data[entries.name("m", one.path)] = UNNAMED


def _on_plan(page: Page, to: str, at: str) -> str:
    plan, data = page.plan, page.data
    number, focus = _ON_PLAN[to](plan, page.open, at)
    for gone in set(page_of(data, page.tools).plan.calls()) - set(plan.calls()):
        for name in [name for name in data if name.startswith(f"c{gone}.")]:
            del data[name]
    data["plan"], data["open"] = plan.to_text(), str(number)
    if to == "put":
        _open_up(page, number)
    places = [str(place) for place, tool in enumerate(page.tools) if tool.name == data.get(f"c{number}.tool", "")]
    data["tool"] = places[0] if places else ""
    return focus


def _add(plan: Plan, number: int, at: str) -> tuple[int, str]:
    if len(plan.calls()) >= MAX_CALLS or at not in (*PLACES, "alternative"):
        return number, ""
    return add_call(plan, at, number), FIND


def _open(plan: Plan, number: int, at: str) -> tuple[int, str]:
    opened = whole_number(at)
    return (opened, FIRST) if opened is not None and opened in plan.calls() else (number, "")


def _put(plan: Plan, number: int, at: str) -> tuple[int, str]:
    if at in PLACES and number:
        put_call(plan, number, at)
    return number, "place"


def _move(plan: Plan, number: int, at: str) -> tuple[int, str]:
    if number:
        move_call(plan, number, -1 if at == "up" else 1)
    return number, f"call-{at}" if at in ("up", "down") else ""


def _remove(plan: Plan, number: int, _at: str) -> tuple[int, str]:
    if not number:
        return number, ""
    left = remove_call(plan, number)
    if left:
        return left, FIRST
    # An empty call in its place, of another number: nothing entered for the old one is its.
    plan.routes[0].ordered.append(Step([Position([number + 1])]))
    return number + 1, FIND


_ON_PLAN: Mapping[str, Callable[[Plan, int, str], tuple[int, str]]] = {
    "add": _add,
    "open": _open,
    "put": _put,
    "move": _move,
    "remove": _remove,
}


def _name(entries: CallEntries, path: str) -> str:
    """Make an argument a part of the label."""
    chosen = entries.data.get("as", "")
    entries.data[entries.name("m", path)] = chosen if chosen in ALL else "fields"
    return f"v:{entries.address(path)}"


def _add_item(entries: CallEntries, path: str) -> str:
    keys = item_keys(entries, path)
    key = str(max(map(int, keys), default=-1) + 1)
    entries.data.setlist(entries.name("k", path), [*keys, key])
    entries.data[entries.name("m", path)] = "items"
    return f"v:{entries.address(path)}/{key}"


def _drop_item(entries: CallEntries, path: str) -> str:
    parent, _, gone = path.rpartition("/")
    entries.data.setlist(entries.name("k", parent), [key for key in item_keys(entries, parent) if key != gone])
    forget(entries, path)
    return f"v:{entries.address(parent)}"


def _add_extra(entries: CallEntries, path: str) -> str:
    name = entries.one("new", path)
    if not name:
        return ""
    entries.data.setlist(entries.name("e", path), [*entries.every("e", path), name])
    inside = f"{path}/{step(name)}"
    entries.data[entries.name("m", inside)] = "exact"
    return f"v:{entries.address(inside)}"


def _drop_extra(entries: CallEntries, path: str) -> str:
    parent, _, gone = path.rpartition("/")
    left = [name for name in entries.every("e", parent) if step(name) != gone]
    entries.data.setlist(entries.name("e", parent), left)
    forget(entries, path)
    return f"v:{entries.address(parent)}"


_ON_ARGUMENTS: Mapping[str, Callable[[CallEntries, str], str]] = {
    "name": _name,
    "add-item": _add_item,
    "drop-item": _drop_item,
    "add-extra": _add_extra,
    "drop-extra": _drop_extra,
}
