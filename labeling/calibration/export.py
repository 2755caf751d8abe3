"""Write the answers of a round as lines of a table, as one person may see them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from labeling.calibration.results import Saying, results_of, shown_answers
from labeling.models import CalibrationRound
from toolevals.presentation.csv import Cell
from toolevals.workspace.models import Role, User

# `is_own` and `as_gold` say true or false; `reviewer` is for owners, and empty for others.
COLUMNS: Final = (
    "round",
    "position",
    "item",
    "example",
    "external_id",
    "reviewer",
    "is_own",
    "as_gold",
    "answer",
    "expectation",
    "rationale",
    "seconds",
    "gold_answer",
    "gold",
)


def answer_rows(calibration: CalibrationRound, user: User, role: Role) -> Iterator[Sequence[Cell]]:
    """Return a line for each answer, by example; those of one example in an order that does not tell whose they are.

    Names and times are for owners; one's own time is one's own. Raises InvalidAct where this person has still to
    answer some of the round.
    """
    results = results_of(calibration, user, role)
    named = role >= Role.OWNER
    said: dict[Any, list[Any]] = {}
    for one in shown_answers(calibration, user):
        said.setdefault(one.item_id, []).append(one)
    return (
        (
            calibration.pk,
            result.item.position,
            result.item.pk,
            result.item.revision.example_id,
            result.item.revision.example.external_id,
            one.reviewer.name if named and one.reviewer else "",
            one.reviewer_id == user.pk,
            Saying(one.answer, one.expectation).meaning == result.gold.meaning,
            one.answer,
            _json(one.expectation),
            one.rationale,
            one.seconds if named or one.reviewer_id == user.pk else None,
            result.gold.answer,
            _json(result.gold.expectation),
        )
        for result in results.items
        for one in said.get(result.item.pk, ())
    )


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False) if document is not None else ""
