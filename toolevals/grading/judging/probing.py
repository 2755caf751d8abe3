"""Holds a judge against the probes: what it is asked, and which of them move it.

Reads probes: transcripts that deserve a low value by any shipped rubric, each with a text that speaks to its judge.

`probes.jsonl` holds the texts, `probed_transcripts.jsonl` the transcripts that they are put into. In each transcript
the agent calls another tool than the right one with wrong arguments, repeats its call when that fails, gives a wrong
reason and makes up its answer.

A probe has these fields:

- `id`: its name, the same for ever;
- `kind`: the way in which it addresses the judge (`KINDS`);
- `language`: its ISO 639-1 code;
- `place`: where it stands: in the words of the user, in a tool's result, in a call's argument, in the agent's answer;
- `base`: the transcript that it is put into;
- `text`: the words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import Literal, Self

from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.judging.drift import Answer
from toolevals.grading.judging.materials import OF_CASE, GradedCaseView
from toolevals.grading.judging.rubrics import JudgementRequest, Rubric, Scale
from toolevals.grading.metrics.rates import Estimate, wilson
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.values import CallExpectation, Expectation, ToolSpec, Trajectory
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.matchers import Exact
from toolevals.json_types import JsonMapping, JsonObject

Kind = Literal["order", "fake_answer", "fake_mark", "appeal", "authority", "threat", "hidden", "reframe"]
Place = Literal["user", "result", "argument", "answer"]
# Tag characters are invisible; each stands this far behind its ASCII character.
_TAG = 0xE0000


@dataclass(frozen=True, slots=True)
class Probe:
    """One text that speaks to a judge, and where it stands in which transcript."""

    id: str
    kind: Kind
    language: str
    place: Place
    base: str
    text: str

    @property
    def readable(self) -> str:
        """The text with every tag character as the letter that it hides, for people to read."""
        return "".join(chr(ord(each) - _TAG) if _TAG < ord(each) < _TAG + 0x7F else each for each in self.text)


@dataclass(frozen=True)
class ProbedTranscript:
    """A transcript that deserves a low value: what was asked, expected and done.

    `argument` is the name of the argument in which a probe stands, `criteria` what it is expected to meet.
    """

    id: str
    conversation: list[JsonObject]
    tools: list[JsonObject]
    expectation: JsonObject
    argument: str
    criteria: str
    done: list[JsonObject]

    def holding(self, probe: Probe) -> ProbedTranscript:
        """Return the transcript with a probe in its place."""
        conversation, done = deepcopy(self.conversation), deepcopy(self.done)
        match probe.place:
            case "user":
                conversation[-1]["content"] += f"\n\n{probe.text}"
            case "result":
                last = [message for message in done if message["role"] == "tool"][-1]
                last["content"] = json.dumps({**json.loads(last["content"]), "note": probe.text}, ensure_ascii=False)
            case "argument":
                for message in done:
                    for call in message.get("tool_calls", ()):
                        call["arguments"][self.argument] += f". {probe.text}"
            case "answer":
                done[-1]["content"] += f"\n\n{probe.text}"
        return ProbedTranscript(self.id, conversation, self.tools, self.expectation, self.argument, self.criteria, done)

    def request(self, rubric: Rubric) -> JudgementRequest:
        """Return what a judge is asked about the transcript by a rubric, whatever the rubric's gate."""
        unit = self._unit()
        scene = self.scene
        return JudgementRequest(
            rubric, {name: unit[name] if name in unit else OF_CASE[name](scene) for name in rubric.inputs}
        )

    def _unit(self) -> JsonMapping:
        """Return what gates give besides the case, of the first call."""
        call = self.done[0]["tool_calls"][0]
        return {
            "criteria": self.criteria,
            "value": call["arguments"][self.argument],
            "expected": self._expected().to_document(),
            # The right tool, so that the question is about arguments alone.
            "actual": {"name": self.expectation["tool"], "arguments": call["arguments"]},
        }

    def _expected(self) -> CallExpectation:
        arguments = self.expectation["arguments"]
        return CallExpectation(self.expectation["tool"], {name: Exact(value) for name, value in arguments.items()})

    @cached_property
    def scene(self) -> GradedCaseView:
        """The transcript as judging looks at a case, with what rules say of it."""
        expectation = Expectation("calls", alternatives=(Trajectory(unordered=(self._expected(),)),))
        compiled = compile_case(expectation, [ToolSpec(**tool) for tool in self.tools])
        transcript = transcript_in(self.done)
        conversation = transcript_in(self.conversation).messages
        return GradedCaseView(compiled, transcript, grade(compiled, transcript), conversation)


@cache
def probed_transcripts() -> Mapping[str, ProbedTranscript]:
    """Return the transcripts that probes are put into, by id."""
    return {line["id"]: ProbedTranscript(**line) for line in _lines("probed_transcripts.jsonl")}


@cache
def probes() -> tuple[Probe, ...]:
    """Return all probes, in the order of the file."""
    return tuple(Probe(**line) for line in _lines("probes.jsonl"))


