"""How suspicious the gold of an example is: reasons with their strength, and one score. Plain values.

Everything that can speak about gold either speaks against it or sides with it. The strength of a reason is

    (against - with) / (all that speak + 1), at least 0,

so that two of two weigh less than nine of nine, and a reason that is outnumbered weighs nothing. The score joins the
reasons as if they were independent: 1 - product of (1 - weight x strength). The weights are judgement, not fitted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, NamedTuple

# Reason -> its weight, and what it says. In the order in which reasons are told.
AGREEMENT, REFUSED, TWINS, WAVERED, LEFT_OUT, SAME_STATE, NOBODY = REASONS = (
    "agreement",
    "refused",
    "twins",
    "wavered",
    "left_out",
    "same_state",
    "nobody",
)
WEIGHTS: Final[Mapping[str, float]] = {
    AGREEMENT: 0.9,
    REFUSED: 0.8,
    TWINS: 0.5,
    WAVERED: 0.5,
    LEFT_OUT: 0.3,
    SAME_STATE: 0.2,
    NOBODY: 0.15,
}
TITLES: Final[Mapping[str, str]] = {
    AGREEMENT: "Subjects agree against it",
    REFUSED: "Its own calls fail",
    TWINS: "Nearly the same input, other gold",
    WAVERED: "Labels wavered",
    LEFT_OUT: "Subjects leave out a call",
    SAME_STATE: "Other calls, same end state",
    NOBODY: "Nobody reaches it",
}
# So many places where subjects agree against the gold are told; the strongest counts.
MOST_PLACES: Final = 5
_FEWEST_VOICES: Final = 2
# A value that is quoted has so many characters at most.
_LONGEST: Final = 160


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


@dataclass(frozen=True, slots=True)
class Witness:
    """A case that a reason can be read in, and whose it is."""

    subject: str
    run: int
    case: str

    def to_document(self) -> dict[str, Any]:
        return {"subject": self.subject, "run": self.run, "case": self.case}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why gold is suspected: `against` and `sided` of `voices`, in a sentence, with where to read it."""

    kind: str
    sentence: str
    against: int
    sided: int
    voices: int
    witnesses: tuple[Witness, ...] = ()
    # Other examples that it is about, as `{"id", "external_id"}`.
    examples: tuple[Mapping[str, str], ...] = ()

    @property
    def strength(self) -> float:
        """0 to below 1."""
        return strength(self.against, self.sided, self.voices)

    def to_document(self) -> dict[str, Any]:
        """Return the normal form."""
        return {
            "kind": self.kind,
            "strength": self.strength,
            "against": self.against,
            "sided": self.sided,
            "voices": self.voices,
            "sentence": self.sentence,
            "witnesses": [witness.to_document() for witness in self.witnesses],
            "examples": [dict(example) for example in self.examples],
        }


@dataclass(slots=True)
class Voice:
    """What one independent subject says of one example, in all its trials of all its runs."""

    subject: str
    trials: list[Trial] = field(default_factory=list)

    def holds(self, count: int) -> bool:
        """Tell whether so many trials are most of them."""
        return 2 * count > len(self.trials)

    @property
    def sides(self) -> bool:
        """Whether most trials pass, or end where the gold does."""
        return self.holds(sum(trial.with_gold or trial.same_state for trial in self.trials))

    @property
    def points(self) -> set[Point]:
        """What most of the trials say against the gold."""
        said = Counter(point for trial in self.trials for point in trial.points)
        return {point for point, count in said.items() if self.holds(count)}


def strength(against: int, sided: int, voices: int) -> float:
    """Return how strong a reason is, from 0 to below 1: see the module."""
    return max(against - sided, 0) / (voices + 1)


def score(reasons: Iterable[Reason]) -> float:
    """Return the score of all reasons together; of each kind the strongest counts."""
    strongest: dict[str, float] = defaultdict(float)
    for reason in reasons:
        strongest[reason.kind] = max(strongest[reason.kind], reason.strength)
    return 1 - prod(1 - WEIGHTS[kind] * value for kind, value in strongest.items())


def reasons_of(voices: Sequence[Voice]) -> list[Reason]:
    """Return the reasons that subjects' cases give, the strongest first; none of strength 0."""
    found = [*_agreements(voices), *_refusals(voices), *_same_state(voices), *_nobody(voices)]
    told = sorted((each for each in found if each.strength > 0), key=_rank)
    kept: Counter[str] = Counter()
    return [each for each in told if kept.update([each.kind]) is None and kept[each.kind] <= MOST_PLACES]


def _rank(reason: Reason) -> tuple[float, int, str]:
    return -WEIGHTS[reason.kind] * reason.strength, REASONS.index(reason.kind), reason.sentence


def _agreements(voices: Sequence[Voice]) -> Iterator[Reason]:
    said: dict[Point, list[Voice]] = defaultdict(list)
    for voice in voices:
        for point in voice.points:
            said[point].append(voice)
    sided = sum(voice.sides for voice in voices)
    for point, agreeing in said.items():
        if len(agreeing) >= _FEWEST_VOICES:
            cases = ((each, trial) for each in agreeing for trial in each.trials if point in trial.points)
            count = f"{len(agreeing)} of {len(voices)} subjects"
            yield Reason(
                point.reason, _agreed(count, point), len(agreeing), sided, len(voices), _firsts(cases, len(voices))
            )


def _agreed(count: str, point: Point) -> str:
    if point.reason == LEFT_OUT:
        return f"{count} make no call to {point.place}, which the gold expects."
    if not point.expected:
        return f"{count} call {_cut(point.said)}, which the gold does not expect."
    return f"{count} say {_cut(point.said)} for {point.place}, where the gold has {_cut(point.expected)}."


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _refusals(voices: Sequence[Voice]) -> Iterator[Reason]:
    refused = [voice for voice in voices if any(trial.refused for trial in voice.trials)]
    cases = [(voice, trial) for voice in refused for trial in voice.trials if trial.refused]
    if cases:
        sided = sum(voice.sides for voice in voices)
        said = cases[0][1].refused[0]
        yield Reason(
            REFUSED,
            f"A call that the gold expects fails when it is made: {_cut(said)}",
            len(refused),
            sided,
            len(voices),
            _firsts(cases, len(voices)),
        )


def _same_state(voices: Sequence[Voice]) -> Iterator[Reason]:
    other = [voice for voice in voices if voice.holds(sum(trial.same_state for trial in voice.trials))]
    passing = sum(voice.holds(sum(trial.with_gold for trial in voice.trials)) for voice in voices)
    if other:
        cases = ((voice, trial) for voice in other for trial in voice.trials if trial.same_state)
        sentence = f"{len(other)} of {len(voices)} subjects reach the gold’s end state by other calls than it expects."
        yield Reason(SAME_STATE, sentence, len(other), passing, len(voices), _firsts(cases, len(voices)))


def _nobody(voices: Sequence[Voice]) -> Iterator[Reason]:
    if len(voices) >= _FEWEST_VOICES and not any(voice.sides for voice in voices):
        cases = ((voice, trial) for voice in voices for trial in voice.trials)
        sentence = f"None of {len(voices)} subjects does what the gold expects."
        yield Reason(NOBODY, sentence, len(voices), 0, len(voices), _firsts(cases, len(voices)))


def _firsts(cases: Iterable[tuple[Voice, Trial]], most: int) -> tuple[Witness, ...]:
    """Return each voice's first case, at most so many."""
    firsts: dict[str, Witness] = {}
    for voice, trial in cases:
        firsts.setdefault(voice.subject, Witness(voice.subject, trial.run, trial.case))
    return tuple(firsts.values())[:most]
