"""Grades result use: reads a transcript once, from its first message to its last.

Say what is wrong with a claim: the field of a result that it gives wrongly. Without such a field nothing is said.
"""

from __future__ import annotations

import re
from calendar import day_name
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple

from toolevals.grading.layers.result_use.scanner import (
    Key,
    Mention,
    names_in,
    plain,
    replies_mentions,
    sentences,
    weekday_of,
)
from toolevals.grading.layers.result_use.sources import FieldValue, Sources
from toolevals.grading.layers.result_use.values import (
    UNGROUNDED,
    Attribution,
    Claim,
    Finding,
    FindingKind,
    ResultFields,
    ResultUse,
    differs,
)
from toolevals.grading.values import Message, ToolCall, Transcript
from toolevals.grading.values.verdicts import Verdict

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


# Claims of one transcript, and those of them that are compared with fields; further ones are not.
MAX_CLAIMS = 2_000
MAX_EXAMINED = 200
# Replies' words among which fields' texts are looked for, in characters.
MAX_WORDS = 200_000
MAX_QUOTED = 3
MAX_SHOWN = 120
_WORD = re.compile(r"\w+")


def grade_result_use(transcript: Transcript) -> ResultUse:
    """Return how the replies use the tool results, by rules alone.

    Replies are the assistant's texts after the first tool result, and the final answer where it is not the last one.
    Failed where a field of a result speaks against a claim. Passed where each value and name is traced (to the only
    field of its kind, to what was said, or to a derivation of named fields), there is one, no sentence goes without,
    and no result says yes or no. Else unscored, with the question for a judge. The value is the share of claims that
    something supports.
    """
    if not any(message.role == "tool" for message in transcript.messages):
        return ResultUse(Verdict("unscored", None, "No tool returned a result."))
    reading = _Reading()
    for place, message in enumerate(_messages(transcript)):
        reading.take(place, message)
    return reading.close()


def _messages(transcript: Transcript) -> Iterator[Message]:
    yield from transcript.messages
    last = transcript.messages[-1]
    if transcript.answer and (last.role != "assistant" or (last.content or "").strip() != transcript.answer.strip()):
        yield Message("assistant", transcript.answer)


