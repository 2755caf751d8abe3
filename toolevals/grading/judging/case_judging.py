"""Puts one case before its judges: which judgements it needs, and verdicts out of those that were handed in.

Tell what is handed in with a case that judges look at.

Which rubrics are on, and the judgements that were had so far.

Grade a case with what judges said of it: the rules come first, and judges answer what is left to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from toolevals.grading.engine.compiled import CompiledCase, compile_case
from toolevals.grading.engine.grading import CutOff, grade
from toolevals.grading.judging.conditions import GATES, Units
from toolevals.grading.judging.materials import OF_CASE, GradedCaseView
from toolevals.grading.judging.rubrics import Judgement, JudgementRequest, Rubric
from toolevals.grading.layers.execution import Effect
from toolevals.grading.values import Message, Transcript
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.thoughts import spoken
from toolevals.grading.values.verdicts import CaseGrade, JudgedVerdict, Status
from toolevals.json_types import JsonMapping


@dataclass(frozen=True, slots=True)
class Briefing:
    """The rubrics that are on, and what judges may know besides the transcript: the example's conversation and context.

    `left_out` says of a rubric, by name, why no judge is asked in this case.
    """

    rubrics: Sequence[Rubric]
    conversation: Sequence[Message] = ()
    context: JsonMapping = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgements:
    """The judgements of one case so far, by rubric and inputs, with its briefing."""

    briefing: Briefing
    made: Mapping[tuple[str, str], Judgement] = field(default_factory=dict)

    @classmethod
    def of(cls, briefing: Briefing, made: Iterable[Judgement] = ()) -> Judgements:
        """Return judgements by the questions that they answer; those of other cases do no harm."""
        return cls(briefing, {(each.rubric, each.inputs): each for each in made})

    def answering(self, request: JudgementRequest) -> Judgement | None:
        """Return the judgement that answers a request; None where it is missing."""
        return self.made.get((request.rubric.name, request.digest))


# Characters of JSON that a judge is given at most: more is not judged, and that is said.
MOST_CHARACTERS = 200_000
TOO_LONG = f"Not asked: this is longer than the {MOST_CHARACTERS:,} characters that a judge is given."
TO_BE_JUDGED = "A judge has still to be asked."
LEFT_TO_RULES = "Not asked: the judge answers what rules leave unscored, and here they leave no question."
NOTHING_TO_SCORE = "The judge found nothing to score."
SETTLED = "Settled by rules: the calls are equal to the expected ones."
CRITERIA = "criteria"


@dataclass(frozen=True)
class CaseJudging:
    """One case with the judgements that it has. `plain` is its grade without any."""

    compiled: CompiledCase
    transcript: Transcript
    plain: CaseGrade
    judgements: Judgements
    _materials: dict[tuple[str, bool], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def applied(self) -> CompiledCase:
        """The case with the answers to its criteria in words; the same where there are none."""
        rubric = next((each for each in self.judgements.briefing.rubrics if each.gate == CRITERIA), None)
        if rubric is None or not self._asks_in_words(rubric):
            return self.compiled
        known: dict[str, bool | None] = {}

        def judge(criteria: str, value: object) -> bool | None:
            key = canonical([criteria, value])
            if key not in known:
                known[key] = self._decided(rubric, {"criteria": criteria, "value": value})
            return known[key]

        tools = tuple(self.compiled.offer.tools.values())
        decided_by = self.compiled.decided_by
        return compile_case(self.compiled.expectation, tools, judge=judge, decided_by=decided_by)

    @cached_property
    def missing(self) -> tuple[JudgementRequest, ...]:
        """The requests that no one has answered yet, in the order of the rubrics; none of them twice."""
        requests: dict[tuple[str, str], JudgementRequest] = {}
        for rubric in self.judgements.briefing.rubrics:
            if rubric.name in self.judgements.briefing.left_out:
                continue
            for request in self._requests(rubric, self._units(rubric)):
                if request.size <= MOST_CHARACTERS and self.judgements.answering(request) is None:
                    requests[rubric.name, request.digest] = request
        return tuple(requests.values())

    def verdicts(self) -> Mapping[str, JudgedVerdict]:
        """Return the verdict of every rubric that is on."""
        return {rubric.name: self._verdict(rubric) for rubric in self.judgements.briefing.rubrics}

    def _verdict(self, rubric: Rubric) -> JudgedVerdict:
        try:
            return self._found(rubric)
        except Exception as error:  # noqa: BLE001 (one broken rubric leaves the other columns as they are)
            return _without(rubric, "errored", f"The rubric cannot be used: {type(error).__name__}: {error}")

    def _found(self, rubric: Rubric) -> JudgedVerdict:
        if self.judgements.briefing.left_out.get(rubric.name) == LEFT_TO_RULES:
            return _without(rubric, "unscored", LEFT_TO_RULES)
        units = self._units(rubric)
        if units.silence:
            return _without(rubric, "unscored", units.silence)
        requests = self._requests(rubric, units)
        asked = tuple(request.digest for request in requests)
        if any(request.size > MOST_CHARACTERS for request in requests):
            return replace(_without(rubric, "unscored", TOO_LONG), asked=asked)
        had = [self.judgements.answering(request) for request in requests]
        made = [judgement for judgement in had if judgement is not None]
        # Rules alone settle nothing where no judge is asked at all.
        if reason := self.judgements.briefing.left_out.get(rubric.name):
            if len(made) < len(had) or not had:
                return replace(_without(rubric, "unscored", reason), asked=asked)
        elif len(made) < len(had):
            return replace(_without(rubric, "unscored", TO_BE_JUDGED), asked=asked)
        return replace(_scored(rubric, made, units.settled), asked=asked)

    def _decided(self, rubric: Rubric, unit: JsonMapping) -> bool | None:
        made = self.judgements.answering(self._request(rubric, unit))
        return None if made is None or made.error or made.value is None else rubric.scale.passes(made.value)

    def _asks_in_words(self, rubric: Rubric) -> bool:
        return any(name == rubric.name for name, _ in self.judgements.made)

    @cached_property
    def _spoken(self) -> Transcript:
        return spoken(self.transcript)

    @cached_property
    def _scenes(self) -> Mapping[bool, GradedCaseView]:
        """The case with the answers to its criteria, without and with the agent's thoughts."""
        return {thoughts: self._scene_of(self.applied, thoughts=thoughts) for thoughts in (False, True)}

    def _scene_of(self, compiled: CompiledCase, *, thoughts: bool) -> GradedCaseView:
        briefing = self.judgements.briefing
        transcript = self.transcript if thoughts else self._spoken
        return GradedCaseView(compiled, transcript, self.plain, briefing.conversation, briefing.context)

    def _units(self, rubric: Rubric) -> Units:
        gate = GATES[rubric.gate]
        return gate.units(self._scenes[gate.about_thoughts])

    def _requests(self, rubric: Rubric, units: Units) -> tuple[JudgementRequest, ...]:
        return tuple(self._request(rubric, unit) for unit in units.asked)

    def _request(self, rubric: Rubric, unit: JsonMapping) -> JudgementRequest:
        return JudgementRequest(
            rubric, {name: unit[name] if name in unit else self._material(name, rubric) for name in rubric.inputs}
        )

    def _material(self, name: str, rubric: Rubric) -> Any:
        key = name, GATES[rubric.gate].about_thoughts
        if key not in self._materials:
            self._materials[key] = OF_CASE[name](self._scene_of(self.compiled, thoughts=key[1]))
        return self._materials[key]


