"""The selection layer: the right tool, or rightly no tool. Each function gives a verdict and a failure mode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolevals.grading.offer import Offer
from toolevals.grading.trajectory import Alignment
from toolevals.grading.values import Call, MalformedCall
from toolevals.grading.verdicts import UNKNOWN_TOOL, UNPARSED, Verdict

Judged = tuple[Verdict, str]

_LONGEST_NAME = 80
_NO_CALL_MADE = Verdict("passed", 1.0, "No call was due, and none was made.")


def no_call_selection(calls: Sequence[Call], offer: Offer) -> Judged:
    """Passes when nothing was called."""
    if not calls:
        return _NO_CALL_MADE, ""
    if all(isinstance(call, MalformedCall) for call in calls):
        return _failed(f"No call was due; one was tried that cannot be read: {_reason(calls)}."), "malformed_output"
    return _failed(f"No call was due; {_made(calls)} was called."), "needless_call"


def some_call_selection(calls: Sequence[Call], offer: Offer) -> Judged:
    """Passes when an offered tool was called, whichever it is."""
    classes = [offer.class_of(call) for call in calls]
    right = [call for call, name in zip(calls, classes, strict=True) if name not in {UNKNOWN_TOOL, UNPARSED}]
    if right:
        return Verdict("passed", 1.0, f"Some call was due; {_made(right)} was called."), ""
    if not calls:
        return _failed("Some call was due, and none was made."), "missed_call"
    if UNPARSED in classes:
        return _failed(f"A call cannot be read: {_reason(calls)}."), "malformed_output"
    return _failed(f"{_made(calls)} was called, which is not among the offered tools."), "hallucinated_tool"


def calls_selection(alignment: Alignment, calls: Sequence[Call], offer: Offer) -> Judged:
    """Passes when every expected tool was called, in order, with none that is disallowed and none too many."""
    if alignment.tools_are_right:
        return Verdict("passed", 1.0, _right(alignment)), ""
    over = [calls[place] for place in alignment.unmatched_actual]
    missing = _listed(alignment.compiled.calls[place].expectation.tool for place in alignment.unmatched_expected)
    if alignment.violations:
        banned = _made([calls[place] for place, _ in alignment.violations])
        return _failed(f"{banned} was called, which must not be."), "disallowed_call"
    if not alignment.unmatched_expected:
        return _one_too_many([calls[place] for place in alignment.extra], offer)
    if not calls:
        return _failed(f"{missing} was due, and no call was made."), "missed_call"
    if any(isinstance(call, MalformedCall) for call in over):
        return _failed(f"{missing} was due; a call cannot be read: {_reason(over)}."), "malformed_output"
    if alignment.out_of_order:
        return _failed(f"Every expected tool was called, but {missing} not in its place in the order."), "wrong_order"
    if not over:
        return _failed(f"{missing} was due too, and not called."), "missed_call"
    if any(offer.class_of(call) == UNKNOWN_TOOL for call in over):
        return _failed(f"{missing} was due; {_made(over)} was called, which is not offered."), "hallucinated_tool"
    return _failed(f"{missing} was due; {_made(over)} was called."), "wrong_tool"


def _right(alignment: Alignment) -> str:
    if not alignment.total:
        return "Nothing was called that must not be."
    if alignment.total == 1:
        return f"{_cut(alignment.compiled.calls[0].expectation.tool)} was due and was called."
    return f"All {alignment.total} expected tools were called."


def _one_too_many(extra: Sequence[Call], offer: Offer) -> Judged:
    if any(isinstance(call, MalformedCall) for call in extra):
        return _failed(f"One call too many, and it cannot be read: {_reason(extra)}."), "malformed_output"
    if any(offer.class_of(call) == UNKNOWN_TOOL for call in extra):
        return _failed(f"{_made(extra)} was called besides, which is not offered."), "hallucinated_tool"
    return _failed(f"{_made(extra)} was called besides; no further call is allowed."), "extra_call"


def _failed(reason: str) -> Verdict:
    return Verdict("failed", 0.0, reason)


def _made(calls: Sequence[Call]) -> str:
    return _listed(call.name or "an unreadable call" for call in calls)


def _listed(names: Iterable[str]) -> str:
    each = list(dict.fromkeys(_cut(name) for name in names))
    if not each:
        return ""
    if len(each) > 3:
        return f"{', '.join(each[:2])} and {len(each) - 2} more"
    return " and ".join(filter(None, (", ".join(each[:-1]), each[-1])))


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _reason(calls: Sequence[Call]) -> str:
    return next(call.reason for call in calls if isinstance(call, MalformedCall)).rstrip(".")
