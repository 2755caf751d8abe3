"""Checks a connector's options: what each must be, in words for the person who gave another."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from toolevals.grading.values.problems import InvalidDocument, Problem


@dataclass(frozen=True, slots=True)
class Check:
    """The condition of a value, and the words for a value that does not meet it."""

    is_right: Callable[[Any], bool]
    message: str


def options_read(
    document: Mapping[str, Any], checks: Mapping[str, Check], *, required: Collection[str] = ()
) -> dict[str, Any]:
    """Return the options that are given. Raises InvalidDocument with every problem."""
    problems = [Problem(f"/{name}", "is not an option here") for name in document if name not in checks]
    for name, check in checks.items():
        value = document.get(name)
        if (value is None and name in required) or (value is not None and not check.is_right(value)):
            problems.append(Problem(f"/{name}", check.message))
    if problems:
        raise InvalidDocument(problems)
    return {name: value for name, value in document.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one connector, which has them as its fields. A field without a default must be given."""

    CHECKS: ClassVar[Mapping[str, Check]]

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read options; what is not said is at its default. Raises InvalidDocument with every problem."""
        required = [each.name for each in fields(cls) if each.default is MISSING and each.default_factory is MISSING]
        return cls(**options_read(document, cls.CHECKS, required=required))

    def to_document(self) -> dict[str, Any]:
        """Return every option."""
        return asdict(self)


TEXT = Check(lambda value: isinstance(value, str), "must be text")
TRUE_OR_FALSE = Check(lambda value: isinstance(value, bool), "must be true or false")


def some_text(message: str) -> Check:
    """Text that is not empty."""
    return Check(lambda value: isinstance(value, str) and bool(value.strip()), message)


def address() -> Check:
    """An address to call."""
    return Check(is_address, "must be an address that begins with http:// or https://, without a password in it")


def number(low: float, high: float, of: str = "") -> Check:
    """A number within bounds."""
    words = f"must be a number {of} from {low:g} to {high:g}" if of else f"must be a number from {low:g} to {high:g}"
    return Check(
        lambda value: (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and low <= value <= high
        ),
        words,
    )


def count(low: int, high: int, message: str) -> Check:
    """A whole number within bounds."""
    return Check(lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high, message)


def one_of(values: Sequence[str]) -> Check:
    """One of a few words."""
    return Check(lambda value: value in values, f"must be one of {', '.join(values)}")


def parameters(reserved: frozenset[str]) -> Check:
    """Further parameters of a request, without those that are reserved."""
    return Check(
        lambda value: isinstance(value, dict) and not reserved & value.keys(),
        f"must be an object without {', '.join(sorted(reserved))}",
    )


def is_address(value: Any) -> bool:
    """Tell whether a value is an address of HTTP without a password in it."""
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        return parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        return False
