"""Tell what the label page's right-hand pane shows.

The open call's arguments as rows, or the expectation as raw JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from labeling.forms.acts import act
from labeling.forms.calls import fields_of_call
from labeling.forms.fields import takes_extras
from labeling.forms.filling import fill_form
from labeling.forms.moves import place_of, places_for
from labeling.forms.non_call_fields import (
    OWN,
    PROFILES,
    REASONS,
    RIGHT_REACTIONS,
    SECTIONS,
    NonCallFields,
    non_call_fields_of,
)
from labeling.forms.outline import PLACE_WORDS, RouteEntries, outline_of
from labeling.forms.reading import EXPECTATION, NONE, Entered, Page, page_of, read_json, read_label
from labeling.forms.rows import Row, rows_of
from toolevals.grading.values import ToolSpec

# Where a call can be added: the act, the words of its button, its key.
ADDITIONS = (
    ("ordered", "Then", "+"),
    ("group", "In any order", "i"),
    ("alternative", "Or another", "o"),
    ("disallowed", "Must not call", "d"),
)


@dataclass(frozen=True, slots=True)
class Panel:
    """The pane, and what else the page needs to know of what is entered."""

    mode: str
    # The chosen row of the tool list: a place, "none", "any", an answer or "".
    choice: str
    # The open call: its number, its tool's name, the tool where it is offered.
    open: int = 0
    tool_name: str = ""
    tool: ToolSpec | None = None
    rows: tuple[Row, ...] = ()
    other_arguments: bool = False
    takes_extras: bool = False
    # Its alternative, and whether more calls may follow in it.
    route: int = 1
    other_calls: bool = False
    outline: tuple[RouteEntries, ...] = ()
    place: str = ""
    places: tuple[tuple[str, str], ...] = ()
    # Fields that are kept and not shown: the plan, the other calls.
    kept: tuple[tuple[str, str], ...] = ()
    why: str = ""
    why_own: str = ""
    # The tools that the request comes near, and those that can be named.
    near: tuple[str, ...] = ()
    near_tools: tuple[str, ...] = ()
    beside: NonCallFields = field(default_factory=lambda: NonCallFields(frozenset()))
    json: str = ""
    # Why the form cannot be shown, where that was asked for.
    note: str = ""
    # What gets the focus: "find", "first", or "v:" and a field's address.
    focus: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[tuple[str, str, str], ...] = REASONS
    own: str = OWN
    right_reactions: tuple[tuple[str, str, str], ...] = RIGHT_REACTIONS
    profiles: tuple[tuple[str, str], ...] = PROFILES
    sections: tuple[tuple[str, str], ...] = SECTIONS
    additions: tuple[tuple[str, str, str], ...] = ADDITIONS

    @property
    def address(self) -> str:
        """Return how problems name the open call."""
        return f"c{self.open}"

    @property
    def new(self) -> str:
        """The form field in which the name of another argument is entered."""
        return f"c{self.open}.new"

    @property
    def whole_problem(self) -> str:
        """Return what is wrong with the label as a whole."""
        return self.problems.get("", "")

    @property
    def call_problem(self) -> str:
        """Return what is wrong with the open call as a whole."""
        return self.problems.get(self.address, "")


def panel(
    data: QueryDict,
    tools: Sequence[ToolSpec],
    *,
    to: str = "",
    show_problems: bool = False,
    is_recovery: bool = False,
) -> Panel:
    """Return the pane for what is entered.

    Args:
        data: the page's fields.
        tools: the offered tools, in order.
        to: what was pressed: "json" or "form" turns the pane over, "tool" chooses a tool, for others see `acts`.
        show_problems: whether to say what is wrong.
        is_recovery: whether the example is about an error, so that right reactions are asked for.

    """
    wanted = frozenset({"reactions"}) if is_recovery else frozenset[str]()
    if to == "tool":
        # Choosing a tool is starting over from the form.
        data = data.copy()
        data["mode"] = "form"
    as_json = data.get("mode") == "json"
    if to == "json" and not as_json:
        entered = read_label(data, tools)
        text = "" if entered.document is None else _pretty(entered.document)
        return Panel(mode="json", choice="", json=text)
    note = ""
    if to == "form" and as_json:
        filled, note = _form_for(data, tools)
        if filled is not None:
            return _form_panel(page_of(filled, tools), {}, wanted)
    problems = _by_field(read_label(data, tools)) if show_problems or note else {}
    if as_json:
        return Panel(mode="json", choice="", json=data.get("json", ""), note=note, problems=problems)
    focus = ""
    if to not in ("", "form"):
        data, focus = act(data, tools, to)
    return _form_panel(page_of(data, tools), problems, wanted, focus)


def empty_form() -> QueryDict:
    """Return the fields of a page on which nothing is entered yet."""
    return QueryDict()


def form_of(document: Mapping[str, Any] | None, tools: Sequence[ToolSpec], *, answer: str = EXPECTATION) -> QueryDict:
    """Return the page's fields for a label: as a form where it can say all of it, else as raw JSON."""
    data = QueryDict(mutable=True)
    if document is None:
        data["tool"] = answer
        return data
    filled = fill_form(document, tools)
    if filled is not None:
        return filled
    data.update({"mode": "json", "json": _pretty(document)})
    return data


