"""The forms under which somebody may say a field's value: units, currencies, shortened dates and identifiers."""

from __future__ import annotations

from collections.abc import Iterator

from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.payloads import FieldValue
from toolevals.grading.result_use.units import conflict, converted, unit_called
from toolevals.grading.result_use.values import Key

# Where times are kept on twelve hours, and in UTC: beyond the minutes of a day.
TWELVE_HOURS = 100_000
IN_UTC = 200_000
_DOLLARS = frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"})
_YENS = frozenset({"JPY", "CNY"})
_CROWNS = frozenset({"NOK", "SEK", "DKK", "CZK"})


def readings_of(value: FieldValue) -> Iterator[tuple[str, float, str]]:
    """Yield (dimension, number, rule) under which a claim may give a field's number; "" is the number as it is said."""
    number = value.key
    if isinstance(number, str | tuple):
        return
    measure = value.measure
    major = round(number * measure.scale, 9)
    yield "", major, "equal" if measure.scale == 1.0 else "minor_units"
    if measure.is_minor and isinstance(number, int):
        yield "", number / 100, "minor_units"
    if measure.unit in {"", "%"} and not measure.is_money and abs(number) <= 1.5 and not isinstance(number, int):
        yield "", round(number * 100, 9), "fraction"
    unit = unit_called(measure.unit)
    if unit is not None:
        yield unit.dimension, major * unit.factor + unit.offset, "converted"


def suits(unit: str, value: FieldValue, rule: str = "equal") -> bool:
    """Whether a field's number, equal to a claim's, can be in the claim's unit: nothing says that it is in another."""
    measure = value.measure
    if rule == "fraction":
        return unit in {"%", ""}
    if not unit or (unit == "deg" and measure.unit in {"", "C", "F", "deg"}):
        return True
    if len(unit) == 3 and unit.isupper():
        return not measure.unit and same_currency(unit, measure.currency)
    if measure.unit:
        return measure.unit == unit
    return not (measure.is_money and measure.currency) or unit == "%"


def same_currency(left: str, right: str) -> bool:
    """Whether two codes may be one currency; `$`, `¥` and "kr" stand for several."""
    if not left or not right or left == right:
        return True
    both = {left, right}
    return ("USD" in both and both <= _DOLLARS) or both <= _YENS or both <= _CROWNS


def differs(unit: str, value: FieldValue) -> bool:
    """Whether a field says that it is in another unit of the claim's dimension, or in another currency."""
    if len(unit) == 3 and unit.isupper() and unit.isalpha():
        return bool(value.measure.currency) and not same_currency(unit, value.measure.currency)
    return bool(unit and value.measure.unit) and conflict(unit, value.measure.unit)


def in_unit(value: FieldValue, unit: str) -> float | None:
    """Return a field's number as somebody would say it in a unit, None where it is of another kind."""
    number = value.key
    if isinstance(number, str | tuple):
        return None
    major = round(number * value.measure.scale, 9)
    if unit in {"", "deg", "cents"} or value.measure.unit in {"", unit}:
        return major
    return converted(major, value.measure.unit, unit)


def forms(key: Key, zone: int | None) -> Iterator[Key]:
    """Yield every key under which somebody may repeat a value: dates without their year, times on twelve hours.

    Identifiers are also kept without what is between letters and digits, and by their last digits.
    """
    yield key
    if isinstance(key, str):
        bare = folded(key)
        if len(bare) > 2:
            yield f"={bare}"
        digits = bare[len(bare.rstrip("0123456789")) :]
        if len(digits) >= 4:
            yield f"~{digits[-4:]}"
            yield f"~{digits}"
    elif isinstance(key, tuple) and len(key) == 1:
        yield (key[0] % 720 + TWELVE_HOURS,)
        if zone is not None:
            yield ((key[0] - zone) % 1440 + IN_UTC,)
    elif isinstance(key, tuple):
        year, month, day = key
        if year and day:
            yield (0, month, day)
        elif day:
            yield (-2, month, day)
        if year and month:
            yield (year, month, 0)
            yield (year, 0, 0)


def lookups(mention: Mention) -> Iterator[Key]:
    """Yield the keys under which a claim is looked for: its own, an identifier's letters and digits."""
    for key in mention.keys:
        yield key
        if isinstance(key, str):
            yield f"={folded(key)}"
        elif isinstance(key, int) and not mention.unit and key > 999:
            yield f"={key}"
            yield f"~{key}"
        elif isinstance(key, tuple) and len(key) == 1:
            if mention.zone is not None:
                yield ((key[0] - mention.zone) % 1440 + IN_UTC,)
            yield (key[0] % 720 + TWELVE_HOURS,)
        elif isinstance(key, tuple) and key[0] and key[2]:
            # Somebody may have said the date without its year.
            yield (-2, *key[1:])


def folded(identifier: str) -> str:
    """Return an identifier's letters and digits alone, without case."""
    return "".join(letter for letter in identifier.casefold() if letter.isalnum())