def needed_judgements(
    compiled: CompiledCase, transcript: Transcript | None, plain: CaseGrade, judgements: Judgements
) -> tuple[JudgementRequest, ...]:
    """Return the judgements that a case still needs, besides those that were had.

    `plain` is the case's grade without judgements: rules come first, and where they decide, or the agent was not
    reached, no one is asked. Answers can raise further questions (another alignment of calls fits better then), so
    that the caller looks again until nothing is missing.
    """
    if transcript is None or plain.statuses["outcome"] == "errored":
        return ()
    return CaseJudging(compiled, transcript, plain, judgements).missing


def not_judged(judgements: Judgements, reason: str) -> Mapping[str, JudgedVerdict]:
    """Return the verdicts on a case that no judge can look at."""
    return {rubric.name: _without(rubric, "unscored", reason) for rubric in judgements.briefing.rubrics}


def _without(rubric: Rubric, status: Status, reason: str) -> JudgedVerdict:
    return JudgedVerdict(rubric.name, rubric.version, status, None, reason)


def _scored(rubric: Rubric, made: list[Judgement], settled: int) -> JudgedVerdict:
    """Return the verdict in judgements that are all there: errored where one is, failed where one does not pass."""
    if broken := next((each for each in made if each.error), None):
        return _signed(rubric, broken, "errored", None, broken.error)
    scored = [(each.value, each) for each in made if each.value is not None]
    if made and not scored:
        return _signed(rubric, made[0], "unscored", None, made[0].reason or NOTHING_TO_SCORE)
    values = [value for value, _ in scored] + [1.0] * settled
    if not scored:
        return JudgedVerdict(rubric.name, rubric.version, "passed", 1.0, SETTLED)
    lowest, worst = min(scored, key=lambda pair: pair[0])
    status: Status = "passed" if rubric.scale.passes(lowest) else "failed"
    return _signed(rubric, worst, status, sum(values) / len(values), worst.reason)


def _signed(rubric: Rubric, made: Judgement, status: Status, value: float | None, reason: str) -> JudgedVerdict:
    return JudgedVerdict(rubric.name, rubric.version, status, value, reason, made.model, made.pinned)


def grade_judged(
    compiled: CompiledCase,
    transcript: Transcript | None,
    judgements: Judgements,
    *,
    effect: Effect | None = None,
    cut_off: CutOff = "failed",
    plain: CaseGrade | None = None,
) -> CaseGrade:
    """Grade what an agent did, as `grade` does, with `judgements`.

    They answer criteria in words, and give a verdict for every rubric that is on. `plain` is a grade that the case has:
    it stays as it is, with what other judges said, unless criteria in words are answered.
    """
    plain = plain or grade(compiled, transcript, effect=effect, cut_off=cut_off)
    left_out = transcript is not None and transcript.ended is not None and cut_off == "left_out"
    if transcript is None or left_out or plain.statuses["outcome"] == "errored":
        silent = not_judged(judgements, f"Not asked: {plain.outcome.reason}")
        return replace(plain, judged={**plain.judged, **silent})
    judging = CaseJudging(compiled, transcript, plain, judgements)
    applied = judging.applied
    graded = plain if applied is compiled else grade(applied, transcript, effect=effect, cut_off=cut_off)
    return replace(graded, judged={**plain.judged, **judging.verdicts()})
