"""What an argument's value has to be: nine matchers, and three extensions of ours.

Every matcher wants its argument to be present, unless `optional` says that it may be left out. What "equal" means is
the expectation's profile; see `equality`. Here are the values only: `matching` turns them into tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from toolevals.grading.patterns import compile_pattern
from toolevals.grading.problems import InvalidDocument, pointer_to


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matcher:
    """What all matchers share."""

    kind: ClassVar[str]

    optional: bool = False

    def content(self) -> Any:
        """Return what stands beside the kind in a document."""
        return True

    def to_document(self) -> dict[str, Any]:
        """Return the normal form."""
        document = {self.kind: self.content()}
        if self.optional:
            document["optional"] = True
        return document


@dataclass(frozen=True, slots=True)
class Exact(_Matcher):
    """The value equals this one."""

    kind = "exact"
    value: Any

    def content(self) -> Any:
        return self.value


@dataclass(frozen=True, slots=True)
class KeyOnly(_Matcher):
    """Any value, so long as the argument is there."""

    kind = "key_only"


@dataclass(frozen=True, slots=True)
class OneOf(_Matcher):
    """The value equals one of these."""

    kind = "one_of"
    values: tuple[Any, ...]

    def content(self) -> Any:
        return list(self.values)


@dataclass(frozen=True, slots=True)
class Range(_Matcher):
    """A number between these, both included; None leaves a side open."""

    kind = "range"
    low: float | None
    high: float | None

    def content(self) -> Any:
        return [self.low, self.high]


@dataclass(frozen=True, slots=True)
class Pattern(_Matcher):
    """Text in which this regular expression (RE2) is found, anywhere unless it is anchored."""

    kind = "pattern"
    pattern: str

    def content(self) -> Any:
        return self.pattern


@dataclass(frozen=True, slots=True)
class Contains(_Matcher):
    """Text that holds this text, case-sensitive."""

    kind = "contains"
    text: str

    def content(self) -> Any:
        return self.text


@dataclass(frozen=True, slots=True)
class HasPrefix(_Matcher):
    """Text that begins with this text, case-sensitive."""

    kind = "has_prefix"
    text: str

    def content(self) -> Any:
        return self.text


@dataclass(frozen=True, slots=True)
class HasSuffix(_Matcher):
    """Text that ends with this text, case-sensitive."""

    kind = "has_suffix"
    text: str

    def content(self) -> Any:
        return self.text


@dataclass(frozen=True, slots=True)
class NaturalLanguage(_Matcher):
    """A value that meets criteria in words: a judge decides, and without one it is unscored."""

    kind = "natural_language"
    criteria: str

    def content(self) -> Any:
        return self.criteria


@dataclass(frozen=True, slots=True)
class Fields(_Matcher):
    """An object whose fields match one by one. An extension: benchmarks nest their allowed values."""

    kind = "fields"
    fields: Mapping[str, Matcher]
    additional_fields: bool = field(default=False, kw_only=True)

    def content(self) -> Any:
        return {name: matcher.to_document() for name, matcher in self.fields.items()}

    def to_document(self) -> dict[str, Any]:
        document = _Matcher.to_document(self)
        if self.additional_fields:
            document["additional_fields"] = True
        return document


@dataclass(frozen=True, slots=True)
class Items(_Matcher):
    """A list of just this length whose items match one by one, in order. An extension."""

    kind = "items"
    items: tuple[Matcher, ...]

    def content(self) -> Any:
        return [matcher.to_document() for matcher in self.items]


@dataclass(frozen=True, slots=True)
class Absent(_Matcher):
    """The argument must be left out. An extension."""

    kind = "absent"


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
)
_BY_KIND: dict[str, type[Matcher]] = {matcher.kind: matcher for matcher in MATCHERS}


def matcher_from_document(document: dict[str, Any], pointer: str = "") -> Matcher:
    """Read a matcher that the expectation's schema has passed.

    Raises InvalidDocument on a pattern that RE2 refuses and on an empty range; `pointer` is where the matcher stands.
    """
    kind = next(key for key in document if key in _BY_KIND)
    content, optional = document[kind], document.get("optional", False)
    if kind in {"key_only", "absent"}:
        return KeyOnly(optional=optional) if kind == "key_only" else Absent(optional=optional)
    if kind == "one_of":
        return OneOf(tuple(content), optional=optional)
    if kind == "range":
        return _range(content, optional, pointer)
    if kind == "fields":
        fields = matchers_from_document(content, f"{pointer}/fields")
        return Fields(fields, optional=optional, additional_fields=document.get("additional_fields", False))
    if kind == "items":
        items = (matcher_from_document(item, f"{pointer}/items/{place}") for place, item in enumerate(content))
        return Items(tuple(items), optional=optional)
    if kind == "pattern":
        _check_pattern(content, f"{pointer}/pattern")
    plain: Any = _BY_KIND[kind]
    matcher: Matcher = plain(content, optional=optional)
    return matcher


def matchers_from_document(document: dict[str, Any], pointer: str = "") -> dict[str, Matcher]:
    """Read an object of matchers that the expectation's schema has passed. Raises InvalidDocument."""
    return {name: matcher_from_document(item, pointer + pointer_to([name])) for name, item in document.items()}


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
