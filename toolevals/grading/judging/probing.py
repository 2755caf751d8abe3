"""Holds a judge against the probes: what it is asked, and which of them move it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, Self

from toolevals.grading.judging.drift import Answer
from toolevals.grading.judging.judgements import JudgementRequest
from toolevals.grading.judging.probes import Probe, ProbedTranscript, probed_transcripts, probes
from toolevals.grading.judging.rubrics import Rubric, Scale
from toolevals.grading.metrics.estimates import Estimate
from toolevals.grading.metrics.rates import wilson
from toolevals.grading.values.canonical import exact

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
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read what `to_document` gives."""
        transcripts = (ProbedTranscript(**each) for each in document["transcripts"])
        return cls(tuple(Probe(**each) for each in document["probes"]), {each.id: each for each in transcripts})

    def to_document(self) -> dict[str, Any]:
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