@dataclass(slots=True)
class _Reading:
    """The parts that have been read so far.

    `used` are the fields that claims rest on: (result's place, pointer); `doubts` are words of which no rule can tell.
    """

    sources: Sources = field(default_factory=Sources)
    texts: list[str] = field(default_factory=list)
    used: set[tuple[int, str]] = field(default_factory=set)
    claims: list[Claim] = field(default_factory=list)
    attributions: list[Attribution] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    calls: dict[str | None, ToolCall] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    examined: int = 0

    def take(self, place: int, message: Message) -> None:
        """Read one message."""
        text = message.content or ""
        if message.role == "tool":
            self.sources.add_result(place, message, self.calls.get(message.call_id))
        elif message.role == "assistant":
            if text and self.sources.results:
                self._reply(place, plain(text))
            for call in message.calls:
                if isinstance(call, ToolCall):
                    if call.id is not None:
                        self.calls[call.id] = call
                    self.sources.add_arguments(place, call.arguments)
        elif text:
            self.sources.add_words("user" if message.role == "user" else "context", place, text)

    def close(self) -> ResultUse:
        """Return the whole answer."""
        if not self.texts:
            return ResultUse(Verdict("unscored", None, "No reply follows the tool results."))
        verdict, question = self._verdict()
        return ResultUse(
            verdict,
            tuple(self.claims),
            tuple(self.attributions),
            tuple(self.findings),
            tuple(self._utilisation()),
            question,
            self.sources.is_truncated or len(self.claims) >= MAX_CLAIMS,
        )

    def _reply(self, message: int, text: str) -> None:
        self.texts.append(text)
        mentions = replies_mentions(text, MAX_CLAIMS)[: MAX_CLAIMS - len(self.claims)]
        held = [self.sources.attribute(mention) for mention in mentions]
        stated = {value.key for _, fields in held for value in fields}
        stated.update(number for mention in mentions for number in mention.numbers)
        for mention, (attribution, fields) in zip(mentions, held, strict=True):
            claim = Claim(message, mention.start, mention.end, mention.kind, text[mention.start : mention.end])
            wrong = self._suspicion(mention, attribution, fields, stated)
            if wrong is not None and not self.sources.results[wrong.field.result].is_trouble:
                self._accuse(claim, wrong)
                continue
            self.claims.append(claim)
            self.attributions.append(attribution)
            self.used.update(
                (value.result, pointer) for value in fields[:1] for pointer in value.fields or (value.pointer,)
            )
            if fields and not any(self.sources.is_meant(value, mention.unit) for value in fields):
                self.doubts.append(claim.text)
        names = list(names_in(text, mentions))[: MAX_CLAIMS - len(self.claims)]
        for start, end in names:
            self.claims.append(Claim(message, start, end, "name", text[start:end]))
            self.attributions.append(self.sources.attribute_name(text[start:end]))
        places = sorted([*names, *((mention.start, mention.end) for mention in mentions)])
        self.doubts += [sentence for sentence, has_claim in sentences(text, places) if not has_claim]

    def _suspicion(
        self, mention: Mention, attribution: Attribution, fields: Sequence[FieldValue], stated: Collection[Key]
    ) -> Suspicion | None:
        if fields:
            return wrong_weekday(mention, fields)
        self.examined += not attribution.is_grounded
        if attribution.is_grounded or self.examined > MAX_EXAMINED:
            return None
        return suspicion(mention, self.sources, stated)

    def _accuse(self, claim: Claim, wrong: Suspicion) -> None:
        """Add a claim and the finding that a result's field speaks against it."""
        result, pointer = self.sources.results[wrong.field.result], wrong.field.pointer
        held = f"{result.tool or 'the tool'}'s {pointer or 'answer'} holds: {wrong.truth}"
        reason = f"“{claim.text.strip()}” is not what {held}."
        self.findings.append(Finding(wrong.kind, reason, (len(self.claims),), result.message, pointer, result.call_id))
        self.claims.append(claim)
        self.attributions.append(UNGROUNDED)

    def _utilisation(self) -> Iterator[ResultFields]:
        """Yield each result's used and unused fields: values that a claim rests on, and texts that a reply holds."""
        said = "\n".join(map(_said_form, self.texts))[:MAX_WORDS]
        words = frozenset(_WORD.findall(said))
        for place, result in enumerate(self.sources.results):
            fields: dict[str, bool] = {}
            for pointer, value in result.payload.leaves:
                text = _said_form(value) if isinstance(value, str) else ""
                first = _WORD.search(text)
                is_said = first is not None and first[0] in words and text in said
                fields[pointer] = fields.get(pointer, False) or is_said or (place, pointer) in self.used
            used = tuple(pointer for pointer, is_used in fields.items() if is_used)
            unused = tuple(pointer for pointer, is_used in fields.items() if not is_used)
            is_passed_on = place in self.sources.passed_on
            yield ResultFields(result.message, result.call_id, result.tool, used, unused, is_passed_on)

    def _verdict(self) -> tuple[Verdict, str]:
        """Return the verdict, and what a judge would be asked."""
        total = len(self.claims)
        grounded = sum(attribution.is_grounded for attribution in self.attributions)
        if self.findings:
            more = f" ({len(self.findings) - 1} more.)" if len(self.findings) > 1 else ""
            return Verdict("failed", grounded / total, self.findings[0].reason + more), ""
        texts = [claim.text for claim, by in zip(self.claims, self.attributions, strict=True) if not by.is_grounded]
        texts = list(dict.fromkeys((*texts, *self.doubts)))
        if total and not texts and not self.sources.has_flags:
            reason = f"Each value and name in the replies ({total}) is traced to results or to what was said."
            return Verdict("passed", 1.0, reason), ""
        if not texts:
            reason = "No rule can tell yes from no." if total else "The replies state no value that a rule can check."
            return Verdict("unscored", None, reason), "Do the replies say only what the tools returned?"
        quoted = ", ".join(f"“{text[:MAX_SHOWN]}”" for text in texts[:MAX_QUOTED])
        quoted += f" and {len(texts) - MAX_QUOTED} more" if len(texts) > MAX_QUOTED else ""
        return Verdict(
            "unscored", None, f"No rule can tell whether {quoted} follow from the results."
        ), f"Do {quoted} follow from what the tools returned or from the instructions?"


def _said_form(text: str) -> str:
    return text.casefold().replace("_", " ")
