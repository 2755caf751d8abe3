"""Say what is wrong with a claim: the field of a result that it gives wrongly. Without such a field nothing is said."""

from __future__ import annotations

from calendar import day_name
from collections.abc import Collection, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from toolevals.grading.layers.result_use.payloads import FieldValue
from toolevals.grading.layers.result_use.scanner import Key, Mention, weekday_of
from toolevals.grading.layers.result_use.sources import Sources
from toolevals.grading.layers.result_use.units import differs
from toolevals.grading.layers.result_use.values import FindingKind

# So few fields that chance hardly brings one near a claim.
FEW = 24
# So many digits, or characters of an identifier, say which field is meant; one fewer where both name their unit.
ENOUGH = 4
MAX_IDENTIFIER = 40


class Suspicion(NamedTuple):
    """The likely meaning of a claim: the field that it gives wrongly, and what that holds."""

    kind: FindingKind
    field: FieldValue
    truth: str


def wrong_weekday(mention: Mention, fields: Collection[FieldValue]) -> Suspicion | None:
    """Return what is wrong with the weekday before a date that fields hold."""
    dates = [(value, value.key) for value in fields if isinstance(value.key, tuple) and len(value.key) == 3]
    days = [(value, weekday_of(*key)) for value, key in dates if all(key)]
    if mention.weekday is None or any(day in {None, mention.weekday} for _, day in days):
        return None
    return next((Suspicion("wrong_date", value, day_name[day]) for value, day in days if day is not None), None)


def suspicion(mention: Mention, sources: Sources, stated: Collection[Key]) -> Suspicion | None:
    """Return what is wrong with a number or identifier that nothing holds.

    `stated` are the values of fields that the reply gives, and its numbers.
    """
    if mention.kind == "identifier":
        near = _swapped_identifier(mention, sources)
    elif not mention.numbers:
        return None
    elif (found := _other_unit(mention, sources)) is not None:
        return found
    elif sources.fields > FEW or mention.digits < ENOUGH - 1:
        return None
    else:
        near = chain(_swapped_number(mention, sources, stated), _other_power(mention, sources, stated))
    return next((each for each in near if each.field.key not in stated), None)


def _other_unit(mention: Mention, sources: Sources) -> Suspicion | None:
    """Return the field with exactly this number in another unit, where each such field is in one.

    A duration says it of no field: 30 days are given to return anything.
    """
    is_measure = mention.unit and mention.kind != "duration" and len(mention.written) > 1
    equal = sources.equal_numbers(mention.numbers[0]) if is_measure else []
    if not equal or not all(differs(mention.unit, value.measure) for value in equal):
        return None
    return Suspicion("wrong_unit", equal[0], equal[0].written)


def _swapped_number(mention: Mention, sources: Sources, stated: Collection[Key]) -> Iterator[Suspicion]:
    """Yield the fields with a number's digits, two neighbours of them swapped."""
    sign = -1 if mention.numbers[0] < 0 else 1
    for word in _swapped(mention.written):
        if word[0] == "0" and word[1] != ".":
            continue
        for value in _meant(mention, sign * float(word), sources, stated):
            if mention.digits >= ENOUGH or (mention.unit and (value.measure.unit or value.measure.is_money)):
                yield Suspicion("flipped_digits", value, value.written)


def _other_power(mention: Mention, sources: Sources, stated: Collection[Key]) -> Iterator[Suspicion]:
    """Yield the fields with a number's digits at another power of ten, where both name their unit."""
    for power in (1, -1, 2, -2, 3, -3) if mention.unit else ():
        for value in _meant(mention, mention.numbers[0] * 10.0**power, sources, stated):
            if value.measure.unit or value.measure.scale != 1:
                yield Suspicion("changed_scale", value, value.written)


def _meant(mention: Mention, number: float, sources: Sources, stated: Collection[Key]) -> Iterator[FieldValue]:
    """Yield the fields that hold another number in a claim's unit.

    None where anything gives a number by which the two differ: added, as a factor, or in per cent.
    """
    gap = abs(mention.numbers[0] - number)
    steps = (gap, mention.numbers[0] / number, number / mention.numbers[0], 100 * gap / abs(number))
    told = (round(step, 6) for step in steps)
    if not any(step in stated or step in sources.said or sources.equal_numbers(step) for step in told):
        yield from (value for value, _ in sources.held(mention._replace(keys=(number,))) if not value.fields)


def _swapped_identifier(mention: Mention, sources: Sources) -> Iterator[Suspicion]:
    written = str(mention.keys[0])
    if ENOUGH < len(written) <= MAX_IDENTIFIER:
        for other in _swapped(written):
            for value, _ in sources.held(mention._replace(keys=(other,))):
                yield Suspicion("flipped_digits", value, value.written)


def _swapped(word: str) -> Iterator[str]:
    """Yield what becomes this word by swapping two neighbours, also on either side of a point."""
    places = [place for place, letter in enumerate(word) if letter.isalnum()]
    for left, right in pairwise(places):
        if word[left] != word[right]:
            yield word[:left] + word[right] + word[left + 1 : right] + word[left] + word[right + 1 :]
