"""Weigh the testimony of independent agents against an example's gold: reasons, and one score. Plain values.

A reason's evidence is a log-likelihood ratio in natural units: how many times likelier what was seen is where the gold
is wrong than where it is right. The evidence of all kinds adds up, as if they were independent, to the score

    1 / (1 + exp(-(log(PRIOR / (1 - PRIOR)) + evidence))),

which would be the probability that the gold is wrong if the assumptions below were true. It ranks; no one fitted it.

A voice counts by its skill, the share of the other examples on which it sides with the gold: (sided + 1) / (heard + 2).
A skilled voice that fails says more against the gold than a weak one. Assumed are: PASS_WRONG, how much rarer a voice
sides with a wrong gold than with a right one; SAME_ERROR, the share of erring voices that make one and the same error.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import Final, NamedTuple

from toolevals.json_types import JsonObject


class Point(NamedTuple):
    """One thing that a case says against the gold: at which place, what the gold has there, what the case says."""

    reason: str
    place: str
    expected: str
    said: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One scored case. `points` are its contradictions of gold, `refused` the gold's calls that failed in it.

    `with_gold`: the case passed. `same_state`: its calls are not the expected ones, and the end state is.
    """

    case: str
    run: int
    with_gold: bool = False
    same_state: bool = False
    points: frozenset[Point] = frozenset()
    refused: tuple[str, ...] = ()


@dataclass(slots=True)
class ModelOpinion:
    """Everything that one independent agent does on one example, in all its trials of all its runs.

    `skill` is the share of the other examples on which it sides with the gold, from 0 to 1, both excluded.
    """

    agent: str
    trials: list[Trial] = field(default_factory=list)
    skill: float = 0.5

    def holds(self, count: int) -> bool:
        """Tell whether so many trials are most of them."""
        return 2 * count > len(self.trials)

    @property
    def sides(self) -> bool:
        """Return whether most trials pass, or end where the gold does."""
        return self.holds(sum(trial.with_gold or trial.same_state for trial in self.trials))

    @property
    def points(self) -> set[Point]:
        """Return what most of the trials say against the gold."""
        said = Counter(point for trial in self.trials for point in trial.points)
        return {point for point, count in said.items() if self.holds(count)}


def skilled(voices_by_example: Iterable[Sequence[ModelOpinion]]) -> None:
    """Set the skill of every voice on every example, from all its other examples."""
    examples = [*voices_by_example]
    sided: Counter[str] = Counter()
    heard: Counter[str] = Counter()
    for voices in examples:
        for voice in voices:
            sided[voice.agent.casefold()] += voice.sides
            heard[voice.agent.casefold()] += 1
    for voices in examples:
        for voice in voices:
            name = voice.agent.casefold()
            voice.skill = (sided[name] - voice.sides + 1) / (heard[name] - 1 + 2)


# The kinds of reasons, in the order in which they are told.
AGREEMENT, REFUSED, TWINS, WAVERED, LEFT_OUT, FAILED, CLOSE = REASONS = (
    "agreement",
    "refused",
    "twins",
    "wavered",
    "left_out",
    "failed",
    "close",
)
TITLES: Final[Mapping[str, str]] = {
    AGREEMENT: "Agents agree on a different answer",
    REFUSED: "The expected calls fail",
    TWINS: "Similar input, different gold",
    WAVERED: "Labels disagree with the gold",
    LEFT_OUT: "Agents skip an expected call",
    FAILED: "Accurate agents fail",
    CLOSE: "Agents differ in one detail only",
}
PRIOR: Final = 0.1
PASS_WRONG: Final = 0.1
SAME_ERROR: Final = 0.1
# A call that several leave out says less than another value: agents that give up leave out the same calls.
OMISSION: Final = 0.5
# A voice that differs from the gold in one place alone weighs so much, times its skill.
ONE_PLACE: Final = 1.2
REFUSAL: Final = 4.0
# A person who labelled it otherwise, after the first; and one who labelled it so.
OVERRULED: Final = 1.4
UPHELD: Final = 0.7
# One voice alone is heard by half: nothing tells its errors from the gold's.
ALONE: Final = 0.5
# Less evidence than this lists no example.
LEAST: Final = 1.0
# So many places where voices agree against the gold are told; the strongest counts.
MOST_PLACES: Final = 5
_FEWEST_VOICES: Final = 2
# A value that is quoted has so many characters at most.
_LONGEST: Final = 160


