"""Grade a case with what judges said of it: the rules come first, and judges answer what is left to them."""

from __future__ import annotations

from dataclasses import replace

from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.grading import CutOff, grade
from toolevals.grading.judging.briefing import Judgements
from toolevals.grading.judging.case_judging import CaseJudging, not_judged
from toolevals.grading.layers.execution import Effect
from toolevals.grading.values import Transcript
from toolevals.grading.values.verdicts import CaseGrade


def grade_judged(
    compiled: CompiledCase,
    transcript: Transcript | None,
    judgements: Judgements,
    *,
    effect: Effect | None = None,
    cut_off: CutOff = "failed",
) -> CaseGrade:
    """Grade what an agent did, as `grade` does, with `judgements`.

    They answer criteria in words, and give a verdict for every rubric that is on.
    """
    plain = grade(compiled, transcript, effect=effect, cut_off=cut_off)
    left_out = transcript is not None and transcript.ended is not None and cut_off == "left_out"
    if transcript is None or left_out or plain.statuses["outcome"] == "errored":
        return replace(plain, judged=not_judged(judgements, f"Not asked: {plain.outcome.reason}"))
    judging = CaseJudging(compiled, transcript, plain, judgements)
    applied = judging.applied
    graded = plain if applied is compiled else grade(applied, transcript, effect=effect, cut_off=cut_off)
    return replace(graded, judged=judging.verdicts())
