"""Makes classes of values, which many are made of: frozen for the type checker, and fast at run time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Made = TypeVar("Made")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_class(made: type[Made]) -> type[Made]:
    """Return a dataclass with slots whose values are equal by their fields, can be hashed, and are never changed.

    The type checker refuses to change one. Python would let it pass: to make a frozen one takes it three times as
    long, and a case is made of a hundred.
    """
    return dataclass(slots=True, unsafe_hash=True)(made)
