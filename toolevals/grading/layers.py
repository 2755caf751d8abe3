"""The graders of a whole transcript, beside those of its calls, in one table.

A row of LAYERS, and its name in VERDICT_NAMES, make a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolevals.grading.answer import grade_answer
from toolevals.grading.compiled import CompiledCase
from toolevals.grading.execution import Effect, grade_effect
from toolevals.grading.recovery import grade_recovery
from toolevals.grading.result_use import grade_result_use
from toolevals.grading.values import Transcript
from toolevals.grading.verdicts import Status, Verdict


class Evidence(NamedTuple):
    """What a transcript is graded on beside its calls; `effect` where somebody knows what they did to their world."""

    compiled: CompiledCase
    transcript: Transcript
    effect: Effect | None = None


class LayerGrade(NamedTuple):
    """A layer's verdict, and what was found, in its normal form, for whoever asks."""

    verdict: Verdict
    detail: Callable[[], Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: whether a transcript has anything for it, its grader, and its reason where there is nothing.

    Where it fails and `decides`, the case fails; `mode` is then the case's, if the calls were right.
    """

    name: str
    mode: str
    has_evidence: Callable[[Evidence], bool]
    grade: Callable[[Evidence], LayerGrade]
    silence: str
    decides: bool = True


def _used_tools(given: Evidence) -> bool:
    return any(message.role == "tool" for message in given.transcript.messages)


def _result_use(given: Evidence) -> LayerGrade:
    found = grade_result_use(given.transcript)
    return LayerGrade(found.verdict, found.to_document)


def _recovery(given: Evidence) -> LayerGrade:
    compiled = given.compiled
    found = grade_recovery(given.transcript, reactions=compiled.expectation.reactions, tools=compiled.offer.tools)
    return LayerGrade(
        found.verdict,
        (lambda: {"episodes": [episode.to_document() for episode in found.episodes]}) if found.episodes else None,
    )


def _answer(given: Evidence) -> LayerGrade:
    return LayerGrade(grade_answer(given.compiled.expectation.answer, given.transcript))


def _execution(given: Evidence) -> LayerGrade:
    expected = given.compiled.expectation.state
    told = Effect(expected=() if expected is None else (expected,), final=given.transcript.state)
    found = grade_effect(given.effect or told)
    return LayerGrade(found.verdict, found.diff.to_document if found.diff else None)


# Rules find out how a reply uses results, and are sometimes wrong: that is shown, and fails no case by itself.
LAYERS: tuple[Layer, ...] = (
    Layer("result_use", "result_misused", _used_tools, _result_use, "No tool returned a result.", decides=False),
    Layer("recovery", "unrecovered_error", _used_tools, _recovery, "No tool failed."),
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
    ),
)


@dataclass(frozen=True, slots=True)
class Beside:
    """The grades of the layers for which a transcript has evidence, by their places in LAYERS."""

    grades: tuple[tuple[Layer, LayerGrade], ...]

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdicts by name."""
        return {layer.name: graded.verdict for layer, graded in self.grades}

    @property
    def failed(self) -> tuple[Layer, Verdict] | None:
        """The first layer that fails the case."""
        return self._first("failed")

    @property
    def errored(self) -> tuple[Layer, Verdict] | None:
        """The first layer without which nothing can be said of the case, and that could not be graded."""
        return self._first("errored")

    def _first(self, status: Status) -> tuple[Layer, Verdict] | None:
        deciding = ((layer, graded.verdict) for layer, graded in self.grades if layer.decides)
        return next((each for each in deciding if each[1].status == status), None)

    @property
    def details(self) -> Mapping[str, Any]:
        """What was found, by name of layer, where there is more to say than the verdict."""
        return {layer.name: graded.detail() for layer, graded in self.grades if graded.detail is not None}


NOTHING_BESIDE = Beside(())


def graded_beside(compiled: CompiledCase, transcript: Transcript, effect: Effect | None = None) -> Beside:
    """Grade the layers for which the transcript has evidence; none where it holds calls alone."""
    only_calls = len(transcript.messages) < 2 and transcript.answer is None
    if only_calls and effect is None and not compiled.asks_beside:
        return NOTHING_BESIDE
    given = Evidence(compiled, transcript, effect)
    return Beside(tuple((layer, layer.grade(given)) for layer in LAYERS if layer.has_evidence(given)))


def silences() -> Mapping[str, Verdict]:
    """Return each layer's verdict where a transcript has nothing for it."""
    return {layer.name: Verdict("unscored", None, layer.silence) for layer in LAYERS}
