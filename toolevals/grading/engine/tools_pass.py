"""Works out the two scores of a trajectory expectation, by their public names.

Source: `ToolsAllPass` and `ToolsPercentagePass` of trajectory expectations.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from toolevals.grading.alignment.trajectory import Alignment, align
from toolevals.grading.engine.compiled import CompiledCase, compile_case
from toolevals.grading.values import Call, Expectation, ToolCall
from toolevals.grading.values.call_results import Results
from toolevals.grading.values.verdicts import Verdict

_TO_BE_JUDGED = "An argument has still to be judged, or refers to a result that is not known."


def tools_all_pass(expectation: Expectation, calls: Sequence[Call]) -> Verdict:
    """Pass when one of the alternatives is met in full.

    That is: every expected call with its arguments, in order where an order is asked for; no disallowed call; and no
    further call where none is allowed. `no_call` passes without any call, `some_call` with at least one that can be
    read. Unscored where it hangs on an argument that a judge has to see. The value is 1 or 0.
    """
    return all_pass_of(compile_case(expectation, ()), calls)


def all_pass_of(
    compiled: CompiledCase, calls: Sequence[Call], alignments: Sequence[Alignment] | None = None
) -> Verdict:
    """Return `tools_all_pass` of a compiled expectation; `alignments` are `alignments_of` it, where they are known."""
    if compiled.expectation.kind != "calls":
        return _without_calls(compiled.expectation, calls)
    alignment = max(alignments or alignments_of(compiled, calls), key=attrgetter("merit"))
    if not alignment.all_pass:
        return Verdict("failed", 0.0, _fault(alignment, calls))
    if _is_open(alignment):
        return Verdict("unscored", None, _TO_BE_JUDGED)
    return Verdict("passed", 1.0, "Every expected call was made, and none that must not be.")


def tools_percentage_pass(expectation: Expectation, calls: Sequence[Call]) -> Verdict:
    """Return matched of expected calls, with the alternative of which most was matched; passed at 1, else failed.

    Disallowed and further calls are not in the total. With no call expected the value is 1 where nothing was violated,
    else 0; `some_call` expects one. Unscored where it hangs on an argument that a judge has to see.
    """
    return percentage_pass_of(compile_case(expectation, ()), calls)


def percentage_pass_of(
    compiled: CompiledCase, calls: Sequence[Call], alignments: Sequence[Alignment] | None = None
) -> Verdict:
    """Return `tools_percentage_pass` of a compiled expectation; `alignments` as for `all_pass_of`."""
    if compiled.expectation.kind != "calls":
        return _without_calls(compiled.expectation, calls)
    alignment = max(alignments or alignments_of(compiled, calls), key=attrgetter("share"))
    if _is_open(alignment):
        return Verdict("unscored", None, _TO_BE_JUDGED)
    share = alignment.share
    if alignment.total:
        words = f"{round(share * alignment.total)} of {alignment.total} expected calls were made as expected."
    else:
        words = "Nothing was called that must not be." if share else "A call was made that must not be."
    return Verdict("passed" if share == 1 else "failed", share, words)


def alignments_of(compiled: CompiledCase, calls: Sequence[Call], results: Results = ()) -> list[Alignment]:
    """Return the best alignment of calls with each alternative; `results` are those of the calls, where known.

    Raises ValueError where the expectation could not be compiled.
    """
    if compiled.failure:
        raise ValueError(f"the expectation cannot be compiled: {compiled.failure}")
    return [align(each, calls, compiled.profile, results) for each in compiled.trajectories]


def _is_open(alignment: Alignment) -> bool:
    return any(check.unjudged for check in alignment.checks if not check.faults)


def _without_calls(expectation: Expectation, calls: Sequence[Call]) -> Verdict:
    if expectation.kind == "no_call":
        if not calls:
            return Verdict("passed", 1.0, "No call was expected, and none was made.")
        return Verdict("failed", 0.0, "No call was expected, and one was made.")
    if any(isinstance(call, ToolCall) for call in calls):
        return Verdict("passed", 1.0, "Some call was expected, and one was made.")
    return Verdict("failed", 0.0, "Some call was expected, and none was made that can be read.")


def _fault(alignment: Alignment, calls: Sequence[Call]) -> str:
    if alignment.violations:
        return f"{_name(calls[alignment.violations[0][0]])} was called, which must not be."
    if alignment.unmatched_expected:
        reason = "not called in its place in the order" if alignment.out_of_order else "not called"
        return f"{alignment.due(alignment.unmatched_expected[0])} was expected and {reason}."
    if alignment.extra:
        return f"{_name(calls[alignment.extra[0]])} was called besides; no further call is allowed."
    wrong = next(pair[1] for pair, check in zip(alignment.pairs, alignment.checks, strict=True) if check.faults)
    return f"{_name(calls[wrong])} was called with other arguments than the expected ones."


def _name(call: Call) -> str:
    return call.name or "An unreadable call"
