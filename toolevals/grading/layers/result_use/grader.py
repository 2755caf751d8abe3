"""Grades result use: reads a transcript once, from its first message to its last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolevals.grading.layers.result_use.derivations import Derivations
from toolevals.grading.layers.result_use.findings import Examiner
from toolevals.grading.layers.result_use.names import names_in, sentences
from toolevals.grading.layers.result_use.payloads import Leaf, label_stems, stems
from toolevals.grading.layers.result_use.replies import Reply
from toolevals.grading.layers.result_use.scanner import plain, replies_mentions
from toolevals.grading.layers.result_use.sources import NUMERIC, Sources, Suspicion, lookups
from toolevals.grading.layers.result_use.units import is_currency, same_currency, unit_called
from toolevals.grading.layers.result_use.values import (
    UNGROUNDED,
    Attribution,
    Claim,
    Finding,
    FindingKind,
    Mention,
    ResultFields,
    ResultUse,
)
from toolevals.grading.values import Message, ToolCall, Transcript
from toolevals.grading.values.verdicts import Verdict

# Claims of one transcript; further ones are not read.
MAX_CLAIMS = 2_000
MAX_QUOTED = 3
MAX_SHOWN = 120
# Fields that may hold one claim; older ones are not looked at.
MAX_HELD = 16
# Replies' words among which fields' texts are looked for, in characters.
MAX_WORDS = 200_000
_WORD = re.compile(r"\w+")


def grade_result_use(transcript: Transcript) -> ResultUse:
    """Return how the replies use the tool results, by rules alone.

    Replies are the assistant's texts after the first tool result, and the final answer where it is not the last one.
    Failed where a field of a result speaks against a claim. Passed where each value and name is traced (to a field that
    it can mean, to what was said, or to a derivation of named fields), there is one, and no sentence goes without. Else
    unscored, with the question for a judge. The value is the share of claims that something supports.
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
class Usage:
    """The words of replies, the fields that their claims rest on (result's place, pointer), the results passed on."""

    texts: list[str] = field(default_factory=list)
    used: set[tuple[int, str]] = field(default_factory=set)
    passed_on: set[int] = field(default_factory=set)

    def of(self, sources: Sources) -> Iterator[ResultFields]:
        """Yield each result's used and unused fields: values that a claim rests on, and texts that a reply holds."""
        text = "\n".join(map(_said_form, self.texts))[:MAX_WORDS]
        words, said = frozenset(_WORD.findall(text)), stems(text)

        def is_said(leaf: Leaf) -> bool:
            if isinstance(leaf.value, bool):
                return bool(label_stems(leaf.path)) and label_stems(leaf.path) <= said
            plain = _said_form(leaf.value) if isinstance(leaf.value, str) else ""
            first = _WORD.search(plain)
            return first is not None and first[0] in words and plain in text

        for place, result in enumerate(sources.results):
            fields: dict[str, bool] = {}
            for leaf in result.payload.leaves:
                is_used = fields.get(leaf.pointer) or (place, leaf.pointer) in self.used or is_said(leaf)
                if is_used or not isinstance(leaf.value, bool):
                    fields[leaf.pointer] = is_used
            used = tuple(pointer for pointer, is_used in fields.items() if is_used)
            unused = tuple(pointer for pointer, is_used in fields.items() if not is_used)
            yield ResultFields(result.message, result.call_id, result.tool, used, unused, place in self.passed_on)


def _said_form(text: str) -> str:
    return text.casefold().replace("_", " ")


