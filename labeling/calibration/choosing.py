"""Tell which examples a round holds: chosen by name, or proposed so that tools and strata are spread over it.

Only examples that are resolved and have gold: what people say of them in a round, and see afterwards, tells nothing
about an example that is still to be labelled.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from labeling.calibration.results import tool_choice
from labeling.errors import InvalidAct
from labeling.models import CalibrationItem, Dataset, Example, LabelAnswer, Resolution

MOST_ITEMS = 200
# A proposal looks at so many examples, the newest.
LOOK_AT = 2000
NAMED_IN_ERRORS = 5


@dataclass(frozen=True, slots=True)
class _Candidate:
    revision: Any
    name: str
    tool: str
    strata: tuple[str, ...]
    was_asked: bool
    turn: bytes


def named_examples(dataset: Dataset, names: Sequence[str]) -> list[Any]:
    """Return the current revisions, by id, of the examples of these names, in this order, each once.

    Raises InvalidAct for names that the dataset does not have, or whose examples have no gold in force.
    """
    wanted = list(dict.fromkeys(names))
    current = dict(solved(dataset).filter(external_id__in=wanted).values_list("external_id", "current"))
    lacking = [name for name in wanted if name not in current]
    if lacking:
        more = f" and {len(lacking) - NAMED_IN_ERRORS} more" if len(lacking) > NAMED_IN_ERRORS else ""
        raise InvalidAct(f"No solved example here is called {', '.join(lacking[:NAMED_IN_ERRORS])}{more}.")
    return [current[name] for name in wanted]


def proposed_names(dataset: Dataset, size: int, *, seed: str) -> list[str]:
    """Return the names of so many solved examples, or of all there are: as many tools, then strata, as there can be.

    Examples that were in no round come first. The same seed proposes the same.
    """
    return [one.name for one in _spread(_candidates(dataset, seed), size)]


def solved(dataset: Dataset) -> QuerySet[Example]:
    """Return the examples of a dataset that have gold in force."""
    return Example.objects.of_dataset(dataset).filter(
        current__resolution=Resolution.RESOLVED, current__gold__isnull=False
    )


def _candidates(dataset: Dataset, seed: str) -> list[_Candidate]:
    asked = set(CalibrationItem.objects.filter(round__dataset=dataset).values_list("revision", flat=True))
    columns = ("current", "external_id", "current__gold__expectation", *Example.STRATA)
    rows = solved(dataset).order_by("-id").values_list(*columns)[:LOOK_AT]
    return [
        _Candidate(
            revision,
            name,
            tool_choice(LabelAnswer.EXPECTATION, expectation),
            tuple(strata),
            revision in asked,
            hashlib.sha256(f"{seed} {revision}".encode()).digest(),
        )
        for revision, name, expectation, *strata in rows
    ]


def _spread(candidates: Iterable[_Candidate], size: int) -> list[_Candidate]:
    """Return so many candidates, one after the other that whose tool, then whose strata, were taken least."""
    left = list(candidates)
    taken: Counter[tuple[int, str]] = Counter()
    chosen: list[_Candidate] = []

    def cost(one: _Candidate) -> tuple[bool, int, int, bytes]:
        strata = sum(taken[place, value] for place, value in enumerate(one.strata))
        return one.was_asked, taken[-1, one.tool], strata, one.turn

    while left and len(chosen) < size:
        best = min(left, key=cost)
        left.remove(best)
        chosen.append(best)
        taken[-1, best.tool] += 1
        taken.update(enumerate(best.strata))
    return chosen
