"""Counts, totals, pairs, shares and times between, of the fields of one result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from toolevals.grading.result_use.fields import FieldValue, units_of

# Units in which numbers can be added.
_ADDED = frozenset({"s", "min", "km", "mi", "kg", "lb", "MB", "GB", "TB"})
# The numbers of a result up to which every two are tried.
MAX_PAIRED = 12
_MAX_TIMES = 64
_MAX_LEAVES = 2_000


class Origin(NamedTuple):
    """How a number follows, and from which result and field, where it is one."""

    rule: str
    result: int | None = None
    pointer: str = ""


class Pairs(NamedTuple):
    """What two numbers of a result make: sums and differences, and shares in percent."""

    sums: Mapping[float, Origin]
    shares: Mapping[float, Origin]


def figures(
    place: int, leaves: Sequence[tuple[str, object]], lists: Mapping[str, int], numbers: Iterable[FieldValue]
) -> Mapping[float, Origin]:
    """Return the lengths of lists, how many of their rows share a text, and their fields' sums and means."""
    found: dict[float, Origin] = {}
    for pointer, length in lists.items():
        found.setdefault(length, Origin("count", place, pointer))
    for number, origin in (*_shared_values(place, leaves, lists), *_column_totals(place, numbers)):
        found.setdefault(number, origin)
    return found


def pairs_within(place: int, numbers: Sequence[FieldValue]) -> Pairs:
    """Return what every two numbers of one sort make, of a result that has few of them."""
    sums: dict[float, Origin] = {}
    shares: dict[float, Origin] = {}
    if len(numbers) <= MAX_PAIRED:
        for position, left in enumerate(numbers):
            for right in numbers[position + 1 :]:
                if _is_one_sort(left, right):
                    add_pair(sums, major(left), major(right), Origin("sum", place, left.pointer))
                    for percent, origin in _shares(left, right, place):
                        shares.setdefault(percent, origin)
    return Pairs(sums, shares)


def add_pair(into: dict[float, Origin], left: float, right: float, origin: Origin) -> None:
    """Enter the sum and the difference of two numbers, where nothing else made these."""
    into.setdefault(rounded(left + right), origin)
    into.setdefault(rounded(abs(left - right)), origin._replace(rule="difference"))


def _shared_values(
    place: int, leaves: Sequence[tuple[str, object]], lists: Mapping[str, int]
) -> Iterator[tuple[float, Origin]]:
    """Yield how many rows of a list have the same text in one field, and how many have another."""
    columns: dict[tuple[str, str, object], int] = {}
    for pointer, text in leaves[:_MAX_LEAVES] if lists else ():
        if isinstance(text, str):
            head, tail = _split_row(pointer)
            if tail:
                key = (head, tail, text)
                columns[key] = columns.get(key, 0) + 1
    for (head, _, _), count in columns.items():
        for number in (count, lists.get(head, 0) - count):
            if number > 1:
                yield number, Origin("count", place, head)


def _column_totals(place: int, values: Iterable[FieldValue]) -> Iterator[tuple[float, Origin]]:
    """Yield the sum and the mean of each number field over the rows of its list."""
    columns: dict[tuple[str, str], list[float]] = {}
    for value in values:
        if isinstance(value.key, int | float):
            head, tail = _split_row(value.pointer)
            if tail:
                columns.setdefault((head, tail), []).append(major(value))
    for (head, tail), numbers in columns.items():
        if len(numbers) > 1:
            total = sum(numbers)
            is_quantity = "quantity" in tail or "qty" in tail
            yield rounded(total), Origin("count" if is_quantity else "sum", place, head)
            for digits in (0, 1, 2):
                yield rounded(round(total / len(numbers), digits)), Origin("mean", place, head)


def _shares(left: FieldValue, right: FieldValue, place: int) -> Iterator[tuple[float, Origin]]:
    """Yield each number in percent of the other, to whole percent and to tenths."""
    for part, whole in ((left, right), (right, left)):
        if major(whole):
            percent = 100 * major(part) / major(whole)
            for digits in (0, 1):
                yield rounded(round(percent, digits)), Origin("ratio", place, part.pointer)


def elapsed_times(place: int, values: Iterable[FieldValue]) -> Mapping[float, Origin]:
    """Return the minutes from each time of day in a result to each later one, over midnight where it must be."""
    times = [
        (value.key[0], value.pointer) for value in values if value.kind == "time" and isinstance(value.key, tuple)
    ][:_MAX_TIMES]
    found: dict[float, Origin] = {}
    for position, (start, pointer) in enumerate(times):
        for end, _ in times[position + 1 :]:
            found.setdefault((end - start) % 1440, Origin("elapsed", place, pointer))
    return found


def major(value: FieldValue) -> float:
    """Return a field's number, an amount in whole units of its currency."""
    number = value.key if isinstance(value.key, int | float) else 0.0
    return number / 100 if value.is_minor else number


def rounded(value: float) -> float:
    """Return a number to hundredths: what sums of amounts compare by."""
    return round(value, 2)


def _split_row(pointer: str) -> tuple[str, str]:
    """Return the pointer of the last list on the way and the rest below its row, empty ones where there is none."""
    parts = pointer.split("/")
    for place in range(len(parts) - 1, 0, -1):
        if parts[place].isdigit():
            return "/".join(parts[:place]), "/".join(parts[place + 1 :])
    return "", ""


def _is_one_sort(left: FieldValue, right: FieldValue) -> bool:
    """Whether two numbers can be added: both money, or both of one unit."""
    if left.is_money or right.is_money:
        return left.is_money and right.is_money
    return not _ADDED.isdisjoint(units_of(left) & units_of(right))
