"""What the label page's right-hand pane shows: the chosen tool's arguments as rows, or the expectation as raw JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from labeling.forms.entries import matcher_of
from labeling.forms.fields import ArgumentField, argument_fields
from labeling.forms.filling import fill_form
from labeling.forms.matchers import (
    FREE,
    UNNAMED,
    VALUELESS,
    WORDS,
    control,
    first_matcher,
    matcher_choices,
    matcher_keys,
)
from labeling.forms.reading import NONE, REASONS, Entered, chosen_tool, read_json, read_label
from toolevals.grading.values import ToolSpec


@dataclass(frozen=True, slots=True)
class Row:
    """One field with what is entered in it."""

    field: ArgumentField
    # Unique on the page, safe as an id.
    key: str
    matcher: str
    matchers: tuple[tuple[str, str], ...]
    control: str
    values: tuple[str, ...]
    low: str = ""
    high: str = ""
    may_be_left_out: bool = False
    rows: tuple[Row, ...] = ()

    @property
    def template(self) -> str:
        return f"labeling/controls/{self.control}.html"

    @property
    def value(self) -> str:
        return self.values[0] if self.values else ""

    @property
    def is_special(self) -> bool:
        """Whether it is compared in another way than the usual one; shown in bold."""
        return self.matcher not in ("exact", "fields", first_matcher(self.field))

    @property
    def is_unnamed(self) -> bool:
        """Whether the label says nothing of it."""
        return self.matcher == UNNAMED

    @property
    def says(self) -> str:
        """What stands in the value's place where none is needed."""
        return VALUELESS.get(self.matcher, "")

    @property
    def offers_left_out(self) -> bool:
        return not self.field.required and self.matcher not in ("absent", "key_only", "fields", FREE, UNNAMED)


@dataclass(frozen=True, slots=True)
class Panel:
    """The pane, and what else the page needs to know of what is entered."""

    mode: str
    # The chosen row of the tool list: a place, "none" or "".
    choice: str
    tool: ToolSpec | None = None
    rows: tuple[Row, ...] = ()
    why: str = ""
    other_arguments: bool = False
    other_calls: bool = False
    json: str = ""
    # Why the form cannot be shown, where that was asked for.
    note: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[tuple[str, str, str], ...] = REASONS


def panel(data: QueryDict, tools: Sequence[ToolSpec], *, to: str = "", show_problems: bool = False) -> Panel:
    """Return the pane for what is entered.

    Args:
        data: the page's fields.
        tools: the offered tools, in order.
        to: "json" or "form" to turn the pane over; otherwise it stays as it is.
        show_problems: whether to say what is wrong.

    """
    if to == "tool":
        # Choosing a tool is starting over from the form.
        data = data.copy()
        data["mode"] = "form"
    as_json = data.get("mode") == "json"
    note = ""
    if to == "json" and not as_json:
        entered = read_label(data, tools)
        text = "" if entered.document is None else json.dumps(entered.document, ensure_ascii=False, indent=2)
        return Panel(mode="json", choice="", json=text)
    if to == "form" and as_json:
        filled, note = _form_for(data, tools)
        if filled is not None:
            return _form_panel(filled, tools, {})
    problems = _by_field(read_label(data, tools)) if show_problems or note else {}
    if as_json:
        return Panel(mode="json", choice="", json=data.get("json", ""), note=note, problems=problems)
    return _form_panel(data, tools, problems)


def empty_form() -> QueryDict:
    """Return the fields of a page on which nothing is entered yet."""
    return QueryDict()


def form_of(document: Mapping[str, Any], tools: Sequence[ToolSpec]) -> QueryDict:
    """Return the page's fields for an expectation: as a form where it can say all of it, else as raw JSON."""
    filled = fill_form(document, tools)
    if filled is not None:
        return filled
    data = QueryDict(mutable=True)
    data.update({"mode": "json", "json": json.dumps(document, ensure_ascii=False, indent=2)})
    return data


def _form_for(data: QueryDict, tools: Sequence[ToolSpec]) -> tuple[QueryDict | None, str]:
    if not data.get("json", "").strip():
        return empty_form(), ""
    entered = read_json(data.get("json", ""))
    if entered.document is None:
        return None, "The form comes back once this is JSON again."
    filled = fill_form(entered.document, tools)
    return filled, "" if filled is not None else "The form cannot say all of this, so it stays as JSON."


def _form_panel(data: QueryDict, tools: Sequence[ToolSpec], problems: Mapping[str, str]) -> Panel:
    tool = chosen_tool(data, tools)
    rows = tuple(_rows(data, argument_fields(tool.input_schema), "a")) if tool else ()
    choice = data.get("tool", "") if tool or data.get("tool") == NONE else ""
    return Panel(
        mode="form",
        choice=choice,
        tool=tool,
        rows=rows,
        why=data.get("why", ""),
        other_arguments=bool(data.get("other_arguments")),
        other_calls=bool(data.get("other_calls")),
        problems=problems,
    )


def _rows(data: QueryDict, fields: Iterable[ArgumentField], prefix: str) -> Iterable[Row]:
    for number, one in enumerate(fields):
        key = f"{prefix}{number}"
        chosen = matcher_of(data, one)
        matcher = chosen if chosen in matcher_keys(one) else first_matcher(one)
        choices = matcher_choices(one, others=bool(data.get("other_arguments")))
        if matcher not in dict(choices):
            choices.append((matcher, WORDS[matcher]))
        yield Row(
            field=one,
            key=key,
            matcher=matcher,
            matchers=tuple(choices),
            control=control(one, matcher),
            values=tuple(data.getlist(f"v:{one.path}")),
            low=data.get(f"lo:{one.path}", ""),
            high=data.get(f"hi:{one.path}", ""),
            may_be_left_out=bool(data.get(f"o:{one.path}")),
            rows=tuple(_rows(data, one.children, f"{key}-")) if matcher == "fields" else (),
        )


def _by_field(entered: Entered) -> dict[str, str]:
    """Return the first problem of each field."""
    found: dict[str, str] = {}
    for problem in entered.problems:
        found.setdefault(problem.field, problem.message)
    return found
