"""Draft edge cases: changed words of the user, and their consequences. Without any there is no draft.

Deterministic: the same example gives the same drafts. `docs/datasets.md` states each rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

from labeling.coverage.expected import calls_of
from toolevals.grading.edge_cases import EdgeCase, applicable_kinds
from toolevals.grading.edge_cases.parameters import Parameter, is_currency, is_minor, parameters_of
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

LONGEST = 20_000


_LETTERS = str.maketrans("aeioucnsAEIOUCNS", "áéíöüçñšÁÉÍÖÜÇÑŠ")
_SHORTEST_NAME = 3
_MOMENT = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[T ](?P<time>[0-9]{2}:[0-9]{2})(?::00(?:\.0+)?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_CURRENCIES = ("EUR", "USD", "GBP", "CHF", "SEK")
_SIGNS = {"EUR": "€", "USD": "$", "GBP": "£"}
_NUMBER_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
_UNITS, _TENS = _NUMBER_WORDS.split()[:20], _NUMBER_WORDS.split()[20:]
_IN_WORDS = 100
_WITH_COMMAS = 1_000


@dataclass(frozen=True, slots=True)
class Origin:
    """A conversation that ends with the user's words. `rest` is all else that the agent sees, as text."""

    shown: JsonMapping
    words: str
    rest: str

    @classmethod
    def of(cls, shown: Any) -> Self | None:
        """Return the origin that an input is; None where the user's plain words are not the end of it."""
        messages = shown.get("messages") if isinstance(shown, Mapping) else None
        if not isinstance(messages, list) or not messages:
            return None
        last = messages[-1]
        if not isinstance(last, Mapping) or last.get("role") != "user" or not isinstance(last.get("content"), str):
            return None
        words = last["content"].strip()
        rest = json.dumps([messages[:-1], shown.get("context")], ensure_ascii=False)
        return cls(shown, words, rest) if words and len(words) + len(rest) <= LONGEST else None

    def with_words(self, words: str) -> JsonObject:
        """Return the input in which the user says this instead."""
        shown: JsonObject = deepcopy(dict(self.shown))
        shown["messages"][-1]["content"] = words
        return shown

    def added(self, sentence: str) -> str:
        """Return the user's words with one more sentence."""
        return f"{self.words}{'' if self.words[-1] in '.!?…' else '.'} {sentence}"

    def once(self, value: str, new: str) -> str | None:
        """Return the words with a value that stands in them once replaced; None where it does not."""
        places = list(re.finditer(_alone(value), self.words))
        return self.words[: places[0].start()] + new + self.words[places[0].end() :] if len(places) == 1 else None

    def everywhere(self, value: str, new: str) -> str | None:
        """Return the words with a value replaced that stands in them and nowhere else; None where that is not so."""
        pattern = _alone(value)
        if not re.search(pattern, self.words) or re.search(pattern, self.rest):
            return None
        return re.sub(pattern, lambda _: new, self.words)


def last_words(shown: Any) -> str:
    """Return the user's last words of an input, as an origin has them; "" where it is none."""
    origin = Origin.of(shown)
    return origin.words if origin else ""


def _alone(value: str) -> str:
    """Return the pattern of a value that is no part of a longer word or number."""
    return rf"(?<![\w.,:-]){re.escape(value)}(?![\w:-]|[.,]\w)"