@dataclass(frozen=True, slots=True)
class EvidenceRun:
    """A case that a reason can be read in, and whose it is."""

    agent: str
    run: int
    case: str

    def to_document(self) -> JsonObject:
        return {"agent": self.agent, "run": self.run, "case": self.case}


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason to suspect gold: its evidence, `against` and `sided` of `voices`, a sentence, and its address."""

    kind: str
    sentence: str
    evidence: float
    against: int
    sided: int
    voices: int
    witnesses: tuple[EvidenceRun, ...] = ()
    # Other examples that it is about, as `{"revision_id", "external_id"}`.
    examples: tuple[Mapping[str, str], ...] = ()

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {
            "kind": self.kind,
            "evidence": self.evidence,
            "against": self.against,
            "sided": self.sided,
            "voices": self.voices,
            "sentence": self.sentence,
            "witnesses": [witness.to_document() for witness in self.witnesses],
            "examples": [dict(example) for example in self.examples],
        }


def evidence_of(reasons: Iterable[Reason]) -> float:
    """Return the evidence of all reasons together; the strongest of each kind counts."""
    strongest: dict[str, float] = {}
    for reason in reasons:
        strongest[reason.kind] = max(strongest.get(reason.kind, reason.evidence), reason.evidence)
    return sum(strongest.values())


def score(reasons: Iterable[Reason]) -> float:
    """Return the score of all reasons together, from 0 to 1; 0 where the evidence is less than LEAST."""
    evidence = evidence_of(reasons)
    return 1 / (1 + exp(-evidence) * (1 - PRIOR) / PRIOR) if evidence >= LEAST else 0.0


def reasons_of(voices: Sequence[ModelOpinion]) -> list[Reason]:
    """Return the reasons that agents' cases give, the strongest first.

    FAILED is always among them: where agents side with the gold its evidence is below 0.
    """
    reasons = [each for each in (*_agreements(voices), *_refusals(voices), *_close(voices)) if each.evidence > 0]
    told = sorted((*reasons, *_failed(voices)), key=_rank)
    kept: Counter[str] = Counter()
    return [each for each in told if kept.update([each.kind]) is None and kept[each.kind] <= MOST_PLACES]


def overruled(differing: int, sided: int) -> float:
    """Return the evidence of people whose newest labels differ from the gold, and of those whose labels don't.

    One person whom an adjudicator overruled is no evidence: that is what adjudication is for.
    """
    return max(OVERRULED * (differing - 1) - UPHELD * sided, 0.0)


def share_against(against: int, sided: int, voices: int) -> float:
    """Return (against - sided) / (voices + 1), at least 0: two of two weigh less than nine of nine."""
    return max(against - sided, 0) / (voices + 1)


def _rank(reason: Reason) -> tuple[float, int, str]:
    return -reason.evidence, REASONS.index(reason.kind), reason.sentence


def _single_model_discount(voices: Sequence[ModelOpinion]) -> float:
    return 1.0 if len(voices) >= _FEWEST_VOICES else ALONE


def _agreements(voices: Sequence[ModelOpinion]) -> Iterator[Reason]:
    """Yield what voices agree about: that others say what the most skilled of them says is unlikely to be chance."""
    said: dict[Point, list[ModelOpinion]] = defaultdict(list)
    for voice in voices:
        for point in voice.points:
            said[point].append(voice)
    sided = sum(voice.sides for voice in voices)
    for point, agreeing in said.items():
        if len(agreeing) >= _FEWEST_VOICES:
            each = sorted(log((voice.skill + (1 - voice.skill) * SAME_ERROR) / SAME_ERROR) for voice in agreeing)
            evidence = sum(each[:-1]) * (OMISSION if point.reason == LEFT_OUT else 1)
            cases = ((voice, trial) for voice in agreeing for trial in voice.trials if point in trial.points)
            count = f"{len(agreeing)} of {len(voices)} agents"
            yield Reason(
                point.reason,
                _agreed(count, point),
                evidence,
                len(agreeing),
                sided,
                len(voices),
                _firsts(cases, len(voices)),
            )


def _agreed(count: str, point: Point) -> str:
    if point.reason == LEFT_OUT:
        return f"{count} do not call {point.place}, which the gold expects."
    if not point.expected:
        return f"{count} call {_cut(point.said)}, which the gold does not expect."
    return f"{count} use {_cut(point.said)} for {point.place}; the gold expects {_cut(point.expected)}."


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _refusals(voices: Sequence[ModelOpinion]) -> Iterator[Reason]:
    refused = [voice for voice in voices if any(trial.refused for trial in voice.trials)]
    cases = [(voice, trial) for voice in refused for trial in voice.trials if trial.refused]
    if cases:
        sided = sum(voice.sides for voice in voices)
        yield Reason(
            REFUSED,
            f"A call that the gold expects returns an error: {_cut(cases[0][1].refused[0])}",
            REFUSAL * share_against(len(refused), sided, len(voices)),
            len(refused),
            sided,
            len(voices),
            _firsts(cases, len(voices)),
        )


def _failed(voices: Sequence[ModelOpinion]) -> Iterator[Reason]:
    """Yield what the outcomes say: a voice sides with a right gold by its skill, with a wrong one by a tenth of it."""
    if not voices:
        return
    evidence = _single_model_discount(voices) * sum(
        log(PASS_WRONG) if voice.sides else log((1 - PASS_WRONG * voice.skill) / (1 - voice.skill)) for voice in voices
    )
    failing = [voice for voice in voices if not voice.sides]
    cases = ((voice, trial) for voice in failing for trial in voice.trials)
    sentence = (
        f"{len(failing)} of {len(voices)} agents fail this example, although they agree with "
        f"{_skill(voices)} of the other gold labels."
    )
    yield Reason(
        FAILED,
        sentence,
        evidence,
        len(failing),
        len(voices) - len(failing),
        len(voices),
        _firsts(cases, len(voices)),
    )


def _skill(voices: Sequence[ModelOpinion]) -> str:
    shares = sorted(round(100 * voice.skill) for voice in voices)
    return f"{shares[0]} %" if shares[0] == shares[-1] else f"{shares[0]} to {shares[-1]} %"


def _close(voices: Sequence[ModelOpinion]) -> Iterator[Reason]:
    near = [(voice, point) for voice in voices if not voice.sides and len(voice.points) == 1 for point in voice.points]
    if near:
        said = Counter(point for _, point in near).most_common(1)[0][0]
        named = f"a call to {said.place}" if said.reason == LEFT_OUT else said.place
        cases = ((voice, trial) for voice, point in near for trial in voice.trials if point in trial.points)
        yield Reason(
            CLOSE,
            f"{len(near)} of {len(voices)} agents differ from the gold in one detail only: {_cut(named)}.",
            _single_model_discount(voices) * sum(ONE_PLACE * voice.skill for voice, _ in near),
            len(near),
            sum(voice.sides for voice in voices),
            len(voices),
            _firsts(cases, len(voices)),
        )


def _firsts(cases: Iterable[tuple[ModelOpinion, Trial]], most: int) -> tuple[EvidenceRun, ...]:
    """Return each voice's first case, at most so many."""
    firsts: dict[str, EvidenceRun] = {}
    for voice, trial in cases:
        firsts.setdefault(voice.agent, EvidenceRun(voice.agent, trial.run, trial.case))
    return tuple(firsts.values())[:most]
