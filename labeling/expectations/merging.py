"""Merge two expectations: take each differing part from the left, from the right, or from both."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from labeling.expectations.meaning import meaning

LEFT, RIGHT, BOTH = "left", "right", "both"
# Lists in which a place is a number.
LISTS = frozenset({"alternatives", "ordered", "unordered", "any_order", "one_of_calls", "disallowed"})
REACTIONS = "/reactions"


def may_be_both(path: str) -> bool:
    """Tell whether a part can be right in both ways: within alternatives, of which any will do, and reactions."""
    return path.startswith("/alternatives/") or path == REACTIONS


def merged(left: Mapping[str, Any], right: Mapping[str, Any], chosen: Mapping[str, str]) -> dict[str, Any]:
    """Return the left expectation with the parts taken from the right one where `chosen` says so, by path.

    Where some parts are right in both ways, what comes of the left ones and what comes of the right ones are accepted
    as alternatives: never a mixture that no one has said. "both" of a part that cannot be is the left one.
    """
    both = [path for path, side in chosen.items() if side == BOTH and may_be_both(path)]
    result = _taken(left, right, chosen)
    if not both:
        return result
    other = _taken(left, right, {**chosen, **dict.fromkeys(both, RIGHT)})
    alternatives = result.setdefault("alternatives", [])
    known = {_alternative(result, one) for one in alternatives}
    alternatives += [one for one in other.get("alternatives") or [] if _alternative(result, one) not in known]
    if REACTIONS in both:
        said = [*(result.get("reactions") or []), *(other.get("reactions") or [])]
        result["reactions"] = list(dict.fromkeys(said))
    return result


def _taken(left: Mapping[str, Any], right: Mapping[str, Any], chosen: Mapping[str, str]) -> dict[str, Any]:
    taken = [path for path, side in chosen.items() if side == RIGHT]
    if "" in taken:
        return copy.deepcopy(dict(right))
    result = copy.deepcopy(dict(left))
    gone = []
    for path in sorted(taken, key=steps_of):
        if has(right, path):
            _put(result, path, copy.deepcopy(at(right, path)))
        else:
            gone.append(path)
    # From the end, so that places in lists stay what they were.
    for path in sorted(gone, key=steps_of, reverse=True):
        _drop(result, path)
    return result


def _alternative(document: Mapping[str, Any], trajectory: Any) -> str:
    alone = {"kind": "calls", "alternatives": [trajectory]}
    profile = {"profile": document["profile"]} if document.get("profile") else {}
    return meaning("", alone | profile)


def has(document: Any, path: str) -> bool:
    """Tell whether a document has something at a JSON pointer."""
    for step in steps_of(path):
        if (isinstance(document, dict) and step in document) or (
            isinstance(document, list) and isinstance(step, int) and step < len(document)
        ):
            document = document[step]
        else:
            return False
    return True


def at(document: Any, path: str) -> Any:
    """Return what a document has at a JSON pointer; None for nothing."""
    if not has(document, path):
        return None
    for step in steps_of(path):
        document = document[step]
    return document


def steps_of(path: str) -> list[Any]:
    """Return a pointer's steps; those that are places in a list of calls or alternatives, as numbers."""
    steps: list[Any] = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
    for number, step in enumerate(steps[1:], start=1):
        if steps[number - 1] in LISTS and str(step).isdigit() and "arguments" not in steps[:number]:
            steps[number] = int(step)
    return steps


def _put(document: Any, path: str, value: Any) -> None:
    steps = steps_of(path)
    last = steps[-1]
    for step, following in pairwise(steps):
        if isinstance(document, dict):
            document = document.setdefault(step, [] if isinstance(following, int) else {})
        else:
            document = document[step]
    if isinstance(document, list) and isinstance(last, int) and last >= len(document):
        document.append(value)
    else:
        document[last] = value


def _drop(document: Any, path: str) -> None:
    *parents, last = steps_of(path)
    for step in parents:
        document = document[step]
    del document[last]
