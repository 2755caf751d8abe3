"""Reads the two published grammars of assertions, with the place of every fault.

A: `tool_name_f1.score >= 0.95 for at_least 95% of cases`: of a metric's scores, one a case.
B: `pass_rate >= 0.85` or `0.5 <= avg_score <= 1`: of a statistic over the cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

Operator = Literal[">=", "<=", ">", "<", "==", "!="]
OPERATORS: tuple[Operator, ...] = get_args(Operator)

# Sums of floats miss by less; people do not mean such differences.
_TOLERANCE = 1e-12
_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:\d+(?:\.\d*)?|\.\d+)(?![\w.]))|(?P<name>[A-Za-z_][\w.:]*)|(?P<operator>>=|<=|==|!=|>|<)|(?P<percent>%))",
    re.ASCII,
)


class ConditionError(ValueError):
    """A condition that cannot be read. `position` counts characters from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at character {position + 1}")
        self.position = position


@dataclass(frozen=True, slots=True)
class Condition:
    """`subject operator value`, or `value <= subject <= upper` where `upper` is given (the operator is `>=`)."""

    subject: str
    operator: Operator
    value: float
    upper: float | None = None

    def holds(self, low: float, high: float | None = None) -> bool | None:
        """Return whether it holds for a figure somewhere in low..high: True for all, False for none, else None."""
        high = low if high is None else high
        if self.upper is not None:
            return _both(_at_least(low, high, self.value), _at_most(low, high, self.upper))
        return _HOLDS[self.operator](low, high, self.value)

    @property
    def words(self) -> str:
        """Return what is demanded, without the subject: `>= 0.95`, `between 0.5 and 1`."""
        if self.upper is not None:
            return f"between {self.value:.12g} and {self.upper:.12g}"
        return f"{self.operator} {self.value:.12g}"

    def __str__(self) -> str:
        if self.upper is not None:
            return f"{self.value:g} <= {self.subject} <= {self.upper:g}"
        return f"{self.subject} {self.operator} {self.value:g}"


@dataclass(frozen=True, slots=True)
class CaseAssertion:
    """A condition on each case's score of a metric, and the share of cases (0..1) that must meet it."""

    condition: Condition
    share: float

    def __str__(self) -> str:
        score = self.condition
        return f"{score.subject}.score {score.words} for at_least {self.share * 100:g}% of cases"


def parse_condition(text: str, subjects: tuple[str, ...], shares: Collection[str] = ()) -> Condition:
    """Return a condition of grammar B on one of `subjects`; those in `shares` are 0 to 1. Raises ConditionError."""
    tokens = _Tokens(text)
    place = tokens.place
    lower = tokens.number_or_none()
    if lower is None:
        subject, operator = tokens.one_of(subjects), tokens.operator()
        place = tokens.place
        condition = Condition(subject, operator, tokens.number())
        _require_share(condition.value, place, subject, shares)
    else:
        tokens.exactly("operator", "<=")
        subject = tokens.one_of(subjects)
        _require_share(lower, place, subject, shares)
        tokens.exactly("operator", "<=")
        place = tokens.place
        upper = tokens.number()
        _require_share(upper, place, subject, shares)
        if upper < lower:
            raise ConditionError(f"{upper:g} is below {lower:g}, so no value can be between", place)
        condition = Condition(subject, ">=", lower, upper)
    tokens.end()
    return condition


def parse_case_assertion(text: str) -> CaseAssertion:
    """Return an assertion of grammar A. Raises ConditionError."""
    tokens = _Tokens(text)
    place = tokens.place
    name = tokens.name("a metric, as in tool_name_f1.score")
    metric, dot, attribute = name.rpartition(".")
    if not dot or attribute != "score" or not metric:
        raise ConditionError(f"expected METRIC.score, not {name}", place)
    operator, place = tokens.operator(), tokens.place
    condition = Condition(metric, operator, tokens.number())
    _require_share(condition.value, place, "a score", ("a score",))
    tokens.exactly("name", "for")
    tokens.exactly("name", "at_least")
    place = tokens.place
    percent = tokens.number()
    if not 0 <= percent <= 100:
        raise ConditionError(f"{percent:g}% is not between 0% and 100%", place)
    tokens.exactly("percent", "%")
    tokens.exactly("name", "of")
    tokens.exactly("name", "cases")
    tokens.end()
    return CaseAssertion(condition, percent / 100)


def _require_share(value: float, place: int, subject: str, shares: Collection[str]) -> None:
    if subject in shares and not 0 <= value <= 1:
        raise ConditionError(f"{value:g} is not between 0 and 1, as {subject} is", place)


class _Tokens:
    """The tokens of a condition, taken from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0

    @property
    def place(self) -> int:
        """Return where the next token begins."""
        return self._tokens[self._next][2]

    def number_or_none(self) -> float | None:
        kind, _, _ = self._tokens[self._next]
        if kind != "number":
            return None
        return self.number()

    def number(self) -> float:
        place = self.place
        value = float(self._take("number", "a number"))
        if not isfinite(value):
            raise ConditionError("a number too large", place)
        return value

    def name(self, wanted: str) -> str:
        return self._take("name", wanted)

    def one_of(self, subjects: tuple[str, ...]) -> str:
        place = self.place
        name = self._take("name", "a statistic")
        if name not in subjects:
            raise ConditionError(f"{name} is not one of the statistics {', '.join(subjects)}", place)
        return name

    def operator(self) -> Operator:
        written = self._take("operator", f"one of {' '.join(OPERATORS)}")
        return next(operator for operator in OPERATORS if operator == written)

    def exactly(self, kind: str, written: str) -> None:
        found, text, place = self._tokens[self._next]
        if (found, text) != (kind, written):
            raise ConditionError(f"expected {written}, not {text or 'the end'}", place)
        self._next += 1

    def end(self) -> None:
        kind, written, place = self._tokens[self._next]
        if kind != "end":
            raise ConditionError(f"expected the end, not {written}", place)

    def _take(self, kind: str, wanted: str) -> str:
        found, written, place = self._tokens[self._next]
        if found != kind:
            raise ConditionError(f"expected {wanted}, not {written or 'the end'}", place)
        self._next += 1
        return written


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    end = len(text.rstrip())
    place = 0
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            start = place + len(text[place:]) - len(text[place:].lstrip())
            raise ConditionError(f"cannot read {text[start : start + 20]!r}", start)
        kind = match.lastgroup
        yield kind, match[kind], match.start(kind)
        place = match.end()
    yield "end", "", end


def _at_least(low: float, high: float, bound: float) -> bool | None:
    if low >= bound - _TOLERANCE:
        return True
    return False if high < bound - _TOLERANCE else None


def _at_most(low: float, high: float, bound: float) -> bool | None:
    if high <= bound + _TOLERANCE:
        return True
    return False if low > bound + _TOLERANCE else None


def _equal(low: float, high: float, bound: float) -> bool | None:
    return _both(_at_least(low, high, bound), _at_most(low, high, bound))


def _both(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return True if one and other else None


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


_HOLDS: Mapping[Operator, Callable[[float, float, float], bool | None]] = {
    ">=": _at_least,
    "<=": _at_most,
    ">": lambda low, high, bound: _not(_at_most(low, high, bound)),
    "<": lambda low, high, bound: _not(_at_least(low, high, bound)),
    "==": _equal,
    "!=": lambda low, high, bound: _not(_equal(low, high, bound)),
}
