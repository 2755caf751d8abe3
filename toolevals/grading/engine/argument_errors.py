"""Tell which argument of which tool was wrong, and how: a case's differences and schema problems by parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from toolevals.grading.values import Call
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import CaseGrade

FaultKind = Literal["changed", "missing", "extra", "invalid"]
# Of one argument of one call the first of these that is there counts: parts of a list share one name.
_ORDER: Final[dict[str, int]] = {"missing": 0, "changed": 1, "extra": 2}
LONGEST_NAME = 200


@value_class
class ArgumentFault:
    """One argument of one call that is not as expected, or that breaks the tool's schema (kind "invalid").

    `argument` is the path of names into the arguments, joined by dots, with `*` for a place in a list: `items.*.sku`;
    empty where a schema is broken by the arguments as a whole. `place` is that of the pair among the case's pairs; of
    an invalid argument, that of the call among the transcript's calls.
    """

    place: int
    tool: str
    argument: str
    kind: FaultKind


def argument_faults(grade: CaseGrade, calls: Sequence[Call]) -> Iterator[ArgumentFault]:
    """Yield each wrong argument of the expected calls to the right tool once, then each that breaks a schema once.

    Of calls to another tool arguments are not compared, but their schema problems are there. `calls` are the
    transcript's.
    """
    found: dict[tuple[int, str], str] = {}
    for difference in grade.differences:
        pair = grade.pairs[difference.pair]
        if difference.kind in _ORDER and pair.expected == pair.actual:
            key = difference.pair, argument_name(difference.path)
            found[key] = min(difference.kind, found.get(key, difference.kind), key=_ORDER.__getitem__)
    for (place, argument), kind in found.items():
        yield ArgumentFault(place, grade.pairs[place].expected, argument, kind)  # type: ignore[arg-type]
    invalid = {(problem.call, argument_name(problem.pointer)): None for problem in grade.schema_problems}
    for place, argument in invalid:
        yield ArgumentFault(place, calls[place].name or "", argument, "invalid")


def argument_name(pointer: str) -> str:
    """Return the parameter that a JSON pointer leads to; what is a number is taken for a place in a list."""
    parts = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    return ".".join("*" if part.isascii() and part.isdigit() else part for part in parts)[:LONGEST_NAME]
