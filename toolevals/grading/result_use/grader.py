"""The grader of result use: reads a transcript once, from its first message to its last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isnan

from toolevals.grading.result_use.derivations import Derivations
from toolevals.grading.result_use.findings import Examiner
from toolevals.grading.result_use.forms import lookups
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.naming import Suspicion
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.scanner import plain, replies_mentions
from toolevals.grading.result_use.sources import Sources
from toolevals.grading.result_use.statuses import Statuses
from toolevals.grading.result_use.utilisation import Usage, utilisation
from toolevals.grading.result_use.values import UNGROUNDED, Attribution, Claim, Finding, ResultUse
from toolevals.grading.values import Message, ToolCall, Transcript
from toolevals.grading.verdicts import Verdict

# Claims of one transcript; further ones are not read.
MAX_CLAIMS = 2_000
MAX_QUOTED = 3
# Fields that may hold one claim; older ones are not looked at.
MAX_HELD = 16
_NUMERIC = frozenset({"number", "amount", "percent", "duration"})


def grade_result_use(transcript: Transcript) -> ResultUse:
    """Return how the replies use the tool results, by rules alone.

    Replies are the assistant's texts after the first tool result, and the final answer where it is not the last one.
    Failed where a field of a result speaks against a claim; passed where every claim follows from results or from what
    was said; else unscored, with the question for a judge. The value is the share of claims that something supports.
    Nothing is raised.
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
    """What has been read so far."""

    sources: Sources = field(default_factory=Sources)
    usage: Usage = field(default_factory=Usage)
    claims: list[Claim] = field(default_factory=list)
    attributions: list[Attribution] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    replied: bool = False
    derivations: Derivations = field(init=False)
    examiner: Examiner = field(init=False)
    statuses: Statuses = field(init=False)

    def __post_init__(self) -> None:
        self.derivations = Derivations(self.sources)
        self.examiner = Examiner(self.sources, self.derivations)
        self.statuses = Statuses(self.sources)

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
        if not self.replied:
            return ResultUse(Verdict("unscored", None, "No reply follows the tool results."))
        verdict, question = self._verdict()
        return ResultUse(
            verdict=verdict,
            claims=tuple(self.claims),
            attributions=tuple(self.attributions),
            findings=tuple(self.findings),
            utilisation=tuple(utilisation(self.sources, self.usage)),
            question=question,
            truncated=self.sources.is_truncated or len(self.claims) >= MAX_CLAIMS,
        )

    def _call(self, place: int, call: ToolCall) -> None:
        if call.id is not None:
            self.calls[call.id] = call
        taken = self.sources.add_arguments(place, call.arguments)
        for key in taken:
            if not isinstance(key, int | float) or abs(key) > 12:
                self.usage.passed_on.update(
                    self.sources.values[entry].result for entry in self.sources.index.get(key, ())
                )

    def _reply(self, place: int, text: str) -> None:
        self.replied = True
        self.usage.texts.append(text)
        reply = Reply(place, text, replies_mentions(text, MAX_CLAIMS))
        held: list[tuple[Attribution, list[int]]] = []
        for position in range(len(reply.mentions)):
            attribution, fields = self._attribute(reply, position)
            held.append((attribution, fields))
            reply.stated.update(self.sources.values[entry].key for entry in fields)
        numbers = [
            mention.value
            for mention, (attribution, _) in zip(reply.mentions, held, strict=True)
            if (attribution.is_grounded or mention.is_weak) and mention.kind in _NUMERIC and not isnan(mention.value)
        ]
        for position, (attribution, fields) in enumerate(held):
            if len(self.claims) < MAX_CLAIMS:
                self._settle(reply, position, attribution, fields, numbers)
        for denial in self.statuses.denials(text):
            value = str(denial.leaf.value).lower() if isinstance(denial.leaf.value, bool) else denial.leaf.value
            where = f"{denial.result.tool or 'the tool'}'s {denial.leaf.pointer or 'answer'}"
            reason = f"“{text[denial.start : denial.end].strip()}” is not what {where} holds: {value}."
            place = len(self.claims)
            self.findings.append(
                Finding(
                    "contradiction", reason, (place,), denial.result.message, denial.leaf.pointer, denial.result.call_id
                )
            )
            self.claims.append(
                Claim(reply.message, denial.start, denial.end, "status", text[denial.start : denial.end])
            )
            self.attributions.append(UNGROUNDED)

    def _settle(
        self, reply: Reply, position: int, attribution: Attribution, fields: list[int], numbers: list[float]
    ) -> None:
        mention = reply.mentions[position]
        suspicion, attribution = self._examine(reply, position, attribution, fields, numbers)
        if suspicion is not None and self.sources.results[self.sources.values[suspicion.field].result].is_trouble:
            suspicion = None
        if not attribution.is_grounded and suspicion is None and mention.is_weak:
            return
        if suspicion is not None:
            attribution = UNGROUNDED
            self._find(reply, position, suspicion)
        else:
            for entry in fields[:1]:
                value = self.sources.values[entry]
                self.usage.used.add((value.result, value.pointer))
                self.examiner.said.setdefault(entry, reply.message)
        self.claims.append(Claim(reply.message, mention.start, mention.end, mention.kind, reply.written(position)))
        self.attributions.append(attribution)

    def _examine(
        self, reply: Reply, position: int, attribution: Attribution, fields: list[int], numbers: list[float]
    ) -> tuple[Suspicion | None, Attribution]:
        """Return what is wrong with a claim, and what it follows from; what is derived joins the reply's numbers."""
        mention = reply.mentions[position]
        calendar = self.examiner.calendar
        if attribution.source == "result":
            suspicion = calendar.weekday(reply, position, fields) or calendar.zone(mention, fields)
            if suspicion is None and not mention.is_weak and not self._is_said(mention):
                suspicion = self.examiner.other_field(reply, position, fields)
            return suspicion, attribution
        if attribution.is_grounded:
            return None, attribution
        suspicion = self.examiner.examine(reply, position, numbers)
        if suspicion is not None:
            return suspicion, attribution
        attribution = self._derived(reply, position, numbers)
        if not attribution.is_grounded:
            return None, attribution
        if mention.kind in _NUMERIC:
            numbers.append(mention.value)
        return calendar.weekday(reply, position, ()), attribution

    def _find(self, reply: Reply, position: int, suspicion: Suspicion) -> None:
        value = self.sources.values[suspicion.field]
        result = self.sources.results[value.result]
        kind = suspicion.kind
        if any(
            self.sources.values[entry].path == value.path
            for entry, told in self.examiner.said.items()
            if told < reply.message
        ):
            kind = "drift"
        where = f"{result.tool or 'the tool'}'s {value.pointer or 'answer'}"
        reason = f"“{reply.written(position)}” is not what {where} holds: {suspicion.truth}."
        self.findings.append(Finding(kind, reason, (len(self.claims),), result.message, value.pointer, result.call_id))

    def _attribute(self, reply: Reply, position: int) -> tuple[Attribution, list[int]]:
        """Return what holds a claim as it stands, and the places of the fields that do."""
        mention = reply.mentions[position]
        if mention.kind in _NUMERIC:
            slack = 0.025 * abs(mention.value) if reply.is_approximate(position) else 0.0
            rounding = mention.step * (0.999 if mention.step < 1 or mention.unit else 0.5)
            found = list(self.sources.fields_of(mention, max(slack, rounding)))
            found = found or [(entry, "equal") for entry in self._indexed(mention)]
        else:
            found = [(entry, "equal") for entry in self._indexed(mention)]
        if found:
            entry, rule = found[0]
            value = self.sources.values[entry]
            result = self.sources.results[value.result]
            attribution = Attribution("result", result.message, value.pointer, result.call_id, rule)
            return attribution, [entry for entry, other in found if other == rule]
        for key in lookups(mention):
            if key in self.sources.said:
                source, message = self.sources.said[key]
                return Attribution(source, message, rule="equal"), []
        if mention.kind == "number" and not mention.unit and self.sources.holds_token(reply.written(position)):
            return Attribution("derived", rule="equal"), []
        return UNGROUNDED, []

    def _indexed(self, mention: Mention) -> list[int]:
        """Return the places of the newest fields that hold an identifier, a date or a time."""
        for key in lookups(mention):
            if not isinstance(key, int | float) and (found := self.sources.index.get(key)):
                return list(reversed(found[-MAX_HELD:]))
        return []

    def _is_said(self, mention: Mention) -> bool:
        return any(key in self.sources.said for key in mention.keys)

    def _derived(self, reply: Reply, position: int, numbers: list[float]) -> Attribution:
        mention = reply.mentions[position]
        key = mention.keys[0]
        rule = ""
        if mention.kind in _NUMERIC:
            slack = 0.025 * abs(mention.value) if reply.is_approximate(position) else 0.0
            is_plain = not reply.tells_relation(position)
            slack = max(slack, mention.step * 0.5)
            rule = self.derivations.number(mention, slack, numbers, is_plain=is_plain)
            rule = rule or "sum" * self.derivations.sums_up(mention.value, reply.numbers)
        elif mention.kind == "date" and isinstance(key, tuple) and len(key) == 3:
            rule = self.derivations.day(key, numbers)
        elif mention.kind == "time" and isinstance(key, tuple) and len(key) == 1:
            has_zone = mention.zone is not None or reply.speaks_of_zone(position)
            rule = self.derivations.time(key[0], numbers, has_zone=has_zone) or self.derivations.seconds(
                reply.written(position)
            )
        return Attribution("derived", rule=rule) if rule and rule != "unknown" else UNGROUNDED

    def _verdict(self) -> tuple[Verdict, str]:
        total = len(self.claims)
        grounded = sum(attribution.is_grounded for attribution in self.attributions)
        if self.findings:
            more = f" ({len(self.findings) - 1} more.)" if len(self.findings) > 1 else ""
            return Verdict("failed", grounded / total, self.findings[0].reason + more), ""
        if not total:
            return Verdict("unscored", None, "The replies state no value that a rule can check."), (
                "Do the replies say only what the tools returned?"
            )
        if grounded < total:
            texts = [claim.text for claim, by in zip(self.claims, self.attributions, strict=True) if not by.is_grounded]
            quoted = ", ".join(f"“{text}”" for text in dict.fromkeys(texts[:MAX_QUOTED]))
            more = f" and {len(texts) - MAX_QUOTED} more" if len(texts) > MAX_QUOTED else ""
            return Verdict(
                "unscored", None, f"No rule can tell whether {quoted}{more} follow from the results."
            ), f"Do {quoted}{more} follow from what the tools returned or from the instructions?"
        return Verdict(
            "passed", 1.0, f"All {total} values that the replies state follow from results or the conversation."
        ), ""
