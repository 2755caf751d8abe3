"""List the calls of a label: which of them is open, where each is, its short text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from labeling.expectations.wording import matcher_words
from labeling.forms.calls import ReadProblems, read_call
from labeling.forms.moves import place_of
from labeling.forms.plan import Route
from labeling.forms.reading import Page

MAX_ARGUMENTS = 2
PLACE_WORDS: Mapping[str, str] = {
    "ordered": "in this order",
    "group": "in any order with its neighbour",
    "unordered": "at any time",
    "instead": "instead of the one before",
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