def _pretty(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2)


def _form_for(data: QueryDict, tools: Sequence[ToolSpec]) -> tuple[QueryDict | None, str]:
    if not data.get("json", "").strip():
        return empty_form(), ""
    entered = read_json(data.get("json", ""))
    if entered.document is None:
        return None, "The form comes back once this is JSON again."
    filled = fill_form(entered.document, tools)
    return filled, "" if filled is not None else "The form cannot say all of this, so it stays as JSON."


def _form_panel(page: Page, problems: Mapping[str, str], unfolded: frozenset[str], focus: str = "") -> Panel:
    data, number = page.data, page.open
    route, entries = page.plan.route_of(number), page.entries(number)
    name = page.tool_name(number) if page.kind == "calls" else ""
    tool, schema = page.tool(number), page.schema(number)
    others = bool(entries.one("more"))
    fields = fields_of_call(entries, schema) if name else []
    return Panel(
        mode="form",
        choice=_choice(page),
        open=number,
        tool_name=name,
        tool=tool if name else None,
        rows=tuple(rows_of(entries, fields, others=others)),
        other_arguments=others,
        takes_extras=takes_extras(schema),
        route=route.number,
        other_calls=bool(data.get(f"a{route.number}.more")),
        outline=outline_of(page) if page.kind == "calls" else (),
        place=place_of(page.plan, number) if number else "",
        places=tuple((place, PLACE_WORDS[place]) for place in places_for(page.plan, number)) if number else (),
        kept=tuple(_kept(page, shows_call=bool(name), shown_route=route.number)),
        why=data.get("why", ""),
        why_own=data.get("why_own", ""),
        near=tuple(name for name in data.getlist("near") if name),
        near_tools=tuple(tool.name for tool in page.tools) if page.kind == NONE else (),
        beside=non_call_fields_of(data, unfolded=unfolded),
        focus=focus,
        problems=problems,
    )


def _choice(page: Page) -> str:
    if page.kind != "calls":
        return page.kind
    tool = page.tool(page.open)
    return str(list(page.tools).index(tool)) if tool else ""


def _kept(page: Page, *, shows_call: bool, shown_route: int) -> Iterator[tuple[str, str]]:
    """Yield the fields that the page keeps out of sight."""
    yield "plan", page.plan.to_text()
    yield "open", str(page.open)
    is_calls = page.kind == "calls"
    for route in page.plan.routes:
        if page.data.get(f"a{route.number}.more") and not (is_calls and shows_call and route.number == shown_route):
            yield f"a{route.number}.more", "1"
    for number in page.plan.calls():
        if name := page.tool_name(number):
            yield f"c{number}.tool", name
        if shows_call and number == page.open:
            continue
        prefix = f"c{number}."
        for field_name, values in page.data.lists():
            if field_name.startswith(prefix) and field_name != f"{prefix}tool":
                yield from ((field_name, value) for value in values if value)


def _by_field(entered: Entered) -> dict[str, str]:
    """Return the first problem of each field."""
    messages: dict[str, str] = {}
    for problem in entered.problems:
        messages.setdefault(problem.field, problem.message)
    return messages
