"""Tell what changed between two states, as a JSON Patch (RFC 6902): all of a final state that needs to be kept.

Only the operations add, replace and remove, at members of objects; a list that changed is replaced as a whole, so
that the order of the operations does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolevals.grading.matching.value_differences import Path, pointer, same
from toolevals.grading.values.problems import InvalidDocument


def state_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the operations that make `after` of `before`; none where they are equal as JSON.

    Linear in what is not one object in both.
    """
    return list(_operations(before, after))


def _operations(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    waiting: list[tuple[Path, Mapping[str, Any], Mapping[str, Any]]] = [((), before, after)]
    while waiting:
        path, old, new = waiting.pop()
        for key in old:
            if key not in new:
                yield {"op": "remove", "path": pointer((*path, key))}
        for key, value in new.items():
            here = (*path, key)
            if key not in old:
                yield {"op": "add", "path": pointer(here), "value": value}
            elif value is old[key]:
                continue
            elif isinstance(value, Mapping) and isinstance(old[key], Mapping):
                waiting.append((here, old[key], value))
            elif not same(old[key], value):
                yield {"op": "replace", "path": pointer(here), "value": value}


def patched(before: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the state that the operations make of `before`, which stays; what they leave alone is shared with it.

    Without an operation it is `before` itself. Raises InvalidDocument where an operation does not fit the state.
    """
    if len(patch) == 0:
        return before
    state: dict[str, Any] = dict(before)
    # The objects that are this state's own by now, by identity; kept, so that no other gets theirs.
    own: dict[int, dict[str, Any]] = {id(state): state}
    for place, operation in enumerate(patch):
        at = state
        *way, last = _steps(operation["path"])
        for step in way:
            inner = at.get(step)
            if not isinstance(inner, Mapping):
                raise InvalidDocument.at(f"/{place}/path", "leads to no object of the state")
            if id(inner) not in own:
                at[step] = inner = dict(inner)
                own[id(inner)] = inner
            at = own[id(inner)]
        _apply(at, last, operation, place)
    return state


def _apply(at: dict[str, Any], key: str, operation: Mapping[str, Any], place: int) -> None:
    if (operation["op"] == "add") is (key in at):
        raise InvalidDocument.at(f"/{place}/path", "does not fit the state")
    if operation["op"] == "remove":
        del at[key]
    else:
        at[key] = operation["value"]


def _steps(path: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
