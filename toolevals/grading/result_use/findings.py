"""What is wrong with a claim: which result it miswrites or contradicts, or that it stands on nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from toolevals.grading.result_use.closeness import is_flipped, is_rescaled, rescaled_by
from toolevals.grading.result_use.fields import FieldValue, same_currency
from toolevals.grading.result_use.lexicon import CHANGE_WORDS, GENERIC_LABELS
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.sorts import NUMERIC, comparable, fits, has_sort, same_sort
from toolevals.grading.result_use.sources import Sources
from toolevals.grading.result_use.values import ClaimKind, Finding, FindingKind, Key

# The newest values of a kind that a claim is compared with.
MAX_COMPARED = 400
_MAX_SCANNED = 2_000
# Unsupported claims of a transcript that are looked into; further ones are called ungrounded.
MAX_EXAMINED = 200
# And so many comparisons with fields.
MAX_COMPARISONS = 10_000


@dataclass(slots=True)
class Examiner:
    """Names what is wrong with claims that nothing supports.

    `said` are the fields that earlier replies gave as the results have them, with the reply's message.
    """

    sources: Sources
    said: dict[tuple[int, str], int] = field(default_factory=dict)
    _examined: int = 0
    _comparisons: int = 0
    _compared: dict[ClaimKind, Sequence[FieldValue]] = field(default_factory=dict)
    _compared_of: int = -1

    def examine(self, reply: Reply, place: int, claim: int) -> Finding | None:
        """Return the finding on a claim, None for a bare small number that no field is about."""
        mention = reply.mentions[place]
        if self._is_no_claim(reply, place, mention):
            return None
        text = reply.text[mention.start : mention.end]
        candidates = self._comparable(mention)
        self._examined += 1
        self._comparisons += len(candidates)
        if self._examined > MAX_EXAMINED or self._comparisons > MAX_COMPARISONS:
            return self._finding("ungrounded", None, text, mention, claim)
        named = self._named(reply, place, candidates)
        if mention.is_weak:
            named = [
                value for value in named if _is_count_of(value, reply.words_after(place) | reply.words_before(place))
            ]
            if not named:
                return self._other_length(reply, place, claim)
        kind, value = self._kind(reply, place, mention, candidates, named)
        return self._finding(kind, value, text, mention, claim)

    def _is_no_claim(self, reply: Reply, place: int, mention: Mention) -> bool:
        """Whether the text only looks like a value: an example, a date to search for, a field's name, a quoted word."""
        if mention.kind in {"date", "time"} and (reply.is_intent(place) or reply.has_word(place, CHANGE_WORDS)):
            return True
        if mention.kind == "amount" and mention.value == 0:
            return True
        if mention.kind == "identifier" and self._is_field(str(mention.keys[0])):
            return True
        return (mention.kind == "quote" and mention.is_weak) or reply.is_example(place)

    def _is_field(self, name: str) -> bool:
        """Whether an identifier is the name of a result's field: "address2" beside "address1"."""
        stem = name.rstrip("0123456789")
        return bool(stem) and any(stem in result.payload.field_stems for result in self.sources.results)

    def _other_length(self, reply: Reply, place: int, claim: int) -> Finding | None:
        """Return the finding on a count of things of which a result lists another number."""
        mention = reply.mentions[place]
        words = reply.words_after(place)
        for result in reversed(self.sources.results):
            for pointer, length, names in result.payload.counted:
                if words & names:
                    text = reply.text[mention.start : mention.end]
                    where = f"{result.tool or 'the tool'}'s {pointer}"
                    reason = f"“{text}” contradicts the {length} entries of {where}."
                    return Finding("contradiction", reason, (claim,), result.message, pointer)
        return None

    def _kind(
        self, reply: Reply, place: int, mention: Mention, candidates: Sequence[FieldValue], named: Sequence[FieldValue]
    ) -> tuple[FindingKind, FieldValue | None]:
        if other_unit := self._other_currency(mention, candidates):
            return "contradiction", other_unit
        scaled = self._rescaled(mention, candidates, named)
        # Two bare digits in another order are a coincidence unless the field is named.
        near = (
            named
            if mention.kind == "number" and not mention.unit and abs(mention.value) < 100
            else [*named, *candidates]
        )
        flipped = next((value for value in near if _flipped(mention, value)), None)
        alike = () if mention.kind in {"identifier", "quote"} else named
        for value in (*alike, scaled, flipped, self._only_said(mention, candidates)):
            if value is not None and self.said.get((value.result, value.pointer), reply.message) < reply.message:
                return "drift", value
        if scaled is not None:
            return "changed_scale", scaled
        if flipped is not None:
            return "flipped_digits", flipped
        if named and mention.kind not in {"identifier", "quote"} and not reply.is_general(place):
            return "contradiction", named[0]
        return self._without_field(mention, candidates)

    def _without_field(
        self, mention: Mention, candidates: Sequence[FieldValue]
    ) -> tuple[FindingKind, FieldValue | None]:
        if mention.kind == "identifier":
            return "ungrounded", None
        similar = next((value for value in candidates if same_sort(mention, value)), None)
        if similar is None and mention.kind == "duration":
            similar = next((value for value in self.sources.values if value.kind == "time"), None)
        return ("ungrounded", None) if similar is None else ("prior_knowledge", similar)

    def _comparable(self, mention: Mention) -> Sequence[FieldValue]:
        """Return the newest values of the claim's kind, newest first."""
        if self._compared_of != len(self.sources.values):
            self._compared.clear()
            self._compared_of = len(self.sources.values)
        known = self._compared.get(mention.kind)
        if known is None:
            newest = self.sources.values[: -_MAX_SCANNED - 1 : -1]
            results = self.sources.results
            known = self._compared[mention.kind] = [
                value for value in newest if comparable(mention, value) and not results[value.result].is_error
            ][:MAX_COMPARED]
        return known

    def _named(self, reply: Reply, place: int, candidates: Sequence[FieldValue]) -> list[FieldValue]:
        """Return the values whose field's name stands beside the claim: of the thing named there, if any is."""
        mention = reply.mentions[place]
        if mention.kind == "amount" and any(value.is_money for value in candidates):
            candidates = [value for value in candidates if value.is_money]
        elif mention.unit:
            candidates = [value for value in candidates if same_sort(mention, value) or not has_sort(value)]
        found = _labelled(candidates, reply.words_before(place))
        if not found:
            found = _labelled(candidates, reply.words_after(place))
        if not found:
            found = _labelled(candidates, reply.words_wide(place))
        return found

    def _rescaled(
        self, mention: Mention, candidates: Sequence[FieldValue], named: Sequence[FieldValue]
    ) -> FieldValue | None:
        if mention.kind not in NUMERIC or mention.is_weak:
            return None
        said = mention.value
        for value in named:
            if is_rescaled(said, value.key, any_digits=True) and fits(mention, value):
                return value
        for value in candidates:
            alike = len(candidates) == 1 or (mention.unit != "" and value.unit == mention.unit)
            if is_rescaled(said, value.key, any_digits=alike) and fits(mention, value):
                return value
            if (
                mention.step > 1
                and isinstance(value.key, int | float)
                and value.key
                and _leading(said, value.key, mention.step)
            ):
                return value
        return _equal_but_minor(mention, candidates)

    def _only_said(self, mention: Mention, candidates: Sequence[FieldValue]) -> FieldValue | None:
        """Return the one field of the claim's sort that earlier replies gave."""
        given = {
            (value.result, value.pointer): value
            for value in candidates
            if (value.result, value.pointer) in self.said and same_sort(mention, value)
        }
        return next(iter(given.values())) if len(given) == 1 and mention.kind not in {"identifier", "quote"} else None

    def _other_currency(self, mention: Mention, candidates: Sequence[FieldValue]) -> FieldValue | None:
        if mention.kind != "amount":
            return None
        for value in candidates:
            if value.key in mention.keys and not same_currency(mention.unit, value.money_code):
                return value
        return None

    def _finding(self, kind: FindingKind, value: FieldValue | None, text: str, mention: Mention, claim: int) -> Finding:
        if value is None:
            return Finding(
                kind, f"“{text}” is in no tool result and was not said before: take it out or call for it.", (claim,)
            )
        result = self.sources.results[value.result]
        where = f"{result.tool or 'the tool'}'s {value.pointer or 'result'}"
        held = value.written
        reason = {
            "drift": f"“{text}” departs from {held} of {where}, which an earlier reply gave rightly.",
            "flipped_digits": f"“{text}” is {held} of {where} miswritten.",
            "contradiction": f"“{text}” contradicts {held} of {where}.",
            "prior_knowledge": f"“{text}” is in no tool result, though {where} has {held}: answer from the result.",
        }.get(kind, "")
        if kind == "changed_scale":
            reason = f"“{text}” has the digits of {held} of {where} at another scale."
            if isinstance(value.key, int | float) and value.key and mention.value == mention.value:
                factor = 100 if value.is_minor and mention.kind == "amount" else 1
                if abs(mention.value * factor) != abs(value.key):
                    reason = f"“{text}” is {rescaled_by(mention.value * factor, value.key)} for {held} of {where}."
        return Finding(kind, reason, (claim,), result.message, value.pointer)


