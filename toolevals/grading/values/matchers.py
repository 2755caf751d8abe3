"""Define what an argument's value has to be: nine matchers, and six extensions of ours (`is_extension`).

Every matcher wants its argument to be present, unless `optional` says that it may be left out. What "equal" means is
the expectation's profile; see `equality`. They are read from documents that the expectation's schema has passed, and
`matching` turns them into tests. Numbers are computed exactly, as they are written.

Regular expressions from users are matched in linear time by RE2, never by backtracking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any, ClassVar, Protocol, TypeAlias

import re2

from toolevals.grading.values.dates import Moment, read_moment
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.grading.values.value_classes import value_class
from toolevals.json_types import JsonObject, JsonValue

MAX_LENGTH = 2_000


class CompiledPattern(Protocol):
    """A pattern that searches text in linear time."""

    def search(self, text: str) -> object | None: ...


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> CompiledPattern:
    """Return the compiled pattern. Raises ValueError where RE2 refuses it: look-around, back-references, size."""
    if len(pattern) > MAX_LENGTH:
        raise ValueError(f"the pattern is longer than {MAX_LENGTH:,} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: CompiledPattern = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        words = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"the pattern is refused: {words}") from None
    return compiled


def is_finite(number: float) -> bool:
    """Tell whether a number is neither NaN nor infinite; integers of any size are finite."""
    return not isinstance(number, float) or isfinite(number)


def decimal_value(number: float) -> Fraction:
    """Return a finite number exactly: a float as the shortest decimal that reads back as it, so that 0.1 is 1/10."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


@value_class
class _Matcher:
    """The base of all matchers."""

    kind: ClassVar[str]
    is_extension: ClassVar[bool] = False

    optional: bool = field(default=False, kw_only=True)

    def content(self) -> Any:
        """Return what is next to the kind in a document."""
        return True

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        document = {self.kind: self.content()}
        if self.optional:
            document["optional"] = True
        return document


@value_class
class Exact(_Matcher):
    """The value equals this one."""

    kind = "exact"
    value: JsonValue

    def content(self) -> Any:
        return self.value


@value_class
class KeyOnly(_Matcher):
    """Any value, so long as the argument is there."""

    kind = "key_only"


@value_class
class OneOf(_Matcher):
    """The value equals one of these."""

    kind = "one_of"
    values: tuple[Any, ...]

    def content(self) -> Any:
        return list(self.values)


@value_class
class Range(_Matcher):
    """A number between these, both included; None leaves a side open."""

    kind = "range"
    low: float | None
    high: float | None

    def content(self) -> Any:
        return [self.low, self.high]


@value_class
class Pattern(_Matcher):
    """Text in which this regular expression (RE2) is found, anywhere unless it is anchored."""

    kind = "pattern"
    pattern: str

    def content(self) -> Any:
        return self.pattern


@value_class
class Contains(_Matcher):
    """Text that holds this text, case-sensitive."""

    kind = "contains"
    text: str

    def content(self) -> Any:
        return self.text


@value_class
class HasPrefix(_Matcher):
    """Text that begins with this text, case-sensitive."""

    kind = "has_prefix"
    text: str

    def content(self) -> Any:
        return self.text


@value_class
class HasSuffix(_Matcher):
    """Text that ends with this text, case-sensitive."""

    kind = "has_suffix"
    text: str

    def content(self) -> Any:
        return self.text


@value_class
class NaturalLanguage(_Matcher):
    """A value that meets criteria in words: a judge decides, and without one it is unscored."""

    kind = "natural_language"
    criteria: str

    def content(self) -> Any:
        return self.criteria


@value_class
class Fields(_Matcher):
    """An object whose fields match one by one. An extension: benchmarks nest their allowed values."""

    kind = "fields"
    is_extension = True
    fields: Mapping[str, Matcher]
    additional_fields: bool = field(default=False, kw_only=True)

    def content(self) -> Any:
        return {name: matcher.to_document() for name, matcher in self.fields.items()}

    def to_document(self) -> JsonObject:
        document = _Matcher.to_document(self)
        if self.additional_fields:
            document["additional_fields"] = True
        return document


