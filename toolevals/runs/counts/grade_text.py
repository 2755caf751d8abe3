"""Write a whole grade as the text that is kept of it: what most grades share is written once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolevals.grading.engine.alike_cases import Alike, AlikeKey
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.values.canonical import Written, exact
from toolevals.grading.values.verdicts import CaseGrade, Verdict

# Sets of verdicts of which the text is kept: those of right answers are the same few objects.
_MOST_KEPT: Final = 256
# By the identity of the verdicts, which no others can have as long as they are kept here.
_kept: dict[tuple[tuple[str, ...], tuple[int, ...]], tuple[str, tuple[Verdict, ...]]] = {}
# The text before and after the differences of cases that are alike.
_around: Alike[tuple[str, str]] = Alike()
# In a text of a grade nothing else looks like it: within JSON's strings a quote follows a backslash.
_DIFFERENCES: Final = '"differences":'


def grade_text(grade: CaseGrade) -> Written:
    """Return the exact text of a grade's normal form."""
    return Written(_text(grade, grade.beside_verdicts()))


def alike_text(grade: CaseGrade, key: AlikeKey, compiled: CompiledCase) -> Written:
    """Return the same of a grade by this expectation that is like others: all but its differences is written once."""
    if (around := _around.get(key)) is None:
        before, _, after = _text(grade, grade.beside_verdicts() | {"differences": []}).partition(f"{_DIFFERENCES}[]")
        around = _around.keep(key, (f"{before}{_DIFFERENCES}", after), compiled)
    differences = exact([difference.to_document() for difference in grade.differences])
    return Written(f"{around[0]}{differences}{around[1]}")


def _text(grade: CaseGrade, beside_verdicts: Mapping[str, Any]) -> str:
    verdicts = grade.verdicts
    key = tuple(verdicts), tuple(map(id, verdicts.values()))
    if (known := _kept.get(key)) is None:
        text = exact({name: verdict.to_document() for name, verdict in verdicts.items()})
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        known = _kept[key] = text, tuple(verdicts.values())
    return f'{{"verdicts":{known[0]},{exact(beside_verdicts)[1:]}'
