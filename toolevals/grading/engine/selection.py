"""Grades the selection layer: the right tool, or rightly no tool. Gives a failure mode ("" for none) with words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.engine.offered_tools import Offer
from toolevals.grading.engine.stand_ins import has_stand_in, stand_ins
from toolevals.grading.values import Call, MalformedCall
from toolevals.grading.values.verdicts import UNKNOWN_TOOL, UNPARSED

# A failure mode, and the reason for the person who asks.
Judged = tuple[str, Callable[[], str]]

_LONGEST_NAME = 80


def no_call_selection(calls: Sequence[Call]) -> Judged:
    """Passes when nothing was called."""
    if not calls:
        return "", lambda: "No call was expected, and none was made."
    if all(isinstance(call, MalformedCall) for call in calls):
        return "malformed_output", lambda: f"No call was expected; one was tried that cannot be read: {_reason(calls)}."
    return "needless_call", lambda: f"No call was expected; {_made(calls)} was called."


def some_call_selection(calls: Sequence[Call], offer: Offer) -> Judged:
    """Passes when an offered tool was called, whichever it is."""
    classes = [offer.class_of(call) for call in calls]
    right = [call for call, name in zip(calls, classes, strict=True) if name not in {UNKNOWN_TOOL, UNPARSED}]
    if right:
        return "", lambda: f"Some call was expected; {_made(right)} was called."
    if not calls:
        return "missed_call", lambda: "Some call was expected, and none was made."
    if UNPARSED in classes:
        return "malformed_output", lambda: f"A call cannot be read: {_reason(calls)}."
    return "hallucinated_tool", lambda: f"{_made(calls)} was called, which is not among the offered tools."


def calls_selection(alignment: Alignment, calls: Sequence[Call], offer: Offer) -> Judged:
    """Passes when every expected tool was called, in order, with none that is disallowed and none too many."""
    if alignment.tools_are_right:
        return "", lambda: _right(alignment)
    if alignment.violations:
        banned = [calls[place] for place, _ in alignment.violations]
        return "disallowed_call", lambda: f"{_made(banned)} was called, which must not be."
    if not alignment.unmatched_expected:
        return _one_too_many([calls[place] for place in alignment.extra], offer)
    return _missed(alignment, calls, offer)


def _missed(alignment: Alignment, calls: Sequence[Call], offer: Offer) -> Judged:
    over = [calls[place] for place in alignment.unmatched_actual]
    if not calls:
        return "missed_call", lambda: f"{_missing(alignment)} was expected, and no call was made."
    if any(isinstance(call, MalformedCall) for call in over):
        return (
            "malformed_output",
            lambda: f"{_missing(alignment)} was expected; a call cannot be read: {_reason(over)}.",
        )
    if alignment.out_of_order:
        return (
            "wrong_order",
            lambda: f"Every expected tool was called, but {_missing(alignment)} not in its place in the order.",
        )
    if not over:
        return "missed_call", lambda: f"{_missing(alignment)} was expected too, and not called."
    if not has_stand_in(alignment, calls, offer):
        return "missed_call", lambda: f"{_missing(alignment)} was expected, and not called."
    if any(offer.class_of(call) == UNKNOWN_TOOL for call in over):
        return (
            "hallucinated_tool",
            lambda: f"{_missing(alignment)} was expected; {_made(over)} was called, which is not offered.",
        )
    return "wrong_tool", lambda: f"{_missing(alignment)} was expected; {_standing(alignment, calls, offer)} was called."


def _standing(alignment: Alignment, calls: Sequence[Call], offer: Offer) -> str:
    return _made([calls[actual] for _, actual in stand_ins(alignment, calls, offer)])


def _one_too_many(extra: Sequence[Call], offer: Offer) -> Judged:
    if any(isinstance(call, MalformedCall) for call in extra):
        return "malformed_output", lambda: f"One call too many, and it cannot be read: {_reason(extra)}."
    if any(offer.class_of(call) == UNKNOWN_TOOL for call in extra):
        return "hallucinated_tool", lambda: f"{_made(extra)} was called besides, which is not offered."
    return "extra_call", lambda: f"{_made(extra)} was called besides; no further call is allowed."


def _right(alignment: Alignment) -> str:
    if not alignment.total:
        return "Nothing was called that must not be."
    if alignment.total == 1:
        return called_as_due(alignment.compiled.calls[0].expectation.tool)
    return f"All {alignment.total} expected tools were called."


def called_as_due(tool: str) -> str:
    """Return the reason where the one expected tool was called, and nothing that must not be."""
    return f"{cut(tool)} was expected and was called."


def _missing(alignment: Alignment) -> str:
    return _listed(alignment.due(place) for place in alignment.unmatched_expected)


def _made(calls: Sequence[Call]) -> str:
    return _listed(call.name or "an unreadable call" for call in calls)


def _listed(names: Iterable[str]) -> str:
    each = list(dict.fromkeys(cut(name) for name in names))
    if not each:
        return ""
    if len(each) > 3:
        return f"{', '.join(each[:2])} and {len(each) - 2} more"
    return " and ".join(filter(None, (", ".join(each[:-1]), each[-1])))


def cut(name: str) -> str:
    """Return a name of bounded length."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _reason(calls: Sequence[Call]) -> str:
    return next(call.reason for call in calls if isinstance(call, MalformedCall)).rstrip(".")