@value_class
class Items(_Matcher):
    """A list of just this length whose items match one by one, in order. An extension."""

    kind = "items"
    is_extension = True
    items: tuple[Matcher, ...]

    def content(self) -> Any:
        return [matcher.to_document() for matcher in self.items]


@value_class
class Absent(_Matcher):
    """The argument must be left out. An extension."""

    kind = "absent"
    is_extension = True


@value_class
class Approximately(_Matcher):
    """A number no farther from this one than the wider of two tolerances. An extension.

    `absolute` is in the value's unit, `relative` a share of the value; at least one is given.
    """

    kind = "approximately"
    is_extension = True
    value: float
    absolute: float | None = None
    relative: float | None = None

    def content(self) -> Any:
        tolerances = {"absolute": self.absolute, "relative": self.relative}
        return {"value": self.value, **{name: each for name, each in tolerances.items() if each is not None}}

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return the least and the greatest number admitted, exact in the decimals as written."""
        value = decimal_value(self.value)
        tolerance = max(decimal_value(self.absolute or 0), decimal_value(self.relative or 0) * abs(value))
        return value - tolerance, value + tolerance


@value_class
class DateEqual(_Matcher):
    """Text that is the same date or time, written in any form that can be read in one way only. An extension.

    `formats` say how numeric dates that could be read in two ways are to be read; see `dates`.
    """

    kind = "date_equal"
    is_extension = True
    date: str
    formats: tuple[str, ...] = ()

    def content(self) -> Any:
        return {"date": self.date, "formats": list(self.formats)} if self.formats else self.date

    def moment(self) -> Moment | None:
        """Return the date that is meant; None where the text is none, which no document that was read has."""
        return read_moment(self.date, self.formats)


@value_class
class ResultOf(_Matcher):
    """The value at a place of the result of an earlier expected call. An extension.

    `call` counts the expected calls from 1, `pointer` is a JSON pointer into the result. Once the calls made are known
    (see `call_results`), `values` are what stood there, each of which will do; without any, `unknown` says why.
    """

    kind = "result_of"
    is_extension = True
    call: int
    pointer: str = ""
    values: tuple[Any, ...] = field(default=(), kw_only=True)
    unknown: str = field(default="", kw_only=True)

    def content(self) -> Any:
        place: JsonObject = {"call": self.call, "pointer": self.pointer}
        return {**place, "value": self.values[0]} if self.values else place


Matcher: TypeAlias = (
    Exact
    | KeyOnly
    | OneOf
    | Range
    | Pattern
    | Contains
    | HasPrefix
    | HasSuffix
    | NaturalLanguage
    | Fields
    | Items
    | Absent
    | Approximately
    | DateEqual
    | ResultOf
)
MATCHERS: tuple[type[Matcher], ...] = (
    Exact,
    KeyOnly,
    OneOf,
    Range,
    Pattern,
    Contains,
    HasPrefix,
    HasSuffix,
    NaturalLanguage,
    Fields,
    Items,
    Absent,
    Approximately,
    DateEqual,
    ResultOf,
)


_BY_KIND: dict[str, type[Matcher]] = {matcher.kind: matcher for matcher in MATCHERS}


def matcher_from_document(document: JsonObject, pointer: str = "") -> Matcher:
    """Read a matcher that the expectation's schema has passed.

    Raises InvalidDocument on a pattern that RE2 refuses, on an empty range, on a number that is none, and on a date
    that cannot be read in one way; `pointer` is where the matcher stands.
    """
    kind = next(key for key in document if key in _BY_KIND)
    content, optional = document[kind], document.get("optional", False)
    match kind:
        case "key_only" | "absent":
            return (KeyOnly if kind == "key_only" else Absent)(optional=optional)
        case "one_of":
            return OneOf(tuple(content), optional=optional)
        case "range":
            return _range(content, optional, pointer)
        case "fields":
            fields = matchers_from_document(content, f"{pointer}/fields")
            return Fields(fields, optional=optional, additional_fields=document.get("additional_fields", False))
        case "items":
            items = (matcher_from_document(item, f"{pointer}/items/{place}") for place, item in enumerate(content))
            return Items(tuple(items), optional=optional)
        case "approximately":
            return _approximately(content, optional, pointer)
        case "date_equal":
            return _date_equal(content, optional, pointer)
        case "result_of":
            return ResultOf(int(content["call"]), content.get("pointer", ""), optional=optional)
        case "pattern":
            _check_pattern(content, f"{pointer}/pattern")
    plain: Any = _BY_KIND[kind]
    matcher: Matcher = plain(content, optional=optional)
    return matcher


def matchers_from_document(document: JsonObject, pointer: str = "") -> dict[str, Matcher]:
    """Read an object of matchers that the expectation's schema has passed. Raises InvalidDocument."""
    return {
        # Most name one value, of which nothing can be wrong.
        name: Exact(item["exact"])
        if len(item) == 1 and "exact" in item
        else matcher_from_document(item, pointer + pointer_to([name]))
        for name, item in document.items()
    }


