"""Where a value in a reply comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from toolevals.grading.result_use.derivations import Derivations
from toolevals.grading.result_use.fields import (
    admits,
    certainly_minor,
    has_unit,
    same_currency,
)
from toolevals.grading.result_use.forms import UTC_BASE, weak_key
from toolevals.grading.result_use.lexicon import CONVERSIONS, NEXT_DAY_CUES
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.quotations import Quotations
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.sources import Sources
from toolevals.grading.result_use.values import UNGROUNDED, Attribution, Key

# How far a round figure may be off, relative to the value.
APPROXIMATION = 0.025
# And a time of day, in minutes.
TIME_APPROXIMATION = 15
MAX_WORD_DIGITS = 12


@dataclass(slots=True)
class Attributor:
    """Attributes the values of replies, in the order of the transcript.

    `refused` are the keys that nothing supported when they were first said: that a user or a call repeats them later
    supports nothing.
    """

    sources: Sources
    derivations: Derivations
    quotations: Quotations
    refused: set[Key] = field(default_factory=set)

    def attribute(self, reply: Reply, place: int, run: Sequence[float]) -> tuple[Attribution, list[int]]:
        """Return where a value comes from, and every field value that it may be, the likeliest first."""
        mention = reply.mentions[place]
        for rule, entries in self._in_results(reply, place):
            # Any number may be equal; what was said of days or hours comes first.
            if (
                mention.kind == "duration"
                and not any(has_unit(mention.unit, self.sources.values[entry]) for entry in entries)
                and (spoken := self._spoken(reply, mention))
            ):
                return spoken, []
            best = self._nearest(reply, place, entries)
            others = [entry for entry in entries if entry != best] if len(entries) > 1 else []
            return self._from_value(best, rule), [best, *others]
        if spoken := self._spoken(reply, mention):
            return spoken, []
        if mention.kind == "date" and (entry := self._day_before(reply, place)) is not None:
            return replace(self._from_value(entry, "elapsed"), source="derived"), [entry]
        return self._derived(reply, place, run), []

    def attribute_again(self, reply: Reply, place: int, run: Sequence[float]) -> tuple[Attribution, list[int]]:
        """Return where a value comes from that nothing supported when fewer numbers of its reply were known."""
        return self._derived(reply, place, run), []

    def _derived(self, reply: Reply, place: int, run: Sequence[float]) -> Attribution:
        mention = reply.mentions[place]
        if not self._may_follow(mention) or not (derived := self.derivations.find(mention, reply, place, run)):
            return UNGROUNDED
        if derived.result is None:
            return Attribution("derived", rule=derived.rule)
        result = self.sources.results[derived.result]
        return Attribution("derived", result.message, derived.pointer, result.call_id, derived.rule)

    def _may_follow(self, mention: Mention) -> bool:
        """Whether the value may be computed: not where a result has just this number in another unit."""
        if mention.kind not in {"number", "amount", "percent", "duration"}:
            return False
        held = self.sources.index.get(mention.keys[0], ())
        return mention.kind == "number" or not any(self.sources.values[entry].is_money for entry in held[-64:])

    def _day_before(self, reply: Reply, place: int) -> int | None:
        """Return the result's date that a claim is the day after, where the sentence speaks of that."""
        key = reply.mentions[place].keys[0]
        if not (isinstance(key, tuple) and len(key) == 3) or not reply.has_cue(place, NEXT_DAY_CUES):
            return None
        try:
            day = date(key[0] or 2024, key[1], key[2]) - timedelta(days=1)
        except (ValueError, OverflowError):
            return None
        entries = self.sources.index.get((day.year if key[0] else 0, day.month, day.day))
        return entries[-1] if entries else None

    def refuse(self, mention: Mention) -> None:
        """Remember a value that nothing supports."""
        self.refused.update(mention.keys)

    def _in_results(self, reply: Reply, place: int) -> Iterator[tuple[str, list[int]]]:
        mention = reply.mentions[place]
        if mention.kind == "time":
            found = self._times(mention, is_approximate=reply.is_approximate(place))
        else:
            found = self._equal(mention)
        if found:
            yield "equal", found
        if mention.kind in {"number", "amount", "percent", "duration"}:
            yield from self._scaled(reply, place)
        elif mention.kind == "identifier":
            yield from self._parts(mention)
        elif mention.kind == "quote" and (quoted := self.quotations.in_results(str(mention.keys[0]))):
            yield "equal", quoted

    def _equal(self, mention: Mention) -> list[int]:
        index, values = self.sources.index, self.sources.values
        found: list[int] = []
        for key in mention.keys:
            entries = index.get(key, ())
            if mention.kind in {"amount", "percent", "number", "duration"}:
                found.extend(entry for entry in entries[-64:] if admits(mention, values[entry]))
            else:
                found.extend(entries[-64:])
            if not found and isinstance(key, tuple) and len(key) == 3 and key[0] > 0:
                found.extend(index.get((-1, key[1], key[2]), ()))
        if (
            not found
            and mention.kind == "number"
            and isinstance(mention.keys[0], int)
            and 1900 <= mention.keys[0] < 2100
        ):
            found.extend(index.get((mention.keys[0], 0, 0), ())[-64:])
        return found

    def _times(self, mention: Mention, *, is_approximate: bool) -> list[int]:
        (key,) = mention.keys
        minutes = key[0] if isinstance(key, tuple) else 0
        index, values = self.sources.index, self.sources.values
        if mention.zone is None and (key in index or not is_approximate):
            return index.get(key, [])[-64:]
        if mention.zone is None:
            return [
                entry
                for place in range(-TIME_APPROXIMATION, TIME_APPROXIMATION + 1)
                for entry in index.get(((minutes + place) % 1440,), ())[-8:]
            ]
        moved: Key = (UTC_BASE + (minutes - mention.zone) % 1440,)
        return [
            *index.get(moved, [])[-64:],
            *(entry for entry in index.get(key, ())[-64:] if values[entry].zone is None),
        ]

    def _scaled(self, reply: Reply, place: int) -> Iterator[tuple[str, list[int]]]:
        mention = reply.mentions[place]
        value = mention.value
        values = self.sources.values
        if mention.kind == "amount":
            minor = [
                entry
                for entry in self.sources.index.get(round(value * 100, 4), ())
                if values[entry].is_minor and same_currency(mention.unit, values[entry].money_code)
            ]
            if minor:
                yield "minor_units", minor
        if mention.kind == "percent":
            fraction = self.sources.index.get(round(value / 100, 6), ())
            if found := [entry for entry in fraction if values[entry].kind == "number" and value]:
                yield "fraction", found
        if mention.kind in {"amount", "percent"}:
            opposite = self.sources.index.get(-value, ())
            if found := [entry for entry in opposite if admits(mention, values[entry])]:
                yield "equal", found
        digits = _digits(reply.text[mention.start : mention.end]) if mention.kind == "number" else ""
        if digits and (found := self.sources.index.get(f"~{digits}", [])):
            yield "equal", found
        yield from self._converted(mention)
        yield from self._rounded(reply, place)

    def _converted(self, mention: Mention) -> Iterator[tuple[str, list[int]]]:
        for unit, factor, offset in CONVERSIONS.get(mention.unit, ()):
            target = mention.value * factor + offset
            tolerance = max(mention.step * factor * 0.6, abs(target) * 1e-6)
            for number in self.sources.numbers_near(target, tolerance):
                entries = self.sources.index[number]
                if found := [entry for entry in entries if has_unit(unit, self.sources.values[entry])]:
                    yield "converted", found

    def _rounded(self, reply: Reply, place: int) -> Iterator[tuple[str, list[int]]]:
        mention = reply.mentions[place]
        value, step = mention.value, mention.step
        if mention.is_weak or value == 0:
            return
        approximate = reply.is_approximate(place)
        tolerance = step if step > 1 else step / 2
        if approximate:
            tolerance = max(tolerance, abs(value) * APPROXIMATION)
        factors = (1.0, 100.0) if mention.kind == "amount" else (1.0, 0.01) if mention.kind == "percent" else (1.0,)
        for factor in factors:
            for number in self.sources.numbers_near(value * factor, tolerance * factor * 1.000001):
                if not approximate and not _is_finer(number / factor, step):
                    continue
                found = [entry for entry in self.sources.index[number] if self._admits_scaled(mention, entry, factor)]
                if found:
                    yield "rounded", found

    def _admits_scaled(self, mention: Mention, entry: int, factor: float) -> bool:
        value = self.sources.values[entry]
        if factor == 100.0:
            return value.is_minor and same_currency(mention.unit, value.money_code)
        if factor == 0.01:
            return value.kind == "number" and isinstance(value.key, float) and abs(value.key) < 1
        return admits(mention, value) and not (mention.kind == "amount" and certainly_minor(value))

    def _parts(self, mention: Mention) -> Iterator[tuple[str, list[int]]]:
        """An identifier written together with others, as `HAT001-HAT002`, or with its prefix left off."""
        key = str(mention.keys[0])
        if "_" in key and (found := self.sources.index.get(f"~{key.rpartition('_')[2]}")):
            yield "equal", found
        parts = [part for part in key.replace("/", "-").replace("@", "-").split("-") if part]
        if len(parts) > 1:
            parted = [
                self.sources.index.get(int(part) if part.isdecimal() and len(part) < MAX_WORD_DIGITS else part)
                for part in parts
                if not part.isalpha()
            ]
            if parted and all(parted):
                yield "equal", [entries[-1] for entries in parted if entries]

    def _spoken(self, reply: Reply, mention: Mention) -> Attribution | None:
        keys: list[Key] = list(mention.keys)
        if mention.kind == "quote":
            return self.quotations.spoken(str(mention.keys[0]))
        if mention.kind == "number" and (digits := _digits(reply.text[mention.start : mention.end])):
            keys.append(f"~{digits}")
        if mention.kind == "date":
            keys.extend((-1, key[1], key[2]) for key in mention.keys if isinstance(key, tuple) and len(key) == 3)
        if not self.refused.isdisjoint(mention.keys):
            return None
        if mention.is_weak:
            keys.append(weak_key(mention))
        for source, known in (
            ("user", self.sources.user),
            ("context", self.sources.context),
            ("arguments", self.sources.arguments),
        ):
            for key in keys:
                if (message := known.get(key)) is not None:
                    return Attribution(source, message, rule="equal")  # type: ignore[arg-type]
        return None

    def _nearest(self, reply: Reply, place: int, entries: Sequence[int]) -> int:
        """Return the value whose field's name stands beside the claim, of the newest result."""
        if len(entries) == 1:
            return entries[0]
        words = reply.words_before(place) | reply.words_after(place)
        newest = entries[-32:]
        if not words:
            return max(newest)
        values = self.sources.values
        return max(newest, key=lambda entry: (len(words & values[entry].labels), entry))

    def _from_value(self, entry: int, rule: str) -> Attribution:
        value = self.sources.values[entry]
        result = self.sources.results[value.result]
        source = "derived" if rule in {"converted", "rounded"} else "result"
        return Attribution(source, result.message, value.pointer, result.call_id, rule)  # type: ignore[arg-type]


def _digits(text: str) -> str:
    return text if len(text) >= 4 and text.isdigit() else ""


def _is_finer(number: float, step: float) -> bool:
    """Whether the number has digits beyond those that were said: only then was it rounded."""
    parts = number / step
    return abs(parts - round(parts)) > 1e-6
