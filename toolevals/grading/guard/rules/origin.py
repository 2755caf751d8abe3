"""Refuses an argument whose value no one may have given: neither the user, nor a confirmed list, nor a trusted tool."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, Final, Literal

from toolevals.grading.guard.names import Names
from toolevals.grading.guard.request import NO_RESULT
from toolevals.grading.guard.rules.rule import Finding, Look, Place, Places, Rule, Test, quoted
from toolevals.grading.reading.telemetry.scrubbing import FINDERS, BuiltIn, plain
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.canonical import shown
from toolevals.grading.values.matchers import compile_pattern
from toolevals.grading.values.problems import pointer_to
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

OriginData = BuiltIn | Literal["url"]
MOST_VALUES: Final = 1_000
"""The most values of one call whose origin is looked for."""
MOST_READ: Final = 400_000
"""The most characters of the user's words, and of results, in which a value is looked for: the newest."""
_MOST_LEAVES = 20_000
_LONGEST_FIELD = 500
_LONGEST_SPACED = 64
_DEEPEST_JSON = 3

# A file's name has a dot as well, so that a host without more needs a top domain that is no ending of files.
_URL = re.compile(
    r"https?://[^\s\"'<>()]{1,2000}(?<![.,;:!?])|(?<![\w@.-])(?:"
    r"www\.[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}|(?:[a-z0-9-]{1,63}\.){1,8}"
    r"(?:com|net|org|edu|gov|info|biz|io|app|dev|xyz|online|site|shop|top|eu|de|fr|uk|nl|es|it|ch|at|example))"
    r"(?![\w@-])(?:/[^\s\"'<>()]{0,2000}(?<![.,;:!?]))?",
    re.IGNORECASE | re.ASCII,
)
_JOINING = "-_.@"
_NUMBER = re.compile(r"(?<![^\W_])(?<![^\W_][-_.,:/#])\d+(?:[.,'’]\d+)*(?![-_.:/]?\d)(?![-_:/][^\W_])")
_ENGLISH = re.compile(r"\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_CONTINENTAL = re.compile(r"\d{1,3}(?:[.'’]\d{3})+(?:,\d+)?|\d+,\d+")


@dataclass(frozen=True, slots=True)
class OriginRule(Rule):
    """A value at one of the places is in the user's words, in a confirmed list, or in a result of a trusted tool.

    `user` says whether the user's words count. `confirmed` are values of the policy, `lists` names of lists in the
    state. `trusted` are globs of tools whose results count, unless they report an error; of `trusted_fields` only whole
    fields count, which a text that someone wrote into one of them is not. Where `data` names kinds of
    data, not whole values need an origin, but each of these that a text holds.
    """

    kind = "origin"

    places: tuple[Place, ...] = field(default=(), metadata={"of": Place})
    user: bool = True
    confirmed: tuple[Any, ...] = ()
    lists: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    trusted_fields: tuple[str, ...] = ()
    data: tuple[OriginData, ...] = ()

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        return partial(_origin_findings, self, Places(self.places), Names(self.trusted), Names(self.trusted_fields))


def _origin_findings(rule: OriginRule, places: Places, trusted: Names, fields: Names, look: Look) -> Iterator[Finding]:
    values: JsonObject = {}
    for parts in places.of(look.request.name) if look.request.name else ():
        values |= _at(look.request.arguments, parts)
    if len(values) > MOST_VALUES:
        words = f"The call has more than {MOST_VALUES:,} values or lists in which an origin is looked for."
        yield Finding("/arguments", words, is_unknown=True)
        return
    wanted = _data_in(values, rule.data) if rule.data else list(values.items())
    if not wanted:
        return
    sources = _Sources(rule, trusted, fields, look)
    for pointer, value in wanted:
        look.pause()
        if sources.hold(value):
            continue
        if sources.is_cut:
            words = f"{quoted(shown(value, 80))} is not in the newest {MOST_READ:,} characters that are read."
            yield Finding(f"/arguments{pointer}", words, is_unknown=True)
        elif sources.lacks_user:
            words = f"{quoted(shown(value, 80))} is in no other source, and the user's words are not known."
            yield Finding(f"/arguments{pointer}", words, is_unknown=True)
        else:
            yield Finding(f"/arguments{pointer}", f"{quoted(shown(value, 80))} is not in {sources.named}.")


def _data_in(values: JsonMapping, kinds: tuple[OriginData, ...]) -> list[tuple[str, str]]:
    """Return the data of these kinds that texts hold, each once a text, with the text's pointer."""
    found: dict[tuple[str, str], None] = {}
    for pointer, value in values.items():
        text = plain(value) if isinstance(value, str) else str(value)
        for kind in kinds:
            places = urls(text) if kind == "url" else FINDERS[kind](text)
            found |= dict.fromkeys((pointer, text[start:end]) for start, end in places)
    return list(found)


def urls(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of addresses of the web: with a scheme, with `www.`, or of a host in a usual top domain."""
    if "." in text:
        yield from (match.span() for match in _URL.finditer(text))


def _at(arguments: JsonValue, parts: tuple[str, ...]) -> JsonObject:
    """Return the values below a place that have an origin, by their pointers: texts and numbers.

    Where there is too much to look at, they are more than MOST_VALUES.
    """
    waiting: deque[tuple[tuple[str | int, ...], Any]] = deque([((), arguments)])
    found: JsonObject = {}
    while waiting and len(found) <= MOST_VALUES:
        path, value = waiting.popleft()
        if isinstance(value, dict | list | tuple):
            wanted = parts[len(path)] if len(path) < len(parts) else "*"
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            waiting.extend(((*path, step), inner) for step, inner in inside if wanted in ("*", str(step)))
            if len(waiting) > MOST_VALUES or len(path) > MOST_VALUES:
                return dict.fromkeys(map(str, range(MOST_VALUES + 1)))
        elif len(path) >= len(parts) and value not in (None, "") and not isinstance(value, bool):
            found[pointer_to(path)] = value
    return found


class _Sources:
    """The sources that a value may come from."""

    def __init__(self, rule: OriginRule, trusted: Names, fields: Names, look: Look) -> None:
        self.is_cut = False
        self._texts: list[str] = []
        self._numbers: set[Decimal] = set()
        self._confirmed = [*rule.confirmed, *(value for name in rule.lists for value in look.state.lists.get(name, ()))]
        self._left = MOST_READ
        self._fields: set[str] = set()
        texts = look.state.user_texts if rule.user else ()
        self.lacks_user = texts is None
        for text in reversed(texts or ()):
            self._read(text)
        if rule.trusted or rule.trusted_fields:
            self._read_results(look, trusted, fields)
        self.named = _named(rule)

    def _read_results(self, look: Look, trusted: Names, fields: Names) -> None:
        for call in reversed(look.state.calls):
            if call.is_error or call.result is NO_RESULT:
                continue
            if trusted.holds(call.name):
                for leaf in self._leaves(call.result):
                    self._read(leaf)
            elif fields.holds(call.name):
                for leaf in self._leaves(call.result):
                    self._read_field(leaf)

    def _read(self, leaf: JsonValue) -> None:
        if not isinstance(leaf, str):
            self._numbers.update(_decimals((leaf,)))
            return
        self.is_cut |= len(leaf) > self._left
        text = leaf[: self._left]
        self._left -= len(text)
        self._texts.append(_normal(text))

    def _read_field(self, leaf: JsonValue) -> None:
        if not isinstance(leaf, str):
            self._numbers.update(_decimals((leaf,)))
        elif len(leaf) <= _LONGEST_FIELD:
            self._fields.add(_normal(leaf))
            self._numbers.update(_decimals((leaf,)))

    def _leaves(self, value: JsonValue) -> Iterator[Any]:
        """Yield texts and numbers of a result, those of JSON in texts in place of the text."""
        waiting: list[tuple[Any, int]] = [(value, 0)]
        count = 0
        while waiting and count < _MOST_LEAVES:
            count += 1
            inner, depth = waiting.pop()
            if isinstance(inner, dict):
                waiting.extend((each, depth) for each in inner.values())
            elif isinstance(inner, list | tuple):
                waiting.extend((each, depth) for each in inner)
            elif isinstance(inner, str) and depth < _DEEPEST_JSON and inner.lstrip()[:1] in ("{", "["):
                try:
                    waiting.append((json.loads(inner), depth + 1))
                except (ValueError, RecursionError):
                    yield inner
            elif inner is not None and not isinstance(inner, bool):
                yield inner
        self.is_cut |= bool(waiting)

    def hold(self, value: JsonValue) -> bool:
        """Tell whether a value is in one of the sources."""
        if any(_is_same(value, known) for known in self._confirmed):
            return True
        number = next(_decimals((value,)), None)
        if number is not None and (number in self._numbers or number in self._numbers_said()):
            return True
        if not isinstance(value, str):
            return False
        wanted = _normal(value)
        if wanted in self._fields:
            return True
        return any(wanted in text and _is_whole(wanted, text) for text in self._texts) or self._is_spaced(wanted)

    def _numbers_said(self) -> set[Decimal]:
        return {number for text in self._texts for number in _numbers_in(text)}

    def _is_spaced(self, wanted: str) -> bool:
        """Tell whether a text has a number or an id with other spaces and hyphens than the value: GB82 WEST 1234."""
        signs = [each for each in wanted if each not in " -"]
        if not 6 <= len(signs) <= _LONGEST_SPACED or not any(each.isdigit() for each in signs):
            return False
        if not all(each.isascii() and each.isalnum() for each in signs):
            return False
        pattern = compile_pattern(rf"(?:^|[^\pL\pN_])[ -]?{'[ -]?'.join(signs)}(?:$|[^\pL\pN_])")
        return any(pattern.search(text) is not None for text in self._texts)


def _named(rule: OriginRule) -> str:
    """Return the sources of a rule in words."""
    named = ["the user's words"] * rule.user + ["a confirmed list"] * bool(rule.confirmed or rule.lists)
    for what, globs in (("a result", rule.trusted), ("a field of a result", rule.trusted_fields)):
        if globs:
            named.append(f"{what} of {' or '.join(map(quoted, globs[:3]))}")
    return " or ".join(named) or "any source"


def _normal(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).encode("utf-8", "replace").decode()
    return " ".join(text.casefold().split())


def _is_whole(wanted: str, text: str) -> bool:
    """Tell whether a text has what is wanted as a whole: not as part of a longer word, or of a longer id or address."""
    if not wanted:
        return False
    is_identifier = " " not in wanted and any(sign.isdigit() or sign in "@._/-" for sign in wanted)
    place = text.find(wanted)
    while place >= 0:
        end = place + len(wanted)
        before, after = text[max(0, place - 2) : place][::-1], text[end : end + 2]
        if not _goes_on(wanted[0], before, is_identifier) and not _goes_on(wanted[-1], after, is_identifier):
            return True
        place = text.find(wanted, place + 1)
    return False


def _goes_on(last: str, signs: str, is_identifier: bool) -> bool:
    """Tell whether a word goes on at its end with the next signs."""
    if signs[:1].isalnum() or signs[:1] == "_":
        return last.isalnum() or is_identifier
    return is_identifier and signs[:1] in _JOINING and signs[1:].isalnum()


def _is_same(value: JsonValue, known: JsonValue) -> bool:
    if isinstance(value, str) and isinstance(known, str):
        return _normal(value) == _normal(known)
    numbers = [*_decimals((value, known))]
    return len(numbers) == 2 and numbers[0] == numbers[1]


def _decimals(values: Iterable[Any]) -> Iterator[Decimal]:
    for value in values:
        try:
            number = Decimal(str(value)) if isinstance(value, int | float) or _is_number(value) else None
        except (InvalidOperation, ValueError):
            continue
        if number is not None and number.is_finite():
            yield number


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_SPACED and bool(_ENGLISH.fullmatch(value.lstrip("-")))


def _numbers_in(text: str) -> Iterator[Decimal]:
    """Yield the numbers that a text states, in English and continental writing; none of ids and dates."""
    for match in _NUMBER.finditer(text):
        written = match.group()
        if len(written) > _LONGEST_SPACED:
            continue
        readings = []
        if _ENGLISH.fullmatch(written):
            readings.append(re.sub("[,'’]", "", written))
        if _CONTINENTAL.fullmatch(written):
            readings.append(re.sub("[.'’]", "", written).replace(",", "."))
        for reading in readings or re.split("[,'’]", written):
            yield from _decimals((reading,))
        if text[match.start() - 1 : match.start()] in ("-", "−"):
            yield from (-number for number in _decimals(readings))
