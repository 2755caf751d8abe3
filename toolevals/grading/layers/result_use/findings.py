"""Say what is wrong with a claim: the field of a result that it gives wrongly. Without such a field nothing is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isclose

from toolevals.grading.layers.result_use.calendar import Calendar
from toolevals.grading.layers.result_use.payloads import FieldValue, stems
from toolevals.grading.layers.result_use.replies import Reply, all_alike, any_alike
from toolevals.grading.layers.result_use.sources import Sources, Suspicion, folded
from toolevals.grading.layers.result_use.units import converted, differs, names_unit, suits
from toolevals.grading.layers.result_use.values import FindingKind, Mention

# Claims of a transcript that are compared with fields; further ones stay open.
MAX_EXAMINED = 200
# Fields beside one that are compared with it, and fields with a claim's value that are looked at.
MAX_SIBLINGS = 40
MAX_HELD = 4
# Numbers of each kind that a claim and a field may differ by.
MAX_OPERANDS = 40
# What speaks for a field being meant must weigh so much.
ENOUGH = 3
# Digits and letters that one wrong character may stand for.
_DIGITS = "0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAX_IDENTIFIER = 40
_POWERS = sorted(range(-6, 7), key=abs)[1:]


@dataclass(slots=True)
class Examiner:
    """Names what is wrong with claims.

    `said` leads from a field's place to the reply that gave it first.
    """

    sources: Sources
    said: dict[int, int] = field(default_factory=dict)
    calendar: Calendar = field(init=False)
    _examined: int = 0

    def __post_init__(self) -> None:
        self.calendar = Calendar(self.sources)

    def examine(self, reply: Reply, claim_index: int) -> Suspicion | None:
        """Return what is wrong with a number or identifier that nothing holds and that follows from nothing."""
        mention = reply.mentions[claim_index]
        self._examined += 1
        if self._examined > MAX_EXAMINED or (mention.is_weak and not mention.unit):
            return None
        if mention.kind == "identifier":
            return self._identifier(reply, claim_index, folded(str(mention.keys[0])))
        if mention.kind in {"date", "time"}:
            return None
        if (suspicion := self._unit(reply, claim_index)) is not None or not self.sources.is_small:
            # Among many fields some number is near any other.
            return suspicion
        near = max(self._near(reply, claim_index), key=lambda found: found[0], default=None)
        return near[1] if near else None

    def _is_apart(self, reply: Reply, mention: Mention, truth: float) -> bool:
        """Return whether the reply, the results or what was said hold by what a claim and a field differ.

        The claim may then be the field with something added, some times the field, or so many per cent of it.
        """
        value, gap = mention.value, abs(mention.value - truth)
        steps = (
            [gap, value / truth, truth / value, 100 * gap / truth, 100 * value / truth] if truth and value else [gap]
        )
        held = (each.number for each in self.sources.values[-MAX_OPERANDS:])
        said = [number for number in self.sources.said if isinstance(number, int | float)][-MAX_OPERANDS:]
        told = (number for other in reply.mentions[:MAX_OPERANDS] for number in other.numbers)
        return any(isclose(number, step) for number in {*held, *said, *told} - {0, 1} for step in steps)

    def _identifier(self, reply: Reply, claim_index: int, written: str) -> Suspicion | None:
        """Return the field with an identifier that is written almost so; a short one must be named."""
        for other in misspelled(written):
            for position in self.sources.index.get(f"={other}" if len(other) > 2 else other, ()):
                value = self.sources.values[position]
                if value.key not in reply.stated and (len(written) > 4 or reply.names(claim_index, value)):
                    return Suspicion("flipped_digits", position, value.written)
        return None

    def _unit(self, reply: Reply, claim_index: int) -> Suspicion | None:
        """Return the field with exactly this number in another unit."""
        mention = reply.mentions[claim_index]
        equal = self.sources.equal_numbers(mention.value) if mention.unit else []
        fields = [(position, self.sources.values[position]) for position in reversed(equal)]
        if any(suits(mention.unit, value.measure) for _, value in fields):
            return None
        is_long = mention.digits >= (2 if self.sources.is_small else 3)
        for position, value in fields:
            if differs(mention.unit, value.measure) and (is_long or reply.names(claim_index, value)):
                return Suspicion("wrong_unit", position, f"{value.written} {value.measure.name}")
        return None

    def _near(self, reply: Reply, claim_index: int) -> Iterator[tuple[int, Suspicion]]:
        """Yield (weight, suspicion) of the fields' numbers that are near a claim's."""
        mention = reply.mentions[claim_index]
        for kind, position, likeness in self._near_numbers(mention):
            value = self.sources.values[position]
            weight = likeness + self._weight(reply, claim_index, position)
            is_named = mention.digits > 2 or position in self.said or reply.names(claim_index, value)
            if weight < ENOUGH or not is_named or value.key in reply.stated:
                continue
            into = converted(value.number, value.measure.unit, mention.unit)
            truth = value.number if into is None else into
            if not self._is_apart(reply, mention, truth):
                yield weight, Suspicion(kind, position, f"{truth:,.10g}")

    def _near_numbers(self, mention: Mention) -> Iterator[tuple[FindingKind, int, int]]:
        """Yield (kind, field's place, weight of the digits) of the fields' numbers near one."""
        digits = mention.digits
        for number, is_swap in flipped(mention):
            if is_swap or digits > 2:
                for position, rule in self.sources.fields_of(mention._replace(keys=(number,)), 0.0):
                    if rule != "rounded":
                        yield "flipped_digits", position, min(digits, 4) - 2 + is_swap
        # Where a unit is not said, another one may be meant.
        for power in _POWERS if mention.unit and (digits > 1 or mention.unit != "%") else ():
            number = mention.value * 10.0**power
            slack = mention.step * 10.0**power * 0.499 if digits > 1 and mention.kind != "amount" else 0.0
            for position, _ in self.sources.fields_of(mention._replace(keys=(number,)), slack):
                if names_unit(mention.unit, self.sources.values[position].measure):
                    yield "changed_scale", position, min(digits, 4) - 1

    def _weight(self, reply: Reply, claim_index: int, position: int) -> int:
        """Return how much speaks for a field being meant: its name, its unit, an earlier reply."""
        unit, value = reply.mentions[claim_index].unit, self.sources.values[position]
        measure, about = value.measure, reply.about(claim_index)
        weight = 2 * reply.names(claim_index, value) + all_alike(value.labels, about) * bool(value.labels)
        weight += 2 * (position in self.said)
        return weight + bool(unit and (measure.name or measure.is_money))

    def other_field(self, reply: Reply, claim_index: int, fields: Sequence[int]) -> Suspicion | None:
        """Return the field that the words next to a value name, where the value is that of another field next to it."""
        mention = reply.mentions[claim_index]
        about = frozenset[str]() if reply.is_term(claim_index) else reply.about(claim_index)
        if not about or (mention.kind in {"date", "time"} and len(fields) > 1):
            return None
        sentence = stems(reply.sentence(claim_index))
        for position in fields[:MAX_HELD]:
            value = self.sources.values[position]
            if all_alike(value.labels, about) and value.labels:
                return None
            named = [
                other
                for other in self._siblings(position)
                if _is_meant(value, self.sources.values[other], about, sentence)
            ]
            if len({self.sources.values[other].key for other in named}) != 1:
                continue
            rival = self.sources.values[named[0]]
            is_rival = _can_be_taken(value, rival) and suits(mention.unit, rival.measure)
            if is_rival and (rival.key not in reply.stated or _is_swapped(reply, claim_index, value, rival)):
                return Suspicion("wrong_field", named[0], rival.written)
        return None

    def is_meant(self, reply: Reply, claim_index: int, fields: Sequence[int]) -> bool:
        """Return whether one of the fields with a claim's value is the one that it can mean.

        The words next to it name the field, or no other field of its object has another value of its kind and unit.
        """
        for position in fields[:MAX_HELD]:
            value = self.sources.values[position]
            rivals = [
                other
                for other in map(self.sources.values.__getitem__, self._siblings(position))
                if other.labels != value.labels and other.kind == value.kind and _can_be_taken(value, other)
            ]
            if all(any_alike(value.labels - rival.labels, reply.about(claim_index)) for rival in rivals):
                return True
        return False

    def _siblings(self, position: int) -> Iterator[int]:
        value = self.sources.values[position]
        bounds = self.sources.results[value.result].values
        for other in range(max(bounds.start, position - MAX_SIBLINGS), min(bounds.stop, position + MAX_SIBLINGS)):
            candidate = self.sources.values[other]
            if candidate.container == value.container and candidate.path != value.path:
                yield other


def _is_meant(value: FieldValue, rival: FieldValue, about: frozenset[str], sentence: frozenset[str]) -> bool:
    """Return whether words name the rival of a field by what the field's own name lacks, and not the field."""
    if rival.kind != value.kind or not any_alike(rival.labels - value.labels, about):
        return False
    return not any_alike(value.labels - rival.labels, about if all_alike(rival.labels, about) else sentence)


def _is_swapped(reply: Reply, claim_index: int, value: FieldValue, rival: FieldValue) -> bool:
    """Return whether the reply gives the rival's value too, and only next to the name of this field."""
    places = [at for at, mention in enumerate(reply.mentions) if rival.key in mention.keys and at != claim_index]
    return bool(places) and all(
        any_alike(value.labels - rival.labels, reply.about(at))
        and not any_alike(rival.labels - value.labels, reply.about(at))
        for at in places
    )


def _can_be_taken(value: FieldValue, other: FieldValue) -> bool:
    """Return whether two fields are of one kind and unit and differ, so that one can be taken for the other."""
    one, two = (held.measure._replace(is_minor=False) for held in (value, other))
    if value.key == other.key or one != two:
        return False
    return not isinstance(value.key, str) or _shape(value.key) == _shape(str(other.key))


def _shape(identifier: str) -> tuple[bool, bool, int]:
    """Return what identifiers of one sort share: digits, letters, and about how long they are."""
    letters = any(letter.isalpha() for letter in identifier)
    return any(letter.isdigit() for letter in identifier), letters, len(identifier) // 4


def flipped(mention: Mention) -> Iterator[tuple[float, bool]]:
    """Yield the numbers that become this one by swapping two neighbours (True), or by one wrong digit (False)."""
    sign = -1 if mention.value < 0 else 1
    for word, is_swap in _variants(mention.written, _DIGITS):
        if word[:1] != "0" or word[:2] == "0.":
            yield sign * float(word), is_swap


def misspelled(identifier: str) -> Iterator[str]:
    """Yield the identifiers that become this one by a swap or by one wrong, missing or additional character."""
    if not 2 <= len(identifier) <= MAX_IDENTIFIER or not any(letter.isdigit() for letter in identifier):
        return
    for word, _ in _variants(identifier, _DIGITS + _LETTERS):
        yield word
    for place in range(len(identifier) if len(identifier) > 5 else 0):
        yield identifier[:place] + identifier[place + 1 :]
        for digit in _DIGITS if identifier[place].isdigit() else "":
            yield identifier[:place] + digit + identifier[place:]


def _variants(word: str, letters: str) -> Iterator[tuple[str, bool]]:
    places = [place for place, letter in enumerate(word) if letter.isalnum()]
    for left, right in pairwise(places):
        # Neighbours may stand on either side of a point.
        if word[left] != word[right]:
            yield word[:left] + word[right] + word[left + 1 : right] + word[left] + word[right + 1 :], True
    for place in places:
        for other in letters:
            if other != word[place] and other.isdigit() == word[place].isdigit():
                yield word[:place] + other + word[place + 1 :], False
