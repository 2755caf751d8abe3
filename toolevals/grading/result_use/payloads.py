"""What one result's text holds: its fields, the values in them, and the keys that lead to these."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from toolevals.grading.result_use.arithmetic import Origin, Pairs, elapsed_times, figures, pairs_within
from toolevals.grading.result_use.fields import FieldValue, label_words
from toolevals.grading.result_use.values import Key

# Fields of a result among whose names and values a list of properties is looked for.
MAX_DESCRIBED = 2_000
# And whose names are no claims.
MAX_NAMED = 200
# Lists of a result whose lengths are compared with what replies say.
MAX_COUNTED = 64
_WORD = re.compile(r"\w+")


class Leaf(NamedTuple):
    """A field with a value that text can show."""

    pointer: str
    value: int | float | str


@dataclass(frozen=True, eq=False)
class Payload:
    """What the text of the result at a place among the results holds.

    `index` leads from a key to places among `values`; `own` are the keys that lead to a value first as its own, and not
    as another form of one. `lists` are the lists' lengths by pointer. `truncated` says that a limit cut the reading
    short.
    """

    place: int
    is_text: bool
    leaves: list[Leaf] = field(default_factory=list)
    lists: dict[str, int] = field(default_factory=dict)
    values: list[FieldValue] = field(default_factory=list)
    index: dict[Key, list[int]] = field(default_factory=dict)
    own: list[Key] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    truncated: bool = False

    @cached_property
    def counted(self) -> Sequence[tuple[str, int, frozenset[str]]]:
        """The outermost lists: pointer, length, and the words that name it."""
        outermost = [(pointer, length) for pointer, length in self.lists.items() if pointer.count("/") == 1]
        return [(pointer, length, label_words(pointer)) for pointer, length in outermost[:MAX_COUNTED]]

    @cached_property
    def contained(self) -> Mapping[str, Sequence[int]]:
        """The places of values, ascending, by the pointer of the object or list that holds them."""
        found: dict[str, list[int]] = {}
        for position, value in enumerate(self.values):
            found.setdefault(value.container, []).append(position)
        return found

    @cached_property
    def folded(self) -> str:
        """All texts, without case."""
        return "\n".join(leaf.value.casefold() for leaf in self.leaves if isinstance(leaf.value, str))

    @cached_property
    def described(self) -> str:
        """The fields' pointers and values as one text, without case."""
        return " ".join(f"{leaf.pointer} {leaf.value}" for leaf in self.leaves[:MAX_DESCRIBED]).casefold()

    @cached_property
    def field_stems(self) -> frozenset[str]:
        """The fields' own names without the digits at their end, and without case."""
        return frozenset(
            leaf.pointer.rpartition("/")[2].rstrip("0123456789").casefold() for leaf in self.leaves[:MAX_NAMED]
        )

    @cached_property
    def texts(self) -> Sequence[tuple[str, str] | None]:
        """Each leaf's text as replies are searched for it, and its first word; None for a number."""
        return [_searched(leaf.value) if isinstance(leaf.value, str) else None for leaf in self.leaves]

    @cached_property
    def numbers(self) -> Sequence[FieldValue]:
        """The values that are numbers."""
        return [value for value in self.values if isinstance(value.key, int | float)]

    @cached_property
    def figures(self) -> Mapping[float, Origin]:
        """Counts, sums and means over lists."""
        return figures(self.place, self.leaves, self.lists, self.numbers)

    @cached_property
    def elapsed(self) -> Mapping[float, Origin]:
        """Minutes between two times."""
        return elapsed_times(self.place, self.values)

    @cached_property
    def pairs(self) -> Pairs:
        """Sums, differences and shares of two of the numbers."""
        return pairs_within(self.place, self.numbers)


def said_form(text: str) -> str:
    """Return text as replies and fields are compared by: without case, with spaces for underscores."""
    return text.casefold().replace("_", " ")


def _searched(text: str) -> tuple[str, str]:
    plain = said_form(text)
    first = _WORD.search(plain)
    return plain, first[0] if first else ""
