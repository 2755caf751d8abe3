"""Grades any number of transcripts with an expectation that is compiled once with the offered tools.

What is decided (statuses, values, mode, tag) is decided at once; words and details are worked out when asked for.

Tell which tool a case is about before anyone has done anything: what an unscored case is counted under.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from toolevals.grading.alignment.trajectory import Alignment, best_alignment
from toolevals.grading.engine.arguments import check_schemas, findings
from toolevals.grading.engine.compiled import CompiledCase, compile_case
from toolevals.grading.engine.counted_calls import calls_that_count, has_answers, recovery_of
from toolevals.grading.engine.decisions import Decision, Findings, decision_of
from toolevals.grading.engine.explanation import Explanation
from toolevals.grading.engine.layer_grading import NO_LAYERS, grade_layers, with_layers
from toolevals.grading.engine.selection import calls_selection, no_call_selection, some_call_selection
from toolevals.grading.layers.answer import refuses
from toolevals.grading.layers.execution import Effect
from toolevals.grading.values import NOT_WHOLE, Call, Transcript
from toolevals.grading.values.call_results import Results
from toolevals.grading.values.thoughts import spoken
from toolevals.grading.values.tools import call_with_name, with_names
from toolevals.grading.values.transcripts import CUTS, with_refused
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import EXPECTED, CaseGrade, FailureTag, Verdict, decided

# What becomes of a conversation that was cut before its end.
CutOff = Literal["failed", "left_out"]
CUT_OFF: tuple[CutOff, ...] = ("failed", "left_out")

__all__ = ["CompiledCase", "compile_case", "grade", "grade_calls"]


def grade(
    compiled: CompiledCase,
    transcript: Transcript | None,
    *,
    effect: Effect | None = None,
    cut_off: CutOff = "failed",
) -> CaseGrade:
    """Grade what an agent did; None where no prediction came, which is unscored.

    An agent that could not be reached is errored (ADAPTER_ERROR), and so is a crash of a grader (HARNESS_ERROR).
    Criteria in words are left to judges (`judging.judged_grading`). `effect` is what the calls did to a simulated
    world; without it, a state that the transcript holds is compared with one that the label gives. A conversation that
    was cut before its end is failed, or, where `cut_off` is "left_out", unscored. A call by another spelling of an
    offered tool's name (`issues_create` of `issues/create`) is that tool's, and the reason says so.
    """
    if transcript is None:
        return _everywhere(compiled, Verdict("unscored", None, "No prediction came."))
    if transcript.error is not None:
        is_known = transcript.error.startswith(NOT_WHOLE)
        reason = transcript.error if is_known else f"The agent could not be reached: {transcript.error}"
        return _errored(compiled, reason, FailureTag.ADAPTER_ERROR)
    if transcript.ended is not None and cut_off == "left_out":
        reason = f"Left out, as the run says: {CUTS[transcript.ended]}."
        return _everywhere(compiled, Verdict("unscored", None, reason))
    if compiled.failure:
        return _uncompiled(compiled)
    whole = transcript
    try:
        if renamed := compiled.offer.spellings(transcript.calls):
            transcript = with_names(transcript, renamed)
        said = spoken(transcript)
        recovery = recovery_of(compiled, said) if has_answers(said) else None
        counted = calls_that_count(compiled, transcript, recovery)
        decision, alignment = _decided(compiled, counted.calls, counted.results(compiled, transcript))
        layers = grade_layers(compiled, said, effect, recovery)
        if decision.mode == "missed_call" and not counted.calls and refuses(said):
            decision = replace(decision, mode="refused", call_mode="refused")
        if layers.grades or compiled.decided_by != EXPECTED:
            decision = with_layers(decision, layers, compiled.decided_by)
        if transcript.ended is not None:
            decision = decision.cut_off()
        explanation = Explanation(
            compiled,
            counted.calls,
            decision,
            alignment,
            places=counted.places,
            layers=layers,
            ended=transcript.ended,
            forgiven=counted.forgiven,
            renamed=renamed,
        )
        made = decided(decision.tag, decision.mode, explanation)
        return _left_to_guard(compiled, made, whole) if whole.refusals else made
    except Exception as error:  # noqa: BLE001 (the boundary that turns crashes into verdicts)
        return _crashed(compiled, error)


def _left_to_guard(compiled: CompiledCase, made: CaseGrade, transcript: Transcript) -> CaseGrade:
    """Return a grade, unscored where calls that the guard refused are what is wrong with it.

    It is so where selection or arguments failed, and would not with the refused calls in their places.
    """
    asked = "selection", "arguments"
    if made.statuses["outcome"] != "failed" or "failed" not in [made.statuses[name] for name in asked]:
        return made
    wanted = with_refused(transcript)
    if wanted is transcript or "failed" in [grade(compiled, wanted).statuses[name] for name in asked]:
        return made
    return _everywhere(compiled, Verdict("unscored", None, "The guard refused a call that is expected."))


def grade_calls(compiled: CompiledCase, calls: Sequence[Call]) -> CaseGrade:
    """Grade calls alone, as `grade` does a transcript of one message that holds them: each of them counts."""
    if compiled.failure:
        return _uncompiled(compiled)
    try:
        if renamed := compiled.offer.spellings(calls):
            calls = [call_with_name(call, renamed) for call in calls]
        decision, alignment = _decided(compiled, calls)
        if compiled.decided_by != EXPECTED:
            decision = with_layers(decision, NO_LAYERS, compiled.decided_by)
        return decided(decision.tag, decision.mode, Explanation(compiled, calls, decision, alignment, renamed=renamed))
    except Exception as error:  # noqa: BLE001 (the boundary that turns crashes into verdicts)
        return _crashed(compiled, error)


def _decided(compiled: CompiledCase, calls: Sequence[Call], results: Results = ()) -> tuple[Decision, Alignment | None]:
    """Return what is decided of calls, and their best alignment where calls are expected."""
    schemas = check_schemas(calls, compiled.offer)
    if compiled.expectation.kind == "calls":
        alignment = best_alignment(compiled.trajectories, calls, compiled.profile, results)
        mode, _ = calls_selection(alignment, calls, compiled.offer)
        standings = (
            (check.standing, actual in schemas.broken)
            for (_, actual), check in zip(alignment.pairs, alignment.checks, strict=True)
        )
        found = findings(mode, alignment.total, standings, len(schemas.checked), len(schemas.broken))
        return decision_of(found), alignment
    if compiled.expectation.kind == "no_call":
        mode, _ = no_call_selection(calls)
    else:
        mode, _ = some_call_selection(calls, compiled.offer)
    return decision_of(Findings(mode, len(schemas.checked), len(schemas.broken))), None


def _uncompiled(compiled: CompiledCase) -> CaseGrade:
    return _errored(compiled, f"The expectation cannot be compiled: {compiled.failure}", FailureTag.HARNESS_ERROR)


def _crashed(compiled: CompiledCase, error: Exception) -> CaseGrade:
    return _errored(compiled, f"A grader crashed: {type(error).__name__}: {error}", FailureTag.HARNESS_ERROR)


def _errored(compiled: CompiledCase, reason: str, tag: FailureTag) -> CaseGrade:
    return _everywhere(compiled, Verdict("errored", None, reason), tag.value, tag.value.lower())


def _everywhere(compiled: CompiledCase, verdict: Verdict, tag: str = "", mode: str = "") -> CaseGrade:
    return CaseGrade(dict.fromkeys(VERDICT_NAMES, verdict), tag, mode, decided_by=compiled.decided_by)


_IDLE: Final = Transcript()


def first_expected_class(compiled: CompiledCase) -> str:
    """Return the row of the matrix of first calls in which an agent stands that does nothing.

    The first expected call of the first alternative, `(none)` where no call is due; empty where any call will do, or
    the expectation cannot be compiled.
    """
    return grade(compiled, _IDLE).expected
