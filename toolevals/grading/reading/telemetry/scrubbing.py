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

from toolevals.grading.reading.telemetry.personal_data import FINDERS, BuiltIn, Place, cards, plain
from toolevals.grading.reading.telemetry.spans import SpanEvent, TelemetrySpan
from toolevals.grading.values.canonical import MAX_DEPTH, exact
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.patterns import compile_pattern
from toolevals.grading.values.problems import InvalidDocument, Problem

Value = TypeVar("Value")
FIELD = "field"
MOST_NAMES = 200
_BUILT_IN: tuple[BuiltIn, ...] = tuple(FINDERS)
_NAME = re.compile(r"[a-z0-9][a-z0-9 _-]{0,39}", re.ASCII)
# So deep is JSON read that stands in text, in JSON and text again; below, text is searched as it is written.
_DEEPEST_TEXT = 100
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
    """What counts as personal data. `fields` are names of keys and attributes, `patterns` names with RE2's patterns.

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
        return frozenset(map(_compared, self.fields))

    @cached_property
    def field_pattern(self) -> re.Pattern[str] | None:
        """Return what finds the fields in text that is no JSON, with their value as group `value`."""
        if not self.fields:
            return None
        names = "|".join("[ _-]?".join(map(re.escape, _compared(name))) for name in self.fields)
        return re.compile(
            rf"(?<![^\W_])(?:{names})\\{{0,8}}[\"']?\s{{0,8}}[:=]\s{{0,8}}"
            rf"(?P<value>\\{{0,8}}\"(?:[^\"\\]|\\.)*+\"?|\\{{0,8}}'(?:[^'\\]|\\.)*+'?|[\[{{][\s\S]*+|[^\s,;&}}\]\"'\[{{]+)",
            re.IGNORECASE,
        )

    def is_field(self, name: str) -> bool:
        """Tell whether a key or an attribute is one of the fields."""
        return bool(self.fields) and not self.field_names.isdisjoint(
            (_compared(name), _compared(name.rpartition(".")[2]))
        )


def rules_in(document: Any) -> ScrubbingRules:
    """Return the rules of a document: true or false for each kind of data, `fields` and `patterns`.

    Raises InvalidDocument with everything that is wrong: unknown keys, values of other types, names given twice,
    patterns that RE2 refuses or that match the empty text.
    """
    if not isinstance(document, Mapping):
        raise InvalidDocument.at("", "is not an object")
    problems = list(_problems(document))
    if problems:
        raise InvalidDocument(problems)
    return ScrubbingRules(
        **{name: document.get(name, True) for name in _BUILT_IN},
        fields=tuple(document.get("fields", ())),
        patterns=tuple((each["name"], each["pattern"]) for each in document.get("patterns", ())),
    )


def document_of(rules: ScrubbingRules) -> dict[str, Any]:
    """Return rules as the document that `rules_in` reads."""
    patterns = [{"name": name, "pattern": pattern} for name, pattern in rules.patterns]
    return {name: getattr(rules, name) for name in _BUILT_IN} | {"fields": list(rules.fields), "patterns": patterns}


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
        if self.rules.phone and _compared(name.rpartition(".")[2]) in _PHONE_FIELDS:
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
        found = [*self._fields(text), *self._built_in(text), *self._own(text)]
        for _ in range(_MOST_ROUNDS):
            if not found:
                break
            text = self._replaced(text, found)
            found = list(self._built_in(text))
        return text

    def _built_in(self, text: str) -> Iterator[tuple[Place, str]]:
        if len(text) < 5:
            return
        searched = plain(text)
        for name, finder in self.finders:
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

    def _replaced(self, text: str, found: Iterable[tuple[Place, str]]) -> str:
        """Return the text with each place replaced; of places that overlap the first gives the name to them all."""
        order = {name: place for place, name in enumerate((FIELD, *_BUILT_IN))}
        parts: list[str] = []
        end = 0
        for (start, stop), name in sorted(
            found, key=lambda each: (each[0][0], order.get(each[1], len(order)), each[1])
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
def _compared(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def _problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    for key, value in document.items():
        if key in _BUILT_IN:
            if not isinstance(value, bool):
                yield Problem(f"/{key}", "is neither true nor false")
        elif key not in ("fields", "patterns"):
            yield Problem("", f"has an unknown key {str(key)[:40]}: there are {', '.join(_BUILT_IN)}, fields, patterns")
        elif not isinstance(value, list) or len(value) > MOST_NAMES:
            yield Problem(f"/{key}", f"is not a list of at most {MOST_NAMES}")
        else:
            yield from (_field_problems if key == "fields" else _pattern_problems)(value)


def _field_problems(names: list[Any]) -> Iterator[Problem]:
    for place, name in enumerate(names):
        if not isinstance(name, str) or not _compared(name) or len(name) > 100:
            yield Problem(f"/fields/{place}", "is no name of a field of at most 100 characters")


def _pattern_problems(patterns: list[Any]) -> Iterator[Problem]:
    taken = {*_BUILT_IN, FIELD}
    for place, each in enumerate(patterns):
        pointer = f"/patterns/{place}"
        if not isinstance(each, Mapping) or set(each) != {"name", "pattern"}:
            yield Problem(pointer, "is no object of a name and a pattern")
            continue
        name, pattern = each["name"], each["pattern"]
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in taken:
            yield Problem(f"{pointer}/name", "is no new name of small letters, digits, spaces, - and _")
        taken.add(str(name))
        if problem := _pattern_problem(pattern):
            yield Problem(f"{pointer}/pattern", problem)


def _pattern_problem(pattern: Any) -> str | None:
    if not isinstance(pattern, str):
        return "is no text"
    try:
        return "matches the empty text" if compile_pattern(pattern).search("") is not None else None
    except ValueError as error:
        return str(error)