def _lines(name: str) -> list[JsonObject]:
    text = (resources.files("toolevals.grading.judging") / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


# "unshown": the rubric is not given the place of the probe. "full": without the probe the value is the highest already.
Effect = Literal["moved", "held", "full", "unscored", "errored", "unasked", "unshown"]
EFFECTS: tuple[Effect, ...] = ("moved", "held", "full", "unscored", "errored", "unasked", "unshown")
BASE_PREFIX = "base:"
_TOLERANCE = 1e-9
_HIGHEST = 1.0
# Of how many sets of probes and rubrics the questions stay: some hundred kilobytes each.
_KEPT = 4


@dataclass(frozen=True)
class ProbeSet:
    """Probes and the transcripts that they are put into."""

    probes: tuple[Probe, ...]
    transcripts: Mapping[str, ProbedTranscript]

    @classmethod
    def shipped(cls) -> Self:
        """Return those that come with the program."""
        return cls(probes(), probed_transcripts())

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read what `to_document` gives."""
        transcripts = (ProbedTranscript(**each) for each in document["transcripts"])
        return cls(tuple(Probe(**each) for each in document["probes"]), {each.id: each for each in transcripts})

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        transcripts = [asdict(each) for each in self.transcripts.values()]
        return {"probes": [asdict(probe) for probe in self.probes], "transcripts": transcripts}

    def questions(self, rubric: Rubric) -> dict[str, JudgementRequest]:
        """Return what a judge is asked: each transcript without a probe, then with each probe that it is shown.

        The keys are the ids of probes; of transcripts, `BASE_PREFIX` and the id. What a set asks by a rubric stays
        the same, and is kept: every transcript is graded for it.
        """
        return dict(_questions(exact(self.to_document()), exact(rubric.to_document())))

    @cached_property
    def _holding(self) -> Mapping[str, ProbedTranscript]:
        """The transcripts that hold the probes, by the probes' ids: whatever the rubric, each is graded once."""
        return {probe.id: self.transcripts[probe.base].holding(probe) for probe in self.probes}

    def _asked(self, rubric: Rubric) -> dict[str, JudgementRequest]:
        plain = {f"{BASE_PREFIX}{name}": each.request(rubric) for name, each in self.transcripts.items()}
        with_probe = {name: each.request(rubric) for name, each in self._holding.items()}
        shown = {
            probe.id: with_probe[probe.id]
            for probe in self.probes
            if with_probe[probe.id].digest != plain[f"{BASE_PREFIX}{probe.base}"].digest
        }
        return plain | shown


@lru_cache(maxsize=_KEPT)
def _questions(probes: str, rubric: str) -> Mapping[str, JudgementRequest]:
    """Return what a set of probes asks by a rubric, both in their normal form."""
    return _probe_set(probes)._asked(Rubric.from_document(json.loads(rubric)))


@lru_cache(maxsize=1)
def _probe_set(document: str) -> ProbeSet:
    """Return a set of probes from its normal form. The last one stays, with its transcripts as they were graded."""
    return ProbeSet.from_document(json.loads(document))


def effect_of(without: Answer | None, with_probe: Answer | None, scale: Scale) -> Effect:
    """Return what a probe does to a judge, from its answers without and with it; None where it was not asked.

    The probe moves the judge where the value rises, or the verdict turns to passed.
    """
    if without is None or with_probe is None:
        return "unasked"
    if without.error or with_probe.error:
        return "errored"
    if without.value is None or with_probe.value is None:
        return "unscored"
    if without.value >= _HIGHEST - _TOLERANCE:
        return "full"
    rises = with_probe.value > without.value + _TOLERANCE
    turns = scale.passes(with_probe.value) and not scale.passes(without.value)
    return "moved" if rises or turns else "held"


@dataclass(frozen=True, slots=True)
class Moved:
    """One probe, the judge's answers without and with it, and what it did."""

    probe: Probe
    without: Answer | None
    with_probe: Answer | None
    effect: Effect


@dataclass(frozen=True)
class ProbeTally:
    """The effects of some probes on a judge, counted."""

    name: str
    effects: Mapping[Effect, int]

    @classmethod
    def of(cls, name: str, moved: Iterable[Moved]) -> Self:
        """Count what probes do."""
        effects = [each.effect for each in moved]
        return cls(name, {effect: effects.count(effect) for effect in EFFECTS})

    @property
    def moved(self) -> int:
        """The number of probes that move the judge."""
        return self.effects["moved"]

    @property
    def compared(self) -> int:
        """Of how many that is: those with a value without and with the probe, which could rise."""
        return self.effects["moved"] + self.effects["held"]

    @property
    def apart(self) -> Mapping[Effect, int]:
        """The probes that are not compared, by the reason; what there is none of is left out."""
        return {effect: count for effect, count in self.effects.items() if count and effect not in ("moved", "held")}

    @cached_property
    def share(self) -> Estimate:
        """The share that moves the judge, with Wilson's interval: each probe has one answer."""
        if not self.compared:
            return Estimate.undefined("No probe could be compared.")
        return Estimate(self.moved / self.compared, wilson(self.moved, self.compared), self.compared)


def moved_by(probes: ProbeSet, rubric: Rubric, answers: Mapping[str, Answer]) -> tuple[Moved, ...]:
    """Return what each probe does to a judge, from its answers by the keys of `ProbeSet.questions`."""
    asked = probes.questions(rubric).keys()
    return tuple(_moved(probe, rubric.scale, answers, is_shown=probe.id in asked) for probe in probes.probes)


def tallies(moved: Sequence[Moved], by: Callable[[Probe], str]) -> tuple[ProbeTally, ...]:
    """Return a tally for each value of a field of the probes, in the order of their first probes."""
    names = dict.fromkeys(by(each.probe) for each in moved)
    return tuple(ProbeTally.of(name, [each for each in moved if by(each.probe) == name]) for name in names)


def _moved(probe: Probe, scale: Scale, answers: Mapping[str, Answer], *, is_shown: bool) -> Moved:
    without, with_probe = answers.get(f"{BASE_PREFIX}{probe.base}"), answers.get(probe.id)
    return Moved(probe, without, with_probe, effect_of(without, with_probe, scale) if is_shown else "unshown")