def _labelled(candidates: Iterable[FieldValue], words: frozenset[str]) -> list[FieldValue]:
    if not words:
        return []
    scored = [(len(words & value.labels), value) for value in candidates]
    best = max((score for score, _ in scored), default=0)
    return [value for score, value in scored if score == best] if best else []


def _flipped(mention: Mention, value: FieldValue) -> bool:
    if mention.is_weak:
        return False
    keys: list[Key] = list(mention.keys[:2])
    if mention.kind == "amount" and value.is_minor:
        keys = [round(mention.value * 100, 2)]
    return any(is_flipped(key, value.key) for key in keys) and fits(mention, value)


def _equal_but_minor(mention: Mention, candidates: Iterable[FieldValue]) -> FieldValue | None:
    """Return the field whose number was taken as it stands though it is in cents, or a fraction."""
    if mention.kind not in {"amount", "percent"}:
        return None
    return next(
        (
            value
            for value in candidates
            if value.key == mention.value and (value.is_minor if mention.kind == "amount" else value.kind == "number")
        ),
        None,
    )


def _leading(said: float, held: float, step: float) -> bool:
    """Whether a round figure has a number's leading digits at another scale."""
    for power in (10, 100, 1000):
        for scaled in (held * power, held / power):
            if abs(scaled - said) <= step / 2 * 1.000001 and said / step >= 10:
                return True
    return False


def _is_count_of(value: FieldValue, words: frozenset[str]) -> bool:
    return not value.is_text and isinstance(value.key, int) and bool((words & value.labels) - GENERIC_LABELS)