@dataclass(slots=True)
class _Reading:
    """The parts that have been read so far."""

    sources: Sources = field(default_factory=Sources)
    usage: Usage = field(default_factory=Usage)
    claims: list[Claim] = field(default_factory=list)
    attributions: list[Attribution] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    derivations: Derivations = field(init=False)
    examiner: Examiner = field(init=False)

    def __post_init__(self) -> None:
        self.derivations = Derivations(self.sources)
        self.examiner = Examiner(self.sources)

    def take(self, place: int, message: Message) -> None:
        """Read one message."""
        text = message.content or ""
        if message.role == "tool":
            self.sources.add_result(place, message, self.calls.get(message.call_id or ""))
        elif message.role == "assistant":
            if text and self.sources.results:
                self._reply(place, plain(text))
            for made in message.calls:
                if isinstance(made, ToolCall):
                    self._call(place, made)
        elif text:
            self.sources.add_words("user" if message.role == "user" else "context", place, text)

    def close(self) -> ResultUse:
        """Return the whole answer."""
        if not self.usage.texts:
            return ResultUse(Verdict("unscored", None, "No reply follows the tool results."))
        verdict, question = self._verdict()
        return ResultUse(
            verdict,
            tuple(self.claims),
            tuple(self.attributions),
            tuple(self.findings),
            tuple(self.usage.of(self.sources)),
            question,
            self.sources.is_truncated or len(self.claims) >= MAX_CLAIMS,
        )

    def _call(self, place: int, call: ToolCall) -> None:
        if call.id is not None:
            self.calls[call.id] = call
        for key in self.sources.add_arguments(place, call.arguments):
            if not isinstance(key, int | float) or abs(key) > 12:
                found = self.sources.index.get(key, ())
                self.usage.passed_on.update(self.sources.values[position].result for position in found)

    def _reply(self, message: int, text: str) -> None:
        self.usage.texts.append(text)
        reply = Reply(message, text, replies_mentions(text, MAX_CLAIMS))
        held = [self._attribute(reply, place) for place in range(len(reply.mentions))]
        reply.stated.update(self.sources.values[position].key for _, fields in held for position in fields)
        for place, (attribution, fields) in enumerate(held):
            if len(self.claims) < MAX_CLAIMS:
                self._settle(reply, place, attribution, fields)
        names = list(names_in(text, reply.mentions))
        for start, end in names[: MAX_CLAIMS - len(self.claims)]:
            holder = self.sources.holder_of(text[start:end])
            self.claims.append(Claim(message, start, end, "name", text[start:end]))
            self.attributions.append(Attribution(*holder, rule="equal") if holder else UNGROUNDED)
        values = sorted([*names, *((mention.start, mention.end) for mention in reply.mentions)])
        for start, end, has_value in sentences(text, values):
            sentence = text[start:end]
            # Whether words say yes or no, no rule can tell.
            if not has_value or any(flag <= stems(sentence) for flag in self.sources.flags):
                self.doubts.append(sentence.strip())

    def _settle(self, reply: Reply, claim_index: int, attribution: Attribution, fields: list[int]) -> None:
        """Take a claim as right, open, or wrong."""
        mention = reply.mentions[claim_index]
        claim = Claim(reply.message, mention.start, mention.end, mention.kind, reply.written(claim_index))
        if not attribution.is_grounded and mention.kind in NUMERIC:
            attribution = self._derived(mention)
        suspicion = self._suspicion(reply, claim_index, attribution, fields)
        if suspicion is not None:
            value = self.sources.values[suspicion.field]
            if not self.sources.results[value.result].is_trouble:
                same = (told for at, told in self.examiner.said.items() if self.sources.values[at].path == value.path)
                kind = "drift" if any(told < reply.message for told in same) else suspicion.kind
                self._accuse(claim, kind, value.result, value.pointer, suspicion.truth)
                return
        for position in fields[:1]:
            value = self.sources.values[position]
            self.usage.used.add((value.result, value.pointer))
            self.examiner.said.setdefault(position, reply.message)
        if fields and not self.examiner.is_meant(reply, claim_index, fields):
            self.doubts.append(claim.text)
        self.claims.append(claim)
        self.attributions.append(attribution)

    def _suspicion(
        self, reply: Reply, claim_index: int, attribution: Attribution, fields: list[int]
    ) -> Suspicion | None:
        mention = reply.mentions[claim_index]
        if not attribution.is_grounded:
            return self.examiner.examine(reply, claim_index)
        if attribution.source != "result":
            return None
        calendar = self.examiner.calendar
        suspicion = calendar.weekday(reply, claim_index, fields) or calendar.zone(mention, fields)
        if suspicion or mention.is_weak or any(key in self.sources.said for key in mention.keys):
            return suspicion
        return self.examiner.other_field(reply, claim_index, fields)

    def _accuse(self, claim: Claim, kind: FindingKind, place: int, pointer: str, truth: str) -> None:
        """Add a claim and the finding that a result's field speaks against it."""
        result = self.sources.results[place]
        reason = (
            f"“{claim.text.strip()}” is not what {result.tool or 'the tool'}'s {pointer or 'answer'} holds: {truth}."
        )
        self.findings.append(Finding(kind, reason, (len(self.claims),), result.message, pointer, result.call_id))
        self.claims.append(claim)
        self.attributions.append(UNGROUNDED)

    def _attribute(self, reply: Reply, claim_index: int) -> tuple[Attribution, list[int]]:
        """Return what holds a claim as it stands, and the places of the fields that do."""
        mention = reply.mentions[claim_index]
        found: list[tuple[int, str]] = []
        if mention.kind in NUMERIC:
            rounding = mention.step * (0.999 if mention.step < 1 or mention.unit else 0.5)
            is_named = self._is_named(mention.unit)
            found = [each for each in self.sources.fields_of(mention, rounding) if is_named or each[1] == "fraction"]
        for key in lookups(mention) if not found else ():
            if not found and not isinstance(key, int | float):
                found = [(position, "equal") for position in reversed(self.sources.index.get(key, ())[-MAX_HELD:])]
        if found:
            value, rule = self.sources.values[found[0][0]], found[0][1]
            result = self.sources.results[value.result]
            attribution = Attribution("result", result.message, value.pointer, result.call_id, rule)
            return attribution, [position for position, other in found if other == rule]
        for key in lookups(mention):
            if key in self.sources.said:
                source, message = self.sources.said[key]
                return Attribution(source, message, rule="equal"), []
        return UNGROUNDED, []

    def _is_named(self, unit: str) -> bool:
        """Return whether a unit of the dimension, or the currency, was named before the reply.

        Where no currency was, money is in the one that the reply says.
        """
        if not unit or unit in self.sources.units:
            return True
        known = unit_called(unit)
        if known is None:
            named = [each for each in self.sources.units if is_currency(each)]
            return not named or any(same_currency(unit, each) for each in named)
        others = map(unit_called, filter(None, self.sources.units))
        return any(other is not None and other.dimension == known.dimension for other in others)

    def _derived(self, mention: Mention) -> Attribution:
        """Return from which fields a number follows that none holds."""
        found = self.derivations.of(mention, mention.step * 0.5)
        if found is None:
            return UNGROUNDED
        values = [self.sources.values[position] for position in found.fields]
        result = self.sources.results[values[0].result if values else found.result]
        fields = tuple(dict.fromkeys(value.pointer for value in values)) or (found.pointer,)
        return Attribution("derived", result.message, fields[0], result.call_id, found.rule, fields)

    def _verdict(self) -> tuple[Verdict, str]:
        """Return the verdict, and what a judge would be asked."""
        total = len(self.claims)
        grounded = sum(attribution.is_grounded for attribution in self.attributions)
        if self.findings:
            more = f" ({len(self.findings) - 1} more.)" if len(self.findings) > 1 else ""
            return Verdict("failed", grounded / total, self.findings[0].reason + more), ""
        texts = [claim.text for claim, by in zip(self.claims, self.attributions, strict=True) if not by.is_grounded]
        texts = list(dict.fromkeys((*texts, *self.doubts)))
        if total and not texts:
            reason = f"Each value and name in the replies ({total}) is traced to results or to what was said."
            return Verdict("passed", 1.0, reason), ""
        if not texts:
            reason = "The replies state no value that a rule can check."
            return Verdict("unscored", None, reason), "Do the replies say only what the tools returned?"
        quoted = ", ".join(f"“{text[:MAX_SHOWN]}”" for text in texts[:MAX_QUOTED])
        quoted += f" and {len(texts) - MAX_QUOTED} more" if len(texts) > MAX_QUOTED else ""
        return Verdict(
            "unscored", None, f"No rule can tell whether {quoted} follow from the results."
        ), f"Do {quoted} follow from what the tools returned or from the instructions?"
