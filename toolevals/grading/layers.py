"""The layers beside the calls, in one table: graders of a whole transcript.

A row of LAYERS, and the layer's name in VERDICT_NAMES, make a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from toolevals.grading.compiled import CompiledCase
from toolevals.grading.values import Transcript
from toolevals.grading.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: whether a transcript has anything for it, its verdict with a failure mode, and its reason without.

    A layer that fails fails the case; its mode is the case's where the calls were right.
    """

    name: str
    has_evidence: Callable[[CompiledCase, Transcript], bool]
    grade: Callable[[CompiledCase, Transcript], tuple[Verdict, str]]
    silence: str


LAYERS: tuple[Layer, ...] = ()


def graded_beside(compiled: CompiledCase, transcript: Transcript) -> Mapping[str, tuple[Verdict, str]]:
    """Return the verdicts of the layers for which the transcript has evidence; none where it holds calls alone."""
    if len(transcript.messages) < 2 and transcript.answer is None and not compiled.asks_beside:
        return {}
    return {
        layer.name: layer.grade(compiled, transcript) for layer in LAYERS if layer.has_evidence(compiled, transcript)
    }


def silences() -> Mapping[str, Verdict]:
    """Return each layer's verdict where a transcript has nothing for it."""
    return {layer.name: Verdict("unscored", None, layer.silence) for layer in LAYERS}
