"""Reads calls whose arguments stand key by key between marks: the values are texts that the tool's schema types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source
from toolevals.grading.reading.parsing.text_formats.typed_text import typed_arguments, unwrapped
from toolevals.grading.values import ToolCall

_NOTHING: Final = re.compile("")


@dataclass(frozen=True, slots=True)
class Keyed:
    """The marks of one form. `head` holds the `name`; `argument` ends before its value, and holds `key` and `type`."""

    head: re.Pattern[str]
    argument: re.Pattern[str]
    value_end: re.Pattern[str]
    # What stands where an argument could not be read.
    another: re.Pattern[str]
    end: re.Pattern[str] = _NOTHING
    needs_arguments: bool = False
    is_escaped: bool = False


def read_keyed(source: Source, match: re.Match[str], form: Keyed) -> Found:
    """Return the call that begins behind a mark."""
    text = source.text
    head = form.head.match(text, match.end())
    name = _plain(head["name"], form) if head else ""
    place = head.end() if head else match.end()
    texts: dict[str, str] = {}
    verbatim: dict[str, str] = {}
    while argument := form.argument.match(text, place):
        ended = source.search(form.value_end, argument.end())
        key = _plain(argument["key"].strip(), form)
        if ended is None or key in texts or key in verbatim:
            return (source.malformed("an argument has no end, or is given twice", match.start(), name),), argument.end()
        is_text = argument.groupdict().get("type") == "string"
        (verbatim if is_text else texts)[key] = unwrapped(text[argument.end() : ended.start()])
        place = ended.end()
    another = form.another.match(text, source.skip(place))
    ended = form.end.match(text, place)
    if not name or another or ended is None or (form.needs_arguments and not texts and not verbatim):
        stop = another.end() if another else max(place, match.end())
        return (source.malformed("no name, keys and values follow", match.start(), name or None),), stop
    arguments: dict[str, Any] = typed_arguments(texts, name, source.offered) | verbatim
    return (ToolCall(name, arguments),), ended.end()


def _plain(text: str, form: Keyed) -> str:
    return unescape(text) if form.is_escaped else text
