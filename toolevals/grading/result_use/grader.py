"""The grader of result use: reads a transcript once, from its first message to its last."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isnan

from toolevals.grading.result_use.attribution import Attributor
from toolevals.grading.result_use.derivations import Derivations
from toolevals.grading.result_use.findings import Examiner
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.quotations import Quotations
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.scanner import MAX_TEXT, plain, replies_mentions
from toolevals.grading.result_use.sources import Sources
from toolevals.grading.result_use.swaps import swap_finding, swapped
from toolevals.grading.result_use.utilisation import Usage, unused_results, utilisation
from toolevals.grading.result_use.values import UNGROUNDED, Attribution, Claim, Finding, Key, ResultUse
from toolevals.grading.values import Message, ToolCall, Transcript
from toolevals.grading.verdicts import Verdict

# Claims of one transcript; further ones are not read.
MAX_CLAIMS = 2_000


def grade_result_use(transcript: Transcript) -> ResultUse:
    """Return how the replies use the tool results, by rules alone.

    Replies are the assistant's texts after the first tool result, and the final answer where it is not the last one.
    Unscored without a result or a reply. Failed where there is a finding. The value is the share of claims that
    something supports; where nothing is claimed, 1 if nothing is wrong, else 0. Nothing is raised.
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
    asked: dict[str, set[Key]] = field(default_factory=dict)
    last_call: int = -1
    last_reply: int = -1
    attributor: Attributor = field(init=False)
    examiner: Examiner = field(init=False)

    def __post_init__(self) -> None:
        self.attributor = Attributor(self.sources, Derivations(self.sources), Quotations(self.sources))
        self.examiner = Examiner(self.sources)

    def take(self, place: int, message: Message) -> None:
        """Read one message."""
        text = message.content or ""
        if message.role == "tool":
            call = self.calls.get(message.call_id or "")
            asked = self.asked.get(message.call_id or "", set())
            tool = call.name if call else None
            self.sources.add_result(place, message, tool, asked)
        elif message.role == "assistant":
            if text and self.sources.results:
                self._reply(place, plain(text))
            self._calls(place, message)
        elif text:
            self.sources.add_words(self.sources.user if message.role == "user" else self.sources.context, place, text)

    def close(self) -> ResultUse:
        """Return the whole answer."""
        if self.last_reply < 0:
            return ResultUse(Verdict("unscored", None, "No reply follows the tool results."))
        fields = utilisation(self.sources, self.usage)
        self.usage.drawn_on.update(finding.message for finding in self.findings if finding.message is not None)
        unused = unused_results(self.sources, fields, self.usage, self.last_call, self.last_reply)
        findings = (*_joined(self.findings, self.claims), *unused)
        return ResultUse(
            verdict=_verdict(self.attributions, findings),
            claims=tuple(self.claims),
            attributions=tuple(self.attributions),
            findings=findings,
            utilisation=tuple(fields),
            truncated=self.sources.is_truncated or len(self.claims) >= MAX_CLAIMS,
        )

    def _calls(self, place: int, message: Message) -> None:
        for call in message.calls:
            self.last_call = place
            if isinstance(call, ToolCall):
                if call.id is not None:
                    self.calls[call.id] = call
                taken = self.sources.add_arguments(place, call.arguments)
                self.usage.passed_on |= self.sources.results_with(taken)
                if call.id is not None:
                    self.asked[call.id] = taken

    def _reply(self, place: int, text: str) -> None:
        self.last_reply = place
        self.usage.read(text)
        reply = Reply(place, text, replies_mentions(text, MAX_CLAIMS))
        run: list[float] = []
        waiting: list[int] = []
        found: dict[int, tuple[Attribution, list[int]]] = {}
        for position, mention in enumerate(reply.mentions):
            attribution, entries = self.attributor.attribute(reply, position, run)
            if attribution.is_grounded:
                value = mention.value
                if mention.kind != "identifier" and not isnan(value):
                    run.append(round(value, 2))
                    if mention.kind == "amount":
                        reply.line_ends[reply.line_start(mention)] = run[-1]
                found[position] = (attribution, entries)
            else:
                waiting.append(position)
        # A total may stand before its parts.
        for position in waiting:
            found[position] = self.attributor.attribute_again(reply, position, run)
        quoted = [
            (mention.start, mention.end)
            for place, mention in enumerate(reply.mentions)
            if mention.kind == "quote" and found[place][0].is_grounded
        ]
        for position, mention in enumerate(reply.mentions):
            if mention.kind != "quote" and quoted and _is_inside(mention, quoted):
                continue
            if len(self.claims) < MAX_CLAIMS:
                self._settle(reply, position, mention, *found[position])
        self._remember(reply, found)

    def _settle(
        self, reply: Reply, position: int, mention: Mention, attribution: Attribution, entries: list[int]
    ) -> None:
        claim = len(self.claims)
        finding: Finding | None = None
        if not attribution.is_grounded:
            finding = self.examiner.examine(reply, position, claim)
            if finding is None:
                return
            self.attributor.refuse(mention)
        elif entries and (other := swapped(reply, position, entries, self.sources)) is not None:
            finding = swap_finding(reply, position, other, self.sources, claim)
            attribution = UNGROUNDED
        if finding is not None:
            self.findings.append(finding)
        text = reply.text[mention.start : mention.end]
        self.claims.append(Claim(reply.message, mention.start, mention.end, mention.kind, text))
        self.attributions.append(attribution)

    def _remember(self, reply: Reply, found: dict[int, tuple[Attribution, list[int]]]) -> None:
        for position, (attribution, entries) in found.items():
            if not attribution.is_grounded:
                continue
            mention = reply.mentions[position]
            if mention.kind in {"number", "amount"} and not mention.is_weak:
                self.attributor.derivations.say(round(mention.value, 2))
            if attribution.source == "derived" and attribution.message is not None:
                self.usage.drawn_on.add(attribution.message)
            if entries:
                fields = [self.sources.values[entry][:2] for entry in (entries[:1] if mention.is_weak else entries)]
                self.usage.used.update(fields)
                self.examiner.said.setdefault(fields[0], reply.message)


def _is_inside(mention: Mention, spans: list[tuple[int, int]]) -> bool:
    """Whether a value stands in one of the spans, which are in order."""
    place = bisect_right(spans, (mention.start, MAX_TEXT)) - 1
    return place >= 0 and mention.start < spans[place][1]


def _joined(findings: list[Finding], claims: list[Claim]) -> Iterator[Finding]:
    """Yield the findings, those of one kind about one text as one."""
    places: dict[tuple[str, str], list[int]] = {}
    for finding in findings:
        key = (finding.kind, claims[finding.claims[0]].text.casefold())
        places.setdefault(key, []).extend(finding.claims)
    for finding in findings:
        key = (finding.kind, claims[finding.claims[0]].text.casefold())
        if places[key][0] == finding.claims[0]:
            yield replace(finding, claims=tuple(places[key]))


def _verdict(attributions: list[Attribution], findings: tuple[Finding, ...]) -> Verdict:
    grounded = sum(attribution.is_grounded for attribution in attributions)
    if not findings:
        value = 1.0
        words = f"all {grounded} values" if grounded else "no value, so nothing to check"
        return Verdict(
            "passed",
            value,
            f"The replies state {words} that results or the conversation support."
            if grounded
            else f"The replies state {words}.",
        )
    value = grounded / len(attributions) if attributions else 0.0
    more = f" ({len(findings) - 1} more like it or beside it.)" if len(findings) > 1 else ""
    return Verdict("failed", value, findings[0].reason + more)
