"""Scrub personal data from values and spans: what the rules find is replaced by the rule's name in brackets.

`scrubbed(value, rules)` returns the value without it, and how often each rule found something. JSON inside text is read
as the readers of spans read it, so that a field is known by its name at any depth. A document of OTLP stays one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

from toolevals.grading.reading.telemetry.otlp import SpanEvent, TelemetrySpan
from toolevals.grading.reading.telemetry.personal_data import FEWEST_DIGITS, FINDERS, BuiltIn, Place, cards, plain
from toolevals.grading.values.canonical import MAX_DEPTH, exact
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.patterns import compile_pattern
from toolevals.grading.values.problems import InvalidDocument

Value = TypeVar("Value")
FIELD = "field"
_BUILT_IN: tuple[BuiltIn, ...] = tuple(FINDERS)
# So deep is JSON read that stands in text, in JSON and text again; below, text is searched as it is written.
_DEEPEST_TEXT = 100
# Short texts that hold nothing are remembered, since names of keys and attributes come with each span.
_SHORT, _MOST_REMEMBERED = 80, 10_000
# So often is a text searched again: what was taken out may have stood in the way of another find.
_MOST_ROUNDS = 5
_PHONE_FIELDS: Final = frozenset(
    ("phone", "phonenumber", "telephone", "tel", "mobile", "mobilenumber", "fax", "msisdn")
)
_PHONE_VALUE = re.compile(r"\(?\+?[0-9](?:[ ().\-/]{0,2}[0-9]){6,14}", re.ASCII)
_SPAN_IDS: Final = frozenset(
    ("traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_id", "parent_span_id")
)
_SPAN_ID = re.compile(r"[0-9a-fA-F]{16}(?:[0-9a-fA-F]{16})?", re.ASCII)
_TIMES: Final = frozenset(("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"))
_SCALARS: Final = frozenset(("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue"))
# What spans say of themselves, not of a conversation.
_UNTOUCHED: Final = frozenset(("trace_id", "span_id", "parent_id", "start", "end", "status", "time", "schema_url"))


@dataclass(frozen=True)
class ScrubbingRules:
    """The rules for personal data. `fields` are names of keys and attributes, `patterns` names with RE2's patterns.

    A field's name is compared without case, `_`, `-` and spaces, and with the last part of an attribute's name.
    """

    email: bool = True
    phone: bool = True
    card: bool = True
    iban: bool = True
    fields: tuple[str, ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()

    @cached_property
    def field_names(self) -> frozenset[str]:
        """Return the fields' names as they are compared."""
        return frozenset(map(compared_name, self.fields))

    @cached_property
    def field_pattern(self) -> re.Pattern[str] | None:
        """Return what finds the fields in text that is no JSON, with their value as group `value`."""
        if not self.fields:
            return None
        names = "|".join("[ _-]?".join(map(re.escape, compared_name(name))) for name in self.fields)
        return re.compile(
            rf"(?<![^\W_])(?:{names})\\{{0,8}}[\"']?\s{{0,8}}[:=]\s{{0,8}}"
            rf"(?P<value>\\{{0,8}}\"(?:[^\"\\]|\\.)*+\"?|\\{{0,8}}'(?:[^'\\]|\\.)*+'?|[\[{{][\s\S]*+|[^\s,;&}}\]\"'\[{{]+)",
            re.IGNORECASE,
        )

    @cached_property
    def remembered(self) -> set[str]:
        """Return short texts in which these rules found nothing, so far."""
        return set()

    def is_field(self, name: str) -> bool:
        """Tell whether a key or an attribute is one of the fields."""
        return bool(self.fields) and not self.field_names.isdisjoint(
            (compared_name(name), compared_name(name.rpartition(".")[2]))
        )


def scrubbed(value: Value, rules: ScrubbingRules) -> tuple[Value, dict[str, int]]:
    """Return the value without what the rules find, and how often each rule found something, by its name.

    A value is JSON's, a span, an event, or a list or tuple of them. What holds no personal data comes back unchanged,
    JSON in text to the letter. Ids and times of spans are never touched. Raises InvalidDocument where a value is nested
    deeper than any that can be kept.
    """
    work = _Scrubbing(rules)
    return work.value(value), dict(work.counts)


