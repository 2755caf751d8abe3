"""What is wrong with a claim: the field of a result that it gives wrongly. Without such a field nothing is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolevals.grading.result_use.calendar import Calendar
from toolevals.grading.result_use.derivations import Derivations
from toolevals.grading.result_use.forms import differs, folded, in_unit, suits
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.naming import Suspicion, any_alike, names, only_named
from toolevals.grading.result_use.neighbours import flipped, misspelled, rescaled, significant
from toolevals.grading.result_use.payloads import FieldValue, stems
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.sources import Sources
from toolevals.grading.result_use.values import FindingKind

# Claims of a transcript that are compared with fields; further ones stay open.
MAX_EXAMINED = 200
# Fields beside one that are compared with it.
MAX_SIBLINGS = 40
# Fields with a claim's value that are looked at.
MAX_HELD = 4
# What speaks for a field being meant must weigh so much.
ENOUGH = 3
# And so much that a chance sum of two numbers does not speak against it.
CERTAIN = 4


@dataclass(slots=True)
class Examiner:
    """Names what is wrong with claims that nothing supports.

    `said` leads from a field's place to the reply that gave it first.
    """

    sources: Sources
    derivations: Derivations
    said: dict[int, int] = field(default_factory=dict)
    calendar: Calendar = field(init=False)
    _examined: int = 0

    def __post_init__(self) -> None:
        self.calendar = Calendar(self.sources, self.derivations)

    def examine(self, reply: Reply, place: int, numbers: Sequence[float]) -> Suspicion | None:
        """Return what is wrong with a claim that nothing holds as it stands; `numbers` are those held."""
        mention = reply.mentions[place]
        self._examined += 1
        if self._examined > MAX_EXAMINED or (mention.is_weak and not mention.unit):
            return None
        if mention.kind == "identifier":
            return self._identifier(reply, place, folded(str(mention.keys[0])))
        if mention.kind == "date":
            return self.calendar.date(reply, place, numbers)
        if mention.kind == "time":
            return self.calendar.time(reply, place, numbers, self.said)
        if (suspicion := self._unit(reply, place)) is not None:
            return suspicion
        weight, suspicion = self._number(reply, place)
        if suspicion is None:
            suspicion = self._named_otherwise(reply, place)
        is_certain = weight >= CERTAIN and suspicion is not None and suspicion.kind != "changed_scale"
        slack = mention.step * 0.5
        if suspicion is None or self.derivations.sums_up(mention.value, reply.numbers):
            return None
        if self.derivations.number(mention, slack, numbers, is_plain=is_certain):
            return None
        return suspicion

    def _named_otherwise(self, reply: Reply, place: int) -> Suspicion | None:
        """Return the one field that the words beside a claim name in full, where it has another value of that unit."""
        mention = reply.mentions[place]
        about = reply.about(place)
        if reply.is_relative(place) or reply.is_approximate(place) or not (mention.unit or self._is_count(mention)):
            return None
        position = only_named(self.sources, reply, about, lambda value: _same_unit(mention.unit, value))
        if position is None:
            return None
        value = self.sources.values[position]
        unit = value.measure.unit or value.measure.currency
        return Suspicion("contradiction", position, f"{value.written} {unit}".strip())

    def _is_count(self, mention: Mention) -> bool:
        """Whether a bare number counts things, beside so few fields that it can hardly come from elsewhere."""
        return mention.kind == "number" and isinstance(mention.keys[0], int) and self.sources.is_small

    def _identifier(self, reply: Reply, place: int, written: str) -> Suspicion | None:
        is_short = len(written) < 5
        for other in misspelled(written):
            for position in self.sources.index.get(f"={other}" if len(other) > 2 else other, ()):
                value = self.sources.values[position]
                if value.key not in reply.stated and (not is_short or names(reply, place, value)):
                    return Suspicion("flipped_digits", position, value.written)
        return None

    def _unit(self, reply: Reply, place: int) -> Suspicion | None:
        """Return the field with exactly this number in another unit."""
        mention = reply.mentions[place]
        if not mention.unit:
            return None
        equal = list(self.sources.equal_numbers(mention.value))
        if any(suits(mention.unit, self.sources.values[position]) for position in equal):
            return None
        for position in reversed(equal):
            value = self.sources.values[position]
            needed = 2 if self.sources.is_small else 3
            if differs(mention.unit, value) and (significant(mention) >= needed or names(reply, place, value)):
                unit = value.measure.unit or value.measure.currency
                return Suspicion("wrong_unit", position, f"{value.written} {unit}")
        return None

    def _number(self, reply: Reply, place: int) -> tuple[int, Suspicion | None]:
        mention = reply.mentions[place]
        best: tuple[int, Suspicion | None] = (0, None)
        for kind, number, position, likeness in self._near_numbers(reply, place):
            value = self.sources.values[position]
            if value.key in reply.stated and kind != "contradiction":
                continue
            weight = likeness + self._weight(reply, place, position)
            if weight >= ENOUGH and weight > best[0]:
                truth = in_unit(value, mention.unit) if kind != "contradiction" else None
                best = weight, Suspicion(kind, position, f"{number if truth is None else truth:,.10g}")
        return best

    def _near_numbers(self, reply: Reply, place: int) -> Iterator[tuple[FindingKind, float, int, int]]:
        """Yield (kind, number, field's place, weight) of the fields' numbers near a claim's, and of their sums."""
        mention = reply.mentions[place]
        others = [mention._replace(keys=(key,), step=1.0) for key in mention.keys[1:] if isinstance(key, int)]
        for reading in (mention, *others):
            yield from self._near_reading(reply, place, reading)

    def _near_reading(
        self, reply: Reply, place: int, mention: Mention
    ) -> Iterator[tuple[FindingKind, float, int, int]]:
        digits = significant(mention)
        for number, is_swap in flipped(mention):
            if not is_swap and digits < (3 if self.sources.is_small else 5):
                continue
            for position, rule in self.sources.fields_of(mention._replace(keys=(number,)), 0.0):
                if rule != "rounded":
                    yield "flipped_digits", number, position, min(digits, 4) - 2 + is_swap
        for number, power in rescaled(mention) if digits > 1 or mention.unit not in {"", "%"} else ():
            slack = mention.step * 10.0**power * 0.499 if digits > 1 and mention.kind != "amount" else 0.0
            for position, _ in self.sources.fields_of(mention._replace(keys=(number,)), slack):
                yield "changed_scale", number, position, min(digits, 4) - 1

        if reply.tells_sum(place):
            for number, is_swap in flipped(mention):
                total = self.derivations.total_at(number) if is_swap else None
                if total is not None and suits(mention.unit, self.sources.values[total]):
                    yield "contradiction", number, total, ENOUGH

    def _weight(self, reply: Reply, place: int, position: int) -> int:
        """Return how much speaks for a field being meant: its name, its unit, its thing, an earlier reply."""
        mention, value = reply.mentions[place], self.sources.values[position]
        about = reply.about(place)
        named = [label for label in value.labels if any_alike((label,), about)]
        weight = 0 if not named else 3 if len(named) == len(value.labels) else 2
        weight += 2 * (position in self.said) + self.sources.is_small
        measure = value.measure
        is_fraction = mention.unit == "%" and isinstance(value.key, float) and 0 < value.key < 1
        return weight + bool(is_fraction or (mention.unit and (measure.unit or measure.is_money or measure.currency)))

    def other_field(self, reply: Reply, place: int, fields: Sequence[int]) -> Suspicion | None:
        """Return the field that the words beside a value name, where the value is that of another field beside it."""
        mention = reply.mentions[place]
        if mention.kind in {"date", "time"} and len(fields) > 1:
            return None
        about = frozenset[str]() if reply.is_term(place) else reply.about(place)
        sentence = stems(reply.sentence(place))
        for position in fields[:MAX_HELD] if about else ():
            value = self.sources.values[position]
            if any_alike(value.labels, about) and not self._less_named(value, about):
                return None
            named = []
            for other in self._siblings(position):
                rival = self.sources.values[other]
                if rival.kind == value.kind and any_alike(rival.labels - value.labels, about):
                    around = about if all(any_alike((label,), about) for label in rival.labels) else sentence
                    if not any_alike(value.labels - rival.labels, around):
                        named.append(other)
            keys = {self.sources.values[other].key for other in named}
            other = named[0] if named else -1
            if len(keys) != 1 or not self._rivals(value, rival := self.sources.values[other], mention):
                continue
            if rival.key not in reply.stated or self._is_swapped(reply, place, value, rival):
                return Suspicion("wrong_field", other, rival.written)
        return None

    def _is_swapped(self, reply: Reply, place: int, value: FieldValue, rival: FieldValue) -> bool:
        """Whether the reply gives the rival's value too, and only beside the name of this field."""
        places = [other for other in reply.places(rival.key) if other != place]
        return bool(places) and all(
            any_alike(value.labels - rival.labels, reply.about(other))
            and not any_alike(rival.labels - value.labels, reply.about(other))
            for other in places
        )

    def _less_named(self, value: FieldValue, about: frozenset[str]) -> bool:
        """Whether only a part of a field's name stands beside a claim."""
        return any(not any_alike((label,), about) for label in value.labels)

    def _siblings(self, position: int) -> Iterator[int]:
        value = self.sources.values[position]
        bounds = self.sources.results[value.result].values
        for other in range(max(bounds.start, position - MAX_SIBLINGS), min(bounds.stop, position + MAX_SIBLINGS)):
            candidate = self.sources.values[other]
            if candidate.container == value.container and candidate.path != value.path:
                yield other

    def _rivals(self, value: FieldValue, other: FieldValue, mention: Mention) -> bool:
        """Whether the two fields are of one kind and differ, so that one can be taken for the other."""
        if value.key == other.key or value.kind != other.kind:
            return False
        if value.measure._replace(is_minor=False) != other.measure._replace(is_minor=False):
            return False
        if not suits(mention.unit, other):
            return False
        return not isinstance(value.key, str) or _shape(value.key) == _shape(str(other.key))


def _same_unit(unit: str, value: FieldValue) -> bool:
    measure = value.measure
    if isinstance(value.key, str | tuple):
        return False
    if not unit:
        return not measure.unit and not measure.is_money and isinstance(value.key, int)
    if unit in {"deg", measure.unit}:
        return measure.unit in {unit, "C", "F"}
    return len(unit) == 3 and unit.isupper() and measure.is_money and suits(unit, value)


def _shape(identifier: str) -> tuple[bool, bool, int]:
    """Return what identifiers of one sort share: digits, letters, and about how long they are."""
    letters = any(letter.isalpha() for letter in identifier)
    return any(letter.isdigit() for letter in identifier), letters, len(identifier) // 4
