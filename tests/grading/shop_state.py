"""The state of a shop, and changes of it: for the tests of state diffs."""

import copy
from typing import Any

from toolevals.grading.layers.execution import StateDiff
from toolevals.grading.matching.value_differences import ABSENT

INITIAL: dict[str, Any] = {
    "orders": {
        "W1": {"status": "pending", "total": 45, "items": [{"id": "a", "n": 1}, {"id": "b", "n": 2}]},
        "W2": {"status": "pending", "flagged": False},
    },
    "users": {"u1": {"cards": ["c1", "c2"]}},
}


def changed(*changes: tuple[str, Any]) -> dict[str, Any]:
    """Return the initial state with changes at pointers; ABSENT removes."""
    state = copy.deepcopy(INITIAL)
    for where, value in changes:
        *way, last = where[1:].split("/")
        place: Any = state
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        key: Any = int(last) if isinstance(place, list) else last
        if value is ABSENT:
            del place[key]
        else:
            place[key] = value
    return state


def kinds(diff: StateDiff) -> dict[str, list[str]]:
    return {
        kind: [each.path for each in getattr(diff, kind)]
        for kind in ("wrong", "missing", "polluted")
        if getattr(diff, kind)
    }


CANCELLED = changed(("/orders/W1/status", "cancelled"))
