"""Shares a state among many worlds: each writes into copies of what its tools touch, and the rest is in memory once.

A world begins with `SharedState.begin`, at the cost of one table of contents whatever the size of the state, and ends
with `SharedState.end`, in which all that was left alone is the initial state's own object. Comparing such states
therefore costs what the tools touched, not what there is. Like the driver, it knows the standard library alone.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from math import isfinite
from typing import Any, Self, TypeAlias

# The ways into a dict that a fork overrides, as the plain type has them.
_get = dict.__getitem__
_set = dict.__setitem__
_pop = dict.pop
_keys = dict.__iter__
_items = dict.items
_MISSING = object()
_JSON_SCALARS = (str, int, float, bool, type(None))
JsonMapping: TypeAlias = Mapping[str, Any]
JsonObject: TypeAlias = dict[str, Any]
_Updates: TypeAlias = Mapping[Any, Any] | Iterable[tuple[Any, Any]]


class NotJSONError(ValueError):
    """A state holds what JSON cannot say."""


class BreachedError(Exception):
    """A tool changed the initial state itself, past its world's copies."""


class SharedState:
    """An initial state that any number of worlds begin with, one after another or at once."""

    def __init__(self, initial: JsonMapping) -> None:
        self._value: JsonObject = _copied(initial)
        # The same leaves in containers of their own: what comparing with it costs is looking at each place once.
        self._twin = _copied(initial)

    @property
    def initial(self) -> JsonMapping:
        """The initial state, to be read alone."""
        return self._value

    def begin(self) -> JsonObject:
        """Return a state that one world may change."""
        fork: JsonObject = forked(self._value)
        return fork

    def end(self, state: JsonMapping) -> JsonMapping:
        """Return a world's state as it is now, sharing with the initial one all that is as it was there.

        Raises NotJSONError; raises BreachedError where the initial state is no longer what it was, having made it
        again: extensions in C could reach it past the copies, and then this world's results cannot be trusted.
        """
        if self._value != self._twin:
            self._value = _copied(self._twin)
            raise BreachedError("a tool changed the state that all worlds begin with")
        now: JsonMapping = settled(state, self._value)
        return now

    def changes(self, state: JsonMapping) -> list[JsonObject]:
        """Return a JSON Patch (RFC 6902) from the initial state to a world's as it is now. Raises as `end`."""
        return list(_operations(self._value, self.end(state), ""))


def _operations(before: JsonMapping, after: JsonMapping, path: str) -> Iterator[JsonObject]:
    """Yield operations at members of objects. In a settled state, what is equal is one object."""
    for key in before:
        if key not in after:
            yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
    for key, value in after.items():
        here, old = f"{path}/{_escaped(key)}", before.get(key, _MISSING)
        if isinstance(value, dict) and isinstance(old, dict) and value is not old:
            yield from _operations(old, value, here)
        elif value is not old:
            yield {"op": "add" if old is _MISSING else "replace", "path": here, "value": value}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


class _Values(ValuesView[Any]):
    def __init__(self, fork: Forked) -> None:
        super().__init__(fork)
        self._fork = fork

    def __reversed__(self) -> Iterator[Any]:
        return (self._fork[key] for key in reversed(list(self._fork)))


class _Items(ItemsView[Any, Any]):
    def __init__(self, fork: Forked) -> None:
        super().__init__(fork)
        self._fork = fork

    def __reversed__(self) -> Iterator[tuple[Any, Any]]:
        return ((key, self._fork[key]) for key in reversed(list(self._fork)))


