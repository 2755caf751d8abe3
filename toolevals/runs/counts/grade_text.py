"""Write a whole grade as the text that is kept of it: what most grades share is written once."""

from __future__ import annotations

from typing import Final

from toolevals.grading.values.canonical import Written, exact
from toolevals.grading.values.verdicts import CaseGrade, Verdict

# Sets of verdicts of which the text is kept: those of right answers are the same few objects.
_MOST_KEPT: Final = 256
# By the identity of the verdicts, which no others can have as long as they are kept here.
_kept: dict[tuple[tuple[str, ...], tuple[int, ...]], tuple[str, tuple[Verdict, ...]]] = {}


def grade_text(grade: CaseGrade) -> Written:
    """Return the exact text of a grade's normal form."""
    verdicts = grade.verdicts
    key = tuple(verdicts), tuple(map(id, verdicts.values()))
    if (known := _kept.get(key)) is None:
        text = exact({name: verdict.to_document() for name, verdict in verdicts.items()})
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        known = _kept[key] = text, tuple(verdicts.values())
    return Written(f'{{"verdicts":{known[0]},{exact(grade.beside_verdicts())[1:]}')