@dataclass(frozen=True, slots=True)
class Place:
    """One parameter of an expected call: where it stands, and the matchers of the call's arguments."""

    tool: ToolSpec
    parameter: Parameter
    arguments: JsonMapping

    @property
    def matcher(self) -> Any:
        """The matcher of the argument, or of the one that it is part of; None where the gold says nothing of it."""
        return self.arguments.get(self.parameter.path[0])

    @property
    def value(self) -> Any:
        """The exact value that is expected; None where there is none."""
        value = self.matcher.get("exact") if isinstance(self.matcher, Mapping) else None
        for name in self.parameter.path[1:]:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    @property
    def words(self) -> str:
        """The parameter's name as people say it."""
        return re.sub(r"[_\W]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.parameter.name)).strip().lower()

    def exactly(self, value: Any) -> JsonObject:
        """Return the matcher in which this value is expected instead."""
        if len(self.parameter.path) == 1:
            return {"exact": value}
        changed = deepcopy(self.matcher["exact"])
        inside = changed
        for name in self.parameter.path[1:-1]:
            inside = inside[name]
        inside[self.parameter.path[-1]] = value
        return {"exact": changed}

    @property
    def is_unsaid(self) -> bool:
        """Return whether it is an optional argument of the call itself of which the gold says nothing."""
        return len(self.parameter.path) == 1 and not self.parameter.required and self.matcher is None


@dataclass(frozen=True, slots=True)
class Change:
    """The user's words, and the argument's matcher; None where the argument stays as it is."""

    words: str
    matcher: JsonObject | None


def null_optional(origin: Origin, place: Place) -> Change | None:
    """The user has no wish about an optional argument: it is null, where the schema admits that, or left out."""
    if not place.is_unsaid:
        return None
    matcher = {"one_of": [None], "optional": True} if "null" in place.parameter.types else {"absent": True}
    return Change(origin.added(f"I have no preference about the {place.words}."), matcher)


def empty_array(origin: Origin, place: Place) -> Change | None:
    """The user wants none of what an optional list would hold: the list is empty or left out."""
    if not place.is_unsaid:
        return None
    return Change(origin.added(f"Leave the list of {place.words} empty."), {"one_of": [[]], "optional": True})


def unicode_identifier(origin: Origin, place: Place) -> Change | None:
    """The user spells the identifier with a letter beyond ASCII; nothing else in the conversation knows it."""
    value = place.value
    if not isinstance(value, str) or not value.isascii() or re.search(r"[@/\\]", value):
        return None
    marked = next((at for at, letter in enumerate(value) if letter.translate(_LETTERS) != letter), None)
    if marked is None or len(value) < _SHORTEST_NAME:
        return None
    new = value[:marked] + value[marked].translate(_LETTERS) + value[marked + 1 :]
    words = origin.everywhere(value, new)
    return Change(words, place.exactly(new)) if words else None


def time_zone(origin: Origin, place: Place) -> Change | None:
    """The user says the time in UTC; the date and time are then those of UTC, written in either usual way."""
    value = place.value
    moment = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if moment is None or moment["zone"] in ("Z", "+00:00") or re.search(r"\b(?:UTC|GMT)\b", origin.words):
        return None
    time = moment["time"]
    words = origin.once(time, f"{time} UTC") or origin.once(time.removeprefix("0"), f"{time} UTC")
    if words is None or len(place.parameter.path) > 1:
        return None
    stem = f"{moment['day']}T{time}:00"
    return Change(words, {"one_of": [f"{stem}Z", f"{stem}+00:00"]})


def currency(origin: Origin, place: Place) -> Change | None:
    """The user names another currency where the tool takes one; else the same amount is written in another way."""
    name, value = place.parameter.name, place.value
    if is_currency(name) and isinstance(value, str):
        other = next(code for code in _CURRENCIES if code != value)
        words = origin.everywhere(value, other)
        return Change(words, place.exactly(other)) if words else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    amount = Decimal(str(value)) / (100 if is_minor(name) else 1)
    return _written_otherwise(origin, amount)


def _written_otherwise(origin: Origin, amount: Decimal) -> Change | None:
    written = [f"{amount.normalize():f}", f"{amount:.2f}"]
    for code, sign in _SIGNS.items():
        for number in dict.fromkeys(written):
            for before, after in (
                (f"{number} {code}", f"{sign}{amount:.2f}"),
                (f"{sign}{number}", f"{amount:.2f} {code}"),
            ):
                if words := origin.once(before, after):
                    return Change(words, None)
    return None


def type_coercion(origin: Origin, place: Place) -> Change | None:
    """The user writes the number in words, or with commas; the argument stays the number that it is."""
    value = place.value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    if value < _IN_WORDS:
        written = in_words(value)
    elif value >= _WITH_COMMAS:
        written = f"{value:,}"
    else:
        return None
    words = origin.once(str(value), written)
    return Change(words, None) if words else None


def in_words(number: int) -> str:
    """Return a number below 100 in English words."""
    if number < len(_UNITS):
        return _UNITS[number]
    tens, units = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_UNITS[units]}" if units else "")


@dataclass(frozen=True, slots=True)
class Draft:
    """One edge case of one parameter: the changed input, and the expectation that follows."""

    kind: EdgeCase
    tool: str
    # A JSON pointer into the arguments.
    parameter: str
    input: JsonObject
    expectation: JsonObject


# One rule a kind: it returns the change, or None where it cannot be made honestly.
RULES: Mapping[EdgeCase, Callable[[Origin, Place], Change | None]] = {
    EdgeCase.NULL_OPTIONAL: null_optional,
    EdgeCase.EMPTY_ARRAY: empty_array,
    EdgeCase.UNICODE_IDENTIFIER: unicode_identifier,
    EdgeCase.TIME_ZONE: time_zone,
    EdgeCase.CURRENCY: currency,
    EdgeCase.TYPE_COERCION: type_coercion,
}


def drafts_of(
    shown: Any,
    expectation: JsonMapping,
    tools: Mapping[str, ToolSpec],
    wanted: Callable[[str, str, EdgeCase], bool] = lambda *_: True,
) -> Iterator[Draft]:
    """Yield the drafts that an example with gold gives, if its gold is a single alternative.

    `wanted` says of tool, parameter and kind whether one is asked for.
    """
    origin = Origin.of(shown)
    if origin is None or len(expectation.get("alternatives") or ()) != 1:
        return
    for number, call in enumerate(calls_of(expectation)):
        spec = tools.get(call["tool"])
        if spec is None:
            continue
        admitted = applicable_kinds(spec)
        for parameter in parameters_of(spec):
            pointer = pointer_to(parameter.path)
            place = Place(spec, parameter, call.get("arguments") or {})
            for kind in sorted(admitted.get(pointer, ())):
                change = RULES[kind](origin, place) if wanted(spec.name, pointer, kind) else None
                if change is None:
                    continue
                expected = _changed(expectation, number, parameter.path[0], change)
                if _is_sound(expected, tools):
                    yield Draft(kind, spec.name, pointer, origin.with_words(change.words), expected)


def _changed(expectation: JsonMapping, number: int, name: str, change: Change) -> JsonObject:
    expected: JsonObject = deepcopy(dict(expectation))
    if change.matcher is not None:
        call = next(call for place, call in enumerate(calls_of(expected)) if place == number)
        assert isinstance(call, dict)
        call["arguments"] = {**(call.get("arguments") or {}), name: change.matcher}
    return expected


def _is_sound(expectation: JsonObject, tools: Mapping[str, ToolSpec]) -> bool:
    try:
        return not expectation_problems(Expectation.from_document(expectation), list(tools.values()))
    except InvalidDocument:
        return False
