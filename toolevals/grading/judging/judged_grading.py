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
