"""Lay out the rows of one call's arguments for the pane."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from labeling.forms.calls import chosen_field, fields_of_object, shown_item_keys
from labeling.forms.entries import CallEntries, matcher_of
from labeling.forms.fields import ArgumentField, Kind, item_of, takes_extras
from labeling.forms.matchers import (
    DATE_FORMATS,
    FREE,
    RAW,
    UNNAMED,
    VALUELESS,
    WORDS,
    control,
    first_matcher,
    matcher_keys,
    named_matcher,
    other_matchers,
    usual_matchers,
)
from labeling.forms.schemas import plain_beginning


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