class Forked(dict[Any, Any]):
    """A dict whose containers are copied when they are first asked for; what a tool puts in is kept as it is.

    `_shared` holds the keys whose values are still the original's. Every way by which Python hands out a value goes
    through `__getitem__`; `__iter__` is overridden because a dict that has its own is not copied by its insides.
    """

    __slots__ = ("_shared",)

    _shared: set[Any]

    def __new__(cls, *_: object, **__: object) -> Self:
        made = super().__new__(cls)
        made._shared = set()
        return made

    def __getitem__(self, key: object) -> Any:
        value = _get(self, key)
        if key in self._shared:
            self._shared.discard(key)
            value = forked(value)
            _set(self, key, value)
        return value

    def __setitem__(self, key: object, value: object) -> None:
        self._shared.discard(key)
        _set(self, key, value)

    def __iter__(self) -> Iterator[Any]:
        return _keys(self)

    def __or__(self, other: Any) -> Any:
        return dict(self) | dict(other) if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return dict(other) | dict(self) if isinstance(other, dict) else NotImplemented

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def __copy__(self) -> dict[Any, Any]:
        return dict(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # What copies or pickles a fork gets a plain dict.
        return dict, (dict(self),)

    def copy(self) -> dict[Any, Any]:
        return dict(self)

    def get(self, key: object, default: object = None) -> Any:
        if key not in self:
            return default
        return self[key]

    def values(self) -> Any:
        return _Values(self)

    def items(self) -> Any:
        return _Items(self)

    def setdefault(self, key: object, default: object = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: object, *default: object) -> Any:
        if key in self:
            value = self[key]
            del self[key]
            return value
        return _pop(self, key, *default)

    def popitem(self) -> tuple[Any, Any]:
        key, value = super().popitem()
        return key, forked(value) if key in self._shared else value

    def update(self, updates: _Updates = (), /, **named: object) -> None:  # type: ignore[override]
        for key, value in dict(updates, **named).items():
            self[key] = value


def _copied(value: object) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(part) for key, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value


def forked(value: object) -> Any:
    """Return a value that can be changed while the original stays; scalars are themselves.

    An object is copied one level deep, its parts when they are asked for. A list is copied with the objects in it, so
    that it is an ordinary list.
    """
    if isinstance(value, dict):
        fork = Forked()
        dict.update(fork, value)
        fork._shared = {key for key, part in value.items() if isinstance(part, dict | list)}
        return fork
    return [forked(part) for part in value] if isinstance(value, list) else value


def settled(value: object, origin: object = _MISSING) -> Any:
    """Return the value as plain JSON values; what equals its place in `origin` is that very object.

    `origin` must be what the value was forked from, and must itself be JSON values. Raises NotJSONError.
    """
    try:
        return _settled(value, origin)
    except RecursionError:
        raise NotJSONError("the state is nested without end, or too deeply") from None


def _settled(value: object, origin: object) -> Any:
    if value is origin or (value.__class__ is origin.__class__ and _is_scalar(value) and value == origin):
        return origin
    if isinstance(value, dict):
        return _settled_object(value, origin if isinstance(origin, dict) else {}, origin)
    if isinstance(value, list | tuple):
        return _settled_list(value, origin if isinstance(origin, list) else [], origin)
    if not _is_scalar(value):
        raise NotJSONError(f"the state holds a {type(value).__name__}, which JSON does not have")
    if isinstance(value, float) and not isfinite(value):
        raise NotJSONError(f"the state holds {value}, which JSON does not have")
    return value


def _settled_object(value: dict[Any, Any], before: dict[Any, Any], origin: object) -> dict[Any, Any]:
    # By the insides of the fork, so that what no one asked for is not copied now.
    parts: dict[Any, Any] = {}
    unchanged = before is origin and len(value) == len(before)
    for key, part in _items(value):
        old = before.get(key, _MISSING)
        if part is not old:
            if not isinstance(key, str):
                raise NotJSONError(f"the state has a {type(key).__name__} as a key, and JSON has text alone")
            parts[key] = _settled(part, old)
            unchanged = unchanged and parts[key] is old
    if unchanged:
        return before
    return {**dict(_items(value)), **parts}


def _settled_list(value: list[Any] | tuple[Any, ...], before: list[Any], origin: object) -> list[Any]:
    known = [*before, *[_MISSING] * (len(value) - len(before))]
    made = [_settled(part, known[place]) for place, part in enumerate(value)]
    unchanged = before is origin and len(made) == len(before)
    return before if unchanged and all(part is old for part, old in zip(made, before, strict=True)) else made


def _is_scalar(value: object) -> bool:
    return isinstance(value, _JSON_SCALARS)
