"""Grade a whole transcript, where the verdicts on its calls do not reach: one table holds the layers.

A row of LAYERS, and one of VERDICTS in `toolevals.grading.values.verdict_table`, make a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.counted_calls import has_answers, recovery_of
from toolevals.grading.engine.decisions import Decision, tag_of
from toolevals.grading.layers.answer import grade_answer
from toolevals.grading.layers.execution import Effect, grade_effect
from toolevals.grading.layers.recovery import Recovery
from toolevals.grading.layers.result_use import grade_result_use
from toolevals.grading.values import Transcript
from toolevals.grading.values.verdicts import CALLS, EXPECTED, PARTS, FailureTag, Status, Verdict, combined, parts_of
from toolevals.json_types import JsonMapping

_VALUES: Mapping[Status, float] = {"passed": 1.0, "failed": 0.0}


class Evidence(NamedTuple):
    """The evidence of a transcript in addition to its calls; `effect` where their effect on their world is known.

    `recovery` is what the agent did after failures, where that was worked out before.
    """

    compiled: CompiledCase
    transcript: Transcript
    effect: Effect | None = None
    recovery: Recovery | None = None


class LayerGrade(NamedTuple):
    """A layer's verdict, and what was found, in its normal form, for the caller; whether its question arises."""

    verdict: Verdict
    detail: Callable[[], JsonMapping] | None = None
    arises: bool = True


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: whether a transcript has anything for it, its grader, and its reason where there is nothing.

    `silent` is its verdict then.

    `by_default` says that it decides where whatever the gold expects does. Where it decides and fails, the case fails;
    `mode` is then the case's, if no call that decides was wrong. Without evidence its question does not arise, unless
    it `always_arises`.
    """

    name: str
    mode: str
    has_evidence: Callable[[Evidence], bool]
    grade: Callable[[Evidence], LayerGrade]
    silence: str
    by_default: bool = True
    always_arises: bool = False
    silent: Verdict = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "silent", Verdict("unscored", None, self.silence))


def _used_tools(given: Evidence) -> bool:
    return has_answers(given.transcript)


def _result_use(given: Evidence) -> LayerGrade:
    found = grade_result_use(given.transcript)
    return LayerGrade(found.verdict, found.to_document)


def _recovery(given: Evidence) -> LayerGrade:
    found = given.recovery or recovery_of(given.compiled, given.transcript)
    return LayerGrade(
        found.verdict,
        (lambda: {"episodes": [episode.to_document() for episode in found.episodes]}) if found.episodes else None,
        arises=bool(found.episodes),
    )


def _answer(given: Evidence) -> LayerGrade:
    verdict = grade_answer(given.compiled.expectation.answer, given.transcript)
    # Unscored only where no fact is expected.
    return LayerGrade(verdict, arises=verdict.status != "unscored")


def _execution(given: Evidence) -> LayerGrade:
    expected = given.compiled.expectation.state
    told = Effect(expected=() if expected is None else (expected,), final=given.transcript.state)
    found = grade_effect(given.effect or told)
    return LayerGrade(found.verdict, found.diff.to_document if found.diff else None)


# Rules that read prose are sometimes wrong: what they find is shown, and decides only where `decided_by` names it.
LAYERS: tuple[Layer, ...] = (
    Layer("result_use", "result_misused", _used_tools, _result_use, "No tool returned a result.", by_default=False),
    Layer("recovery", "unrecovered_error", _used_tools, _recovery, "No tool failed.", by_default=False),
    Layer(
        "answer",
        "missing_fact",
        lambda given: given.compiled.expectation.answer is not None,
        _answer,
        "No fact is expected in the answer.",
    ),
    Layer(
        "execution",
        "wrong_state",
        lambda given: given.effect is not None or given.compiled.expectation.state is not None,
        _execution,
        "No final state is expected.",
        # Nothing tells a case that needs no simulator from one whose simulator is not there.
        always_arises=True,
    ),
)


@dataclass(frozen=True, slots=True)
class LayerGrades:
    """The grades of the layers for which a transcript has evidence, by their places in LAYERS."""

    grades: tuple[tuple[Layer, LayerGrade], ...]

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdicts by name."""
        return {layer.name: graded.verdict for layer, graded in self.grades}

    def deciding(self, decided_by: str) -> Iterator[tuple[Layer, Verdict | None]]:
        """Yield the layers that decide, each with its verdict; None where its question does not arise."""
        if decided_by == EXPECTED:
            for layer, found in self.grades:
                if layer.by_default:
                    yield layer, None if found.verdict.status == "unscored" else found.verdict
            return
        layers = {layer.name: layer for layer in LAYERS}
        graded = {layer.name: found for layer, found in self.grades}
        for part in parts_of(decided_by):
            if (named := layers.get(PARTS[part])) is not None:
                grade = graded.get(named.name)
                silent = named.silent if named.always_arises else None
                yield named, silent if grade is None else grade.verdict if grade.arises else None

    @property
    def details(self) -> JsonMapping:
        """Return what was found, by name of layer, where there is more to say than the verdict."""
        return {layer.name: graded.detail() for layer, graded in self.grades if graded.detail is not None}


NO_LAYERS = LayerGrades(())


def grade_layers(
    compiled: CompiledCase, transcript: Transcript, effect: Effect | None = None, recovery: Recovery | None = None
) -> LayerGrades:
    """Grade the layers for which the transcript has evidence; none where it holds calls alone.

    `recovery` is the `recovery_of` it, where that is known.
    """
    only_calls = len(transcript.messages) < 2 and transcript.answer is None
    if only_calls and effect is None and not compiled.expects_layers:
        return NO_LAYERS
    given = Evidence(compiled, transcript, effect, recovery)
    return LayerGrades(tuple((layer, layer.grade(given)) for layer in LAYERS if layer.has_evidence(given)))


def with_layers(decision: Decision, layers: LayerGrades, decided_by: str) -> Decision:
    """Return the decision with the verdicts of the layers, and the outcome of what decides (`decided_by`)."""
    statuses, values = {**decision.statuses}, {**decision.values}
    for name, verdict in layers.verdicts.items():
        statuses[name], values[name] = verdict.status, verdict.value
    found = []
    if CALLS in (parts_of(decided_by) or (CALLS,)):
        found.append((CALLS, decision.mode, decision.statuses["outcome"]))
    silent = ""
    for layer, decided in layers.deciding(decided_by):
        silent = silent or layer.name
        if decided is not None:
            found.append((layer.name, layer.mode, decided.status))
    status = combined(status for _, _, status in found)
    statuses["outcome"], values["outcome"] = status, _VALUES.get(status)
    said_by, mode = next(((name, mode) for name, mode, each in found if each == status), (silent, ""))
    if status == "errored":
        tag = FailureTag.HARNESS_ERROR.value
        return Decision(statuses, values, tag, tag.lower(), decision.call_mode, said_by)
    mode = mode if status == "failed" else ""
    return Decision(statuses, values, tag_of(mode), mode, decision.call_mode, said_by)


def silences() -> Mapping[str, Verdict]:
    """Return each layer's verdict where a transcript has nothing for it."""
    return {layer.name: layer.silent for layer in LAYERS}