def _range(content: list[float | None], optional: bool, pointer: str) -> Range:
    low, high = content
    if low is None and high is None:
        raise InvalidDocument.at(f"{pointer}/range", "both ends are open: use key_only")
    if low is not None and high is not None and low > high:
        raise InvalidDocument.at(f"{pointer}/range", "the lower end is above the upper end")
    return Range(low, high, optional=optional)


def _check_pattern(pattern: str, pointer: str) -> None:
    try:
        compile_pattern(pattern)
    except ValueError as error:
        raise InvalidDocument.at(pointer, str(error)) from None


def _approximately(content: dict[str, float], optional: bool, pointer: str) -> Approximately:
    for name, number in content.items():
        if not is_finite(number):
            raise InvalidDocument.at(f"{pointer}/approximately/{name}", "is not a finite number")
    return Approximately(**content, optional=optional)


def _date_equal(content: JsonValue, optional: bool, pointer: str) -> DateEqual:
    if isinstance(content, str):
        matcher, where = DateEqual(content, optional=optional), f"{pointer}/date_equal"
    else:
        matcher = DateEqual(content["date"], tuple(content["formats"]), optional=optional)
        where = f"{pointer}/date_equal/date"
    if len({form.replace("DD", "MM") for form in matcher.formats}) < len(matcher.formats):
        raise InvalidDocument.at(f"{pointer}/date_equal/formats", "the day cannot be both first and second")
    if matcher.moment() is None:
        raise InvalidDocument.at(where, f"{matcher.date} cannot be read as a date in one way only")
    return matcher


_REFERRING = (ResultOf, Fields, Items)


def may_refer(matcher: Matcher) -> bool:
    """Tell whether a matcher is of a kind that refers to results, or has others inside that may."""
    return isinstance(matcher, _REFERRING)


def references_in(matcher: Matcher, pointer: str = "") -> Iterator[tuple[str, ResultOf]]:
    """Yield the references to results in a matcher, with the JSON pointers to them in its document."""
    match matcher:
        case ResultOf():
            yield pointer, matcher
        case Fields():
            for name, inner in matcher.fields.items():
                yield from references_in(inner, f"{pointer}/fields{pointer_to([name])}")
        case Items():
            for place, inner in enumerate(matcher.items):
                yield from references_in(inner, f"{pointer}/items/{place}")


def with_references(matcher: Matcher, change: Callable[[ResultOf], ResultOf]) -> Matcher:
    """Return the matcher with each reference in it changed."""
    match matcher:
        case ResultOf():
            return change(matcher)
        case Fields():
            return replace(
                matcher, fields={name: with_references(each, change) for name, each in matcher.fields.items()}
            )
        case Items():
            return replace(matcher, items=tuple(with_references(each, change) for each in matcher.items))
        case _:
            return matcher