class _Scrubbing:
    def __init__(self, rules: ScrubbingRules) -> None:
        self.rules = rules
        self.finders = [(name, FINDERS[name]) for name in _BUILT_IN if getattr(rules, name)]
        self.counts: Counter[str] = Counter()

    def value(self, value: Any, depth: int = 0) -> Any:
        if isinstance(value, str):
            return self._text(value, depth)
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | float):
            return self._number(value)
        if depth > MAX_DEPTH:
            raise InvalidDocument.at("", f"is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, Mapping):
            return self._mapping(value, depth + 1)
        if isinstance(value, list | tuple):
            return type(value)(self.value(each, depth + 1) for each in value)
        if isinstance(value, TelemetrySpan | SpanEvent):
            named = [each.name for each in fields(value) if each.name not in _UNTOUCHED]
            return replace(value, **{name: self.value(getattr(value, name), depth) for name in named})
        return value

    def _mapping(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        if isinstance(name := value.get("key"), str) and set(value) == {"key", "value"}:
            return {"key": self._key(name), "value": self._otlp_value(name, value["value"], depth)}
        if len(value) == 1 and not _SCALARS.isdisjoint(value):
            return self._scalar(value, depth)
        made: dict[str, Any] = {}
        for key, inner in value.items():
            name = base = self._key(key)
            number = 2
            while name in made:
                name, number = f"{base} {number}", number + 1
            made[name] = self._entry(key, inner, depth)
        return made

    def _entry(self, key: str, inner: Any, depth: int) -> Any:
        if key in _SPAN_IDS and isinstance(inner, str) and _SPAN_ID.fullmatch(inner):
            return inner
        if key in _TIMES and isinstance(inner, int | str) and str(inner).isdecimal():
            return inner
        if (rule := self._rule_for(key, inner)) is not None:
            return self._taken(rule, inner)
        return self.value(inner, depth)

    def _otlp_value(self, name: str, value: Any, depth: int) -> Any:
        """Return the value of an attribute of OTLP; it stays one."""
        inner = next(iter(value.values()), None) if isinstance(value, Mapping) else value
        if (rule := self._rule_for(name, inner)) is not None:
            taken = self._taken(rule, inner)
            return {"stringValue": taken} if isinstance(value, Mapping) else taken
        return self.value(value, depth)

    def _scalar(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        (name, inner), *_ = value.items()
        made = self.value(inner, depth)
        return dict(value) if made == inner else {name if name == "bytesValue" else "stringValue": made}

    def _rule_for(self, name: Any, value: Any) -> str | None:
        """Return the rule that takes the whole value of a key; None where none does."""
        if not isinstance(name, str) or value is None or value in ("", [], {}, {"values": []}):
            return None
        if self.rules.is_field(name):
            return FIELD
        if self.rules.phone and compared_name(name.rpartition(".")[2]) in _PHONE_FIELDS:
            is_number = isinstance(value, int | str) and not isinstance(value, bool)
            return "phone" if is_number and _PHONE_VALUE.fullmatch(plain(str(value)).strip()) else None
        return None

    def _taken(self, rule: str, value: Any) -> str:
        word = f"[{rule}]"
        self.counts[rule] += value != word
        return word

    def _key(self, key: Any) -> Any:
        return self._searched(key) if isinstance(key, str) else key

    def _number(self, value: float) -> Any:
        written = str(int(value)) if isinstance(value, int) or value.is_integer() else ""
        if self.rules.card and len(written) >= 13 and any(cards(written)):
            return self._taken("card", value)
        return value

    def _text(self, text: str, depth: int) -> str:
        if depth < _DEEPEST_TEXT and text.lstrip()[:1] in ("{", "[", '"'):
            try:
                inner = load_json(text, max_depth=_DEEPEST_TEXT - depth)
            except InvalidDocument:
                return self._searched(text)
            before = self.counts.total()
            made = self.value(inner, depth + 1)
            return text if self.counts.total() == before else exact(made)
        return self._searched(text)

    def _searched(self, text: str) -> str:
        if text in self.rules.remembered:
            return text
        found = [*self._fields(text), *self._built_in(text), *self._own(text)]
        if not found and len(text) <= _SHORT and len(self.rules.remembered) < _MOST_REMEMBERED:
            self.rules.remembered.add(text)
        for _ in range(_MOST_ROUNDS):
            if not found:
                break
            text = self._replaced(text, found)
            found = list(self._built_in(text))
        return text

    def _built_in(self, text: str) -> Iterator[tuple[Place, str]]:
        if len(text) < 5 or not self.finders:
            return
        searched = plain(text)
        digits = sum(map(searched.count, "0123456789"))
        for name, finder in self.finders:
            if digits >= FEWEST_DIGITS[name]:
                yield from ((place, name) for place in finder(searched))

    def _fields(self, text: str) -> Iterator[tuple[Place, str]]:
        if pattern := self.rules.field_pattern:
            for found in pattern.finditer(text):
                if found["value"].strip("\\\"'") not in ("", "null", "None", f"[{FIELD}]"):
                    yield found.span("value"), FIELD

    def _own(self, text: str) -> Iterator[tuple[Place, str]]:
        for name, pattern in self.rules.patterns:
            # One sign for another, so that places stay; RE2 takes no lone surrogates.
            for start, end in _matches(pattern, text.encode("utf-8", "replace").decode()):
                yield (start, end), name

    def _replaced(self, text: str, matches: Iterable[tuple[Place, str]]) -> str:
        """Return the text with each place replaced; of places that overlap the first gives the name to them all."""
        order = {name: place for place, name in enumerate((FIELD, *_BUILT_IN))}
        parts: list[str] = []
        end = 0
        for (start, stop), name in sorted(
            matches, key=lambda each: (each[0][0], order.get(each[1], len(order)), each[1])
        ):
            if start >= end:
                parts += (text[end:start], f"[{name}]")
                self.counts[name] += 1
            end = max(end, stop)
        return "".join((*parts, text[end:]))


def _matches(pattern: str, text: str) -> Iterator[Place]:
    compiled: Any = compile_pattern(pattern)
    return (found.span() for found in compiled.finditer(text) if found.end() > found.start())


@lru_cache(4096)
def compared_name(name: str) -> str:
    """Return the name of a field as it is compared: without case, `_`, `-` and spaces."""
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
