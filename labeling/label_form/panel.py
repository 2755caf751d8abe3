"""Tell what the label page's right-hand pane shows.

The open call's arguments as rows, or the expectation as raw JSON.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.http import QueryDict

from labeling.expectations.wording import matcher_words
from labeling.label_form.acts import act
from labeling.label_form.calls import (
    ReadProblems,
    chosen_field,
    fields_of_call,
    fields_of_object,
    read_call,
    shown_item_keys,
)
from labeling.label_form.fields import ArgumentField, Kind, item_of, plain_beginning, takes_extras
from labeling.label_form.form_from_expectation import empty_form, expectation_text, fill_form
from labeling.label_form.matchers import (
    DATE_FORMATS,
    FREE,
    RAW,
    UNNAMED,
    VALUELESS,
    WORDS,
    CallEntries,
    control,
    first_matcher,
    matcher_keys,
    matcher_of,
    named_matcher,
    other_matchers,
    usual_matchers,
)
from labeling.label_form.plan import Route, place_of, places_for
from labeling.label_form.reading import (
    NONE,
    OWN,
    PROFILES,
    REASONS,
    RIGHT_REACTIONS,
    SECTIONS,
    Entered,
    NonCallFields,
    Page,
    non_call_fields_of,
    page_of,
    read_json,
    read_label,
)
from toolevals.grading.values import ToolSpec


@dataclass(frozen=True, slots=True)
class Row:
    """One field with what is entered in it."""

    field: ArgumentField
    # Its address: `c1/pickup/date`. The names of its inputs are made of the call, the part and the path.
    address: str
    call: str
    # Unique on the page, safe as an id, and the same for as long as the argument is shown.
    key: str
    matcher: str
    matchers: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]
    control: str
    values: tuple[str, ...]
    label: str
    low: str = ""
    high: str = ""
    absolute: str = ""
    relative: str = ""
    date_format: str = ""
    # The calls before its own, by number and in words, and the one whose result it is compared with.
    earlier: tuple[tuple[str, str], ...] = ()
    result_of: str = ""
    may_be_left_out: bool = False
    has_more: bool = False
    variant: str = ""
    variants: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    takes_extras: bool = False

    @property
    def template(self) -> str:
        return f"labeling/controls/{self.control}.html"

    @property
    def item_key(self) -> str:
        """Of an item of a list: what tells it from the others."""
        return self.path.rpartition("/")[2]

    @property
    def lacks_items(self) -> bool:
        """Return whether a list shows fewer items than its schema wants, or none."""
        return len(self.rows) < max(self.field.fewest_items, 1)

    @property
    def new(self) -> str:
        """The form field in which the name of another property is entered."""
        return f"{self.call}.new{self.path}"

    @property
    def path(self) -> str:
        return self.field.path

    @property
    def value(self) -> str:
        return self.values[0] if self.values else ""

    @property
    def has_lines(self) -> bool:
        """Return whether its text needs more than one line."""
        return "\n" in self.value

    @property
    def is_special(self) -> bool:
        """Return whether it is compared in another way than the usual one; shown in bold."""
        return self.matcher not in ("exact", "fields", "items", first_matcher(self.field))

    @property
    def is_unnamed(self) -> bool:
        """Return whether the label says nothing of it."""
        return self.matcher == UNNAMED

    @property
    def says(self) -> str:
        """Return what stands in the value's place where none is needed."""
        return VALUELESS.get(self.matcher, "")

    @property
    def takes(self) -> str:
        """The kind of value its control takes, without options: "integer", "number", "date", "json", or else "text"."""
        if self.control in ("json", "about"):
            return "json" if self.control == "json" else "number"
        if self.control in ("text", "date") and self.field.schema.get("format") == "date":
            return "date"
        if self.control not in ("number", "range", "chips"):
            return "text"
        kind = self.field.entries if self.field.kind is Kind.LIST else self.field.kind
        return kind.value if kind in (Kind.INTEGER, Kind.NUMBER) else "number" if self.control == "range" else "text"

    @property
    def begins(self) -> str:
        """The beginning of values that its schema's pattern allows, as far as that is plain; "" where nothing is."""
        return plain_beginning(self.field.schema.get("pattern"))

    @property
    def named_as(self) -> str:
        """Return what it is compared by once it is added to the label."""
        return named_matcher(self.field)

    @property
    def offers_left_out(self) -> bool:
        """Return whether the agent may leave it away. While it is unnamed, the page hides that."""
        can = not self.field.required and self.matcher not in ("absent", FREE, RAW)
        return can or self.may_be_left_out

    @property
    def date_formats(self) -> tuple[str, ...]:
        return DATE_FORMATS


def rows_of(entries: CallEntries, fields: Iterable[ArgumentField], *, others: bool) -> Iterator[Row]:
    """Yield the rows of some fields. `others`: whether more arguments than the label names may be given."""
    for one in fields:
        yield _row(entries, one, others=others, label=one.name)


def _key(entries: CallEntries, path: str) -> str:
    return f"c{entries.number}-{hashlib.blake2b(path.encode(), digest_size=6).hexdigest()}"


