"""Grading: compile an expectation with the offered tools once, grade any number of transcripts with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolevals.grading.arguments import (
    NOTHING_EXPECTED,
    arguments_verdict,
    check_schemas,
    equivalence_verdict,
    shape_verdict,
)
from toolevals.grading.equality import PROFILES, Profile
from toolevals.grading.offer import Offer
from toolevals.grading.placement import Placement, needless_differences, needless_pairs
from toolevals.grading.selection import calls_selection, no_call_selection, some_call_selection
from toolevals.grading.shortcut import Shortcut
from toolevals.grading.trajectory import CompiledTrajectory, best_alignment, compile_trajectory
from toolevals.grading.values import Call, Expectation, ToolSpec, Transcript
from toolevals.grading.verdicts import (
    NONE,
    VERDICT_NAMES,
    CaseGrade,
    FailureTag,
    Verdict,
)

_ANY_CALL = Verdict("unscored", None, "Any call will do, so there are no arguments to compare.")


@dataclass(frozen=True, slots=True)
class CompiledCase:
    """An expectation as tests. `failure` says why it could not be compiled: every grade is then errored."""

    expectation: Expectation
    profile: Profile
    offer: Offer
    trajectories: tuple[CompiledTrajectory, ...] = ()
    failure: str = ""
    shortcut: Shortcut | None = field(default=None, compare=False)


def compile_case(expectation: Expectation, tools: Sequence[ToolSpec]) -> CompiledCase:
    """Compile an expectation and the tools offered with it; without any, names are not known and schemas not checked.

    Never raises: what cannot be compiled is graded as HARNESS_ERROR.
    """
    profile = PROFILES[expectation.profile]
    expected = [call.tool for trajectory in expectation.alternatives for call in trajectory.calls]
    offer = Offer.of(tools, expected, profile)
    try:
        trajectories = tuple(compile_trajectory(each, profile) for each in expectation.alternatives)
    except Exception as error:  # noqa: BLE001 (the boundary that turns crashes into verdicts)
        return CompiledCase(expectation, profile, offer, failure=f"{type(error).__name__}: {error}")
    return CompiledCase(expectation, profile, offer, trajectories, shortcut=Shortcut.of(trajectories, offer))


def grade(compiled: CompiledCase, transcript: Transcript | None) -> CaseGrade:
    """Grade what a subject did; None where no prediction came, which is unscored.

    A subject that could not be reached is errored (ADAPTER_ERROR), and so is a crash of a grader (HARNESS_ERROR).
    """
    if transcript is None:
        return _everywhere(Verdict("unscored", None, "No prediction came."))
    if transcript.error is not None:
        return _errored(f"The subject could not be reached: {transcript.error}", FailureTag.ADAPTER_ERROR)
    if compiled.failure:
        return _errored(f"The expectation cannot be compiled: {compiled.failure}", FailureTag.HARNESS_ERROR)
    try:
        calls = transcript.calls
        if compiled.shortcut is None:
            return _graded(compiled, calls)
        return compiled.shortcut.grade(calls) or compiled.shortcut.learn(calls, _graded(compiled, calls))
    except Exception as error:  # noqa: BLE001 (the boundary that turns crashes into verdicts)
        return _errored(f"A grader crashed: {type(error).__name__}: {error}", FailureTag.HARNESS_ERROR)


def _graded(compiled: CompiledCase, calls: tuple[Call, ...]) -> CaseGrade:
    if compiled.expectation.kind == "calls":
        return _graded_calls(compiled, calls)
    schemas = check_schemas(calls, compiled.offer)
    if compiled.expectation.kind == "no_call":
        selection, mode = no_call_selection(calls, compiled.offer)
        beside = NOTHING_EXPECTED
        pairs = needless_pairs(calls, compiled.offer)
        expected, actual = NONE, pairs[0].actual
        differences = needless_differences(calls, compiled.profile)
    else:
        selection, mode = some_call_selection(calls, compiled.offer)
        beside, expected, actual, pairs, differences = _ANY_CALL, "", "", (), ()
    verdicts = {
        "outcome": _outcome(selection, beside),
        "selection": selection,
        "arguments": beside,
        "schema": schemas.verdict,
        "shape": beside,
        "equivalence": beside,
    }
    return CaseGrade(verdicts, _tag(mode), mode, expected, actual, pairs, differences, schemas.problems)


def _graded_calls(compiled: CompiledCase, calls: tuple[Call, ...]) -> CaseGrade:
    schemas = check_schemas(calls, compiled.offer)
    alignment = best_alignment(compiled.trajectories, calls, compiled.profile)
    selection, selection_mode = calls_selection(alignment, calls, compiled.offer)
    equivalence = equivalence_verdict(alignment, calls, schemas)
    arguments, arguments_mode = arguments_verdict(alignment, schemas, equivalence)
    mode = selection_mode or arguments_mode
    placement = Placement.of(alignment, calls, compiled.offer)
    expected, actual = placement.first_call
    return CaseGrade(
        verdicts={
            "outcome": _outcome(selection, arguments),
            "selection": selection,
            "arguments": arguments,
            "schema": schemas.verdict,
            "shape": shape_verdict(alignment),
            "equivalence": equivalence,
        },
        tag=_tag(mode),
        mode=mode,
        expected=expected,
        actual=actual,
        pairs=placement.pairs(schemas.broken),
        differences=placement.differences(),
        schema_problems=schemas.problems,
    )


def _outcome(selection: Verdict, arguments: Verdict) -> Verdict:
    """Fail where a layer failed. What has still to be judged is unscored: it never passes by default."""
    for layer in (selection, arguments):
        if layer.status == "failed":
            return Verdict("failed", 0.0, layer.reason)
    if arguments.status == "unscored" and arguments not in (NOTHING_EXPECTED, _ANY_CALL):
        return Verdict("unscored", None, arguments.reason)
    return Verdict("passed", 1.0, selection.reason if arguments.status == "unscored" else arguments.reason)


def _tag(mode: str) -> str:
    if not mode:
        return ""
    return (FailureTag.MALFORMED_OUTPUT if mode == "malformed_output" else FailureTag.WRONG_ANSWER).value


def _errored(reason: str, tag: FailureTag) -> CaseGrade:
    return _everywhere(Verdict("errored", None, reason), tag.value, tag.value.lower())


def _everywhere(verdict: Verdict, tag: str = "", mode: str = "") -> CaseGrade:
    return CaseGrade(dict.fromkeys(VERDICT_NAMES, verdict), tag, mode)
