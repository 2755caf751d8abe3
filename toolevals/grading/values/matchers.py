"""Define what an argument's value has to be: nine matchers, and six extensions of ours (`is_extension`).

Every matcher wants its argument to be present, unless `optional` says that it may be left out. What "equal" means is
the expectation's profile; see `equality`. Here are the values only: `matcher_documents` reads them and
`matching` turns them into tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from toolevals.grading.values.dates import Moment, read_moment
from toolevals.grading.values.numbers import decimal_value
from toolevals.grading.values.value_classes import value_class


@value_class
class _Matcher:
    """The base of all matchers."""

    kind: ClassVar[str]
    is_extension: ClassVar[bool] = False

    optional: bool = field(default=False, kw_only=True)

    def content(self) -> Any:
        """Return what is next to the kind in a document."""
        return True

    def to_document(self) -> dict[str, Any]:
        """Return the normal form."""
        document = {self.kind: self.content()}
        if self.optional:
            document["optional"] = True
        return document


@value_class
class Exact(_Matcher):
    """The value equals this one."""

    kind = "exact"
    value: Any

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

    def to_document(self) -> dict[str, Any]:
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
        place: dict[str, Any] = {"call": self.call, "pointer": self.pointer}
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
