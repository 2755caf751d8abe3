"""Count the trials of examples as the figures of reliability take them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def tallies_of(outcomes: Mapping[Any, Sequence[bool | None]]) -> Counter[tuple[int, int]]:
    """Return the tallies of examples, by example -> whether each trial passed (None: unscored)."""
    scored = ([outcome for outcome in trials if outcome is not None] for trials in outcomes.values())
    return Counter((len(trials), sum(bool(outcome) for outcome in trials)) for trials in scored)