def _row(entries: CallEntries, declared: ArgumentField, *, others: bool, label: str) -> Row:
    one = chosen_field(entries, declared)
    chosen = matcher_of(entries, one)
    matcher = chosen if chosen in matcher_keys(one) else first_matcher(one)
    earlier = tuple(_earlier(entries))
    usual, less_usual = usual_matchers(one, others=others), other_matchers(one, is_first=not earlier)
    if matcher not in dict([*usual, *less_usual]):
        usual.append((matcher, WORDS.get(matcher, "left out")))
    row = Row(
        field=one,
        address=entries.address(one.path),
        call=f"c{entries.number}",
        key=_key(entries, one.path),
        matcher=matcher,
        matchers=tuple(usual),
        others=tuple(less_usual),
        control=control(one, matcher),
        values=tuple(entries.every("v", one.path)),
        label=label,
        low=entries.one("lo", one.path),
        high=entries.one("hi", one.path),
        absolute=entries.one("abs", one.path),
        relative=entries.one("rel", one.path),
        date_format=entries.one("fmt", one.path),
        earlier=earlier,
        result_of=entries.one("of", one.path),
        may_be_left_out=bool(entries.one("o", one.path)),
        has_more=bool(entries.one("more", one.path)),
        variant=entries.one("x", one.path) or "0",
        variants=declared.variants,
        takes_extras=matcher == "fields" and takes_extras(one.schema),
    )
    return replace(row, rows=tuple(_inner(entries, row)))


def _earlier(entries: CallEntries) -> Iterator[tuple[str, str]]:
    for place, position in enumerate(entries.before(), 1):
        tools = (entries.data.get(f"c{number}.tool") or "no tool yet" for number in position.options)
        yield str(position.options[0]), f"{place}: {' or '.join(tools)}"


def _inner(entries: CallEntries, row: Row) -> Iterator[Row]:
    if row.matcher == "fields":
        yield from rows_of(entries, fields_of_object(entries, row.field), others=row.has_more)
    elif row.matcher == "items":
        for number, item in enumerate(shown_item_keys(entries, row.field), start=1):
            label = f"{row.label} {number}"
            yield _row(entries, item_of(row.field, item), others=row.has_more, label=label)


MAX_ARGUMENTS = 2
PLACE_WORDS: Mapping[str, str] = {
    "ordered": "in this order",
    "group": "in any order with its neighbour",
    "unordered": "at any time",
    "instead": "instead of the previous call",
    "disallowed": "must not be called",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One call of the list."""

    number: int
    when: str
    tool: str
    says: str
    is_open: bool
    is_inside: bool
    # The key that opens it: the calls before and after the open one have one.
    key: str = ""

    @property
    def address(self) -> str:
        """Return how problems name it."""
        return f"c{self.number}"


@dataclass(frozen=True, slots=True)
class RouteEntries:
    """One alternative of the list."""

    number: int
    entries: tuple[Entry, ...]


def outline_of(page: Page) -> tuple[RouteEntries, ...]:
    """Return the list of calls; empty where there is one call only."""
    if page.plan.is_simple:
        return ()
    calls = page.plan.calls()
    here = calls.index(page.open) if page.open else -2
    keys = {place: key for place, key in ((here - 1, "h"), (here + 1, "w")) if 0 <= place < len(calls)}
    by_call = {calls[place]: key for place, key in keys.items()}
    return tuple(RouteEntries(route.number, tuple(_entries(page, route, by_call))) for route in page.plan.routes)


def _entries(page: Page, route: Route, keys: Mapping[int, str]) -> Iterator[Entry]:
    for place, number in enumerate(route.calls()):
        where = place_of(page.plan, number)
        yield Entry(
            number=number,
            when=_when(where, is_first=place == 0),
            tool=page.tool_name(number),
            says=_says(page, number),
            is_open=number == page.open,
            is_inside=where in ("group", "instead"),
            key=keys.get(number, ""),
        )


def _when(where: str, *, is_first: bool) -> str:
    words = {"group": "any order", "unordered": "any time", "instead": "or", "disallowed": "never"}
    return words.get(where, "first" if is_first else "then")


def _says(page: Page, number: int) -> str:
    """Return a call's first arguments in words."""
    arguments = read_call(page.entries(number), page.schema(number), "", ReadProblems())["arguments"]
    said = [
        " ".join(part for part in (name, "" if by == "equals" else by, value) if part)
        for name, (by, value) in ((name, matcher_words(matcher)) for name, matcher in arguments.items())
    ]
    more = f" and {len(said) - MAX_ARGUMENTS} more" if len(said) > MAX_ARGUMENTS else ""
    return ", ".join(said[:MAX_ARGUMENTS]) + more


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
        text = "" if entered.document is None else expectation_text(entered.document)
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


def _form_for(data: QueryDict, tools: Sequence[ToolSpec]) -> tuple[QueryDict | None, str]:
    if not data.get("json", "").strip():
        return empty_form(), ""
    entered = read_json(data.get("json", ""))
    if entered.document is None:
        return None, "Fix the JSON to return to the form."
    filled = fill_form(entered.document, tools)
    return filled, "" if filled is not None else "The form does not support all of this, so it stays JSON."


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
