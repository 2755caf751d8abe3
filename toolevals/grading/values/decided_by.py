"""Name what decides a case: its calls, its end state, its answer, how it dealt with errors and results, or several.

`decided_by` is text: EXPECTED, or names of PARTS joined by "+" in the order of PARTS, such as "end_state+answer".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.statuses import Status
from toolevals.grading.values.verdict_table import DECIDING

# Whatever the gold expects decides: the calls, and the answer and the end state where they are expected and known.
EXPECTED: Final = "expected"
CALLS: Final = "calls"
# Part -> the verdict that it reads; the calls are read off selection and arguments together.
PARTS: Final[Mapping[str, str]] = {CALLS: "", **{part.name: verdict for verdict, part in DECIDING.items()}}
PART_SENTENCES: Final[Mapping[str, str]] = {
    EXPECTED: "What the gold expects: the calls, and the answer and the end state where it names them.",
    CALLS: "The expected tools were called with the expected arguments.",
    **{part.name: part.sentence for part in DECIDING.values()},
}
# No text of parts is longer.
LONGEST: Final = 60


def read_decided_by(value: object, pointer: str = "") -> str:
    """Return what decides in its normal form: each part once, in the order of PARTS; "" stays "".

    Raises:
        InvalidDocument: it is no text, names what is no part, or names a part besides EXPECTED.

    """
    if not isinstance(value, str):
        raise InvalidDocument.at(pointer, 'is not text, such as "end_state+answer"')
    if value in ("", EXPECTED):
        return value
    names = {name.strip() for name in value.split("+")}
    if unknown := sorted(names - PARTS.keys()):
        if EXPECTED in names:
            raise InvalidDocument.at(pointer, f"{EXPECTED} cannot be combined: leave out the other parts")
        known = ", ".join(PARTS)
        raise InvalidDocument.at(
            pointer, f"{unknown[0][:60]!r} decides nothing: take {EXPECTED}, or some of {known}, joined by +"
        )
    return "+".join(name for name in PARTS if name in names)


def parts_of(decided_by: str) -> tuple[str, ...]:
    """Return the parts that are named; none where whatever the gold expects decides."""
    return () if decided_by == EXPECTED else tuple(decided_by.split("+"))


def decided_words(decided_by: str) -> str:
    """Return what decides in words, such as "end state and answer"."""
    named = [name.replace("_", " ") for name in parts_of(decided_by)]
    if not named:
        return "what the gold expects"
    return f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]


def combined(statuses: Iterable[Status | None]) -> Status:
    """Return the outcome of what decides together; None is a part whose question does not arise.

    Failed where any failed; else errored where any errored; else unscored where any is unscored, or where no question
    arises; passed where all that arise passed.
    """
    found = {status for status in statuses if status is not None}
    worst: tuple[Status, ...] = ("failed", "errored", "unscored", "passed")
    return next((status for status in worst if status in found), "unscored")
