"""Keeps what is worked out of an object when it is first wanted, in a slot: a slot is half as large as a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar


class WorkedOut:
    """Fills the empty slots that `_WORKED_OUT` names, each by its function of the object, and keeps the value."""

    __slots__ = ()

    _WORKED_OUT: ClassVar[Mapping[str, Callable[[Any], Any]]]

    def __getattr__(self, name: str) -> Any:
        # Python asks here only where a slot is empty.
        if name not in self._WORKED_OUT:
            raise AttributeError(name)
        value = self._WORKED_OUT[name](self)
        setattr(self, name, value)
        return value
