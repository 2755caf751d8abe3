"""Gives a failure the name that a person would give it, and says what can be done at once and for good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from toolevals.grading.failures.failure import TOOL, Failure
from toolevals.grading.values.verdicts import NONE

# Of an error's text so much stands in a name.
_LONGEST_ERROR: Final = 80
# No name is longer.
LONGEST: Final = 300

_NAMES: Final[Mapping[str, str]] = {
    "wrong_tool": "`{other}` called in place of `{tool}`",
    "hallucinated_tool": "A tool that is not offered called in place of `{tool}`",
    "tool_not_offered": "`{tool}` called, which is not offered",
    "called_in_a_loop": "`{tool}` called again and again with the same arguments",
    "over_limit": "A conversation takes more tokens or money than the limit",
    "missed_call": "`{tool}` not called",
    "refused": "The agent declines where `{tool}` is due",
    "needless_call": "`{tool}` called without need",
    "disallowed_call": "`{tool}` called, which must not be",
    "malformed_output": "A call in place of `{tool}` that cannot be read",
    "wrong_value": "`{argument}` of `{tool}` differs from gold",
    "wrong_shape": "`{argument}` of `{tool}` has another type than gold",
    "missing_argument": "`{argument}` of `{tool}` is missing",
    "extra_argument": "`{argument}` of `{tool}` is not expected",
    "schema_error": "`{argument}` of `{tool}` breaks its schema",
    "missing_fact": "An expected fact is not in the answer",
    "wrong_state": "The right calls leave another state than expected",
    "cut_off": "The conversation is cut before its end",
    "result_misused": "A reply does not follow from what tools returned",
}
_REACTIONS: Final[Mapping[str, str]] = {
    "gave_up": "the agent gave up",
    "identical_retry": "the agent sent the same call again",
    "looped": "the agent went on in a loop",
    "fabricated_success": "the agent said that it had worked",
    "corrected_retry": "the agent tried other arguments in vain",
    "fallback_tool": "the agent took another tool",
    "clarification": "the agent asked the user",
    "escalation": "the agent handed over to a person",
    "honest_failure": "the agent told the user",
}
_ERRORS: Final[Mapping[str, str]] = {
    "timeout": "timed out",
    "empty": "found nothing",
    "partial": "answered in part",
    "unknown": "answered with an error",
    "5xx": "was not available",
}


def name_of(failure: Failure) -> str:
    """Return the name of a failure: tools and arguments stand between backticks."""
    return _name(failure)[:LONGEST]


def _name(failure: Failure) -> str:
    if failure.layer == TOOL:
        quoted = f" “{_shortened(failure.error_text)}”" if failure.error_text else ""
        return f"`{failure.tool}` answers{quoted or f' with an error ({failure.error_class})'}"
    if failure.layer == "recovery":
        reaction = _REACTIONS.get(failure.mode, failure.mode.replace("_", " "))
        return f"`{failure.tool}` {_how(failure)} and {reaction}"
    if failure.mode == "wrong_order":
        return _order(failure)
    if failure.layer == "arguments" and not failure.argument:
        return f"The arguments of `{failure.tool}` are wrong ({failure.mode.replace('_', ' ')})"
    if failure.mode in _NAMES:
        return _NAMES[failure.mode].format(tool=failure.tool, other=failure.other, argument=failure.argument)
    of = f" of `{failure.tool}`" if failure.tool not in ("", NONE) else ""
    layer = "A result" if failure.layer == "result_use" else "The outcome"
    return f"{layer}{of}: {failure.mode.replace('_', ' ')}"


def _how(failure: Failure) -> str:
    if failure.error_class in ("empty", "partial", "timeout"):
        return _ERRORS[failure.error_class]
    if failure.error_text:
        return f"answered “{_shortened(failure.error_text)}”"
    return _ERRORS.get(failure.error_class, f"answered {failure.error_class}")


def _order(failure: Failure) -> str:
    if failure.other in ("", NONE):
        return "The right tools called in another order"
    return f"`{failure.tool}` called before `{failure.other}`"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR].rstrip()}…"


@dataclass(frozen=True, slots=True)
class Fixes:
    """The fixes of a failure: one at once, around the agent, and one for good, where it comes from."""

    immediate: str
    lasting: str


def fixes_of(failure: Failure) -> Fixes:
    """Return what to do about a failure, by its layer and mode."""
    names = {"tool": failure.tool, "other": failure.other, "argument": failure.argument or "the argument"}
    if failure.layer == TOOL:
        pair = _ERROR_FIXES.get(failure.error_class, _ERROR_FIXES["400"])
    else:
        pair = _FIXES.get(failure.mode) or _LAYER_FIXES[failure.layer]
    return Fixes(*(text.format(**names) for text in pair))


_FIXES: Final[Mapping[str, tuple[str, str]]] = {
    "wrong_tool": (
        "Say in the prompt when `{tool}` is due and `{other}` is not.",
        "Tell the two apart in their descriptions: the page of the matrix says by which words.",
    ),
    "hallucinated_tool": (
        "Refuse calls of tools that are not offered, and answer with the names of those that are.",
        "Name the tool as people ask for it, or say in its description that it does this.",
    ),
    "tool_not_offered": (
        "Refuse calls of tools that are not offered, and answer with the names of those that are.",
        "Offer `{tool}`, or take it out of the prompt and of the descriptions of other tools.",
    ),
    "called_in_a_loop": (
        "Refuse a call of `{tool}` that is the same as the two before it.",
        "Let the answer of `{tool}` say that nothing has changed, and what to do next.",
    ),
    "over_limit": (
        "End a conversation at the limit, and say so to the user.",
        "Look at the longest traces: offer fewer tools, and let tools return less.",
    ),
    "missed_call": (
        "Say in the prompt that `{tool}` must be called, not only may.",
        "Start the description of `{tool}` with when to call it, and add an example.",
    ),
    "refused": (
        "Say in the prompt that `{tool}` is allowed, and when.",
        "Look for a rule in the prompt that forbids what `{tool}` does, and narrow it.",
    ),
    "needless_call": (
        "Let a person confirm `{tool}` until it is fixed, where it changes anything.",
        "Say in the description of `{tool}` what must be known before it is called, and add an example without a call.",
    ),
    "disallowed_call": (
        "Refuse `{tool}` by a policy in front of the agent.",
        "Take `{tool}` from the tools that are offered here, or say in the prompt that it must not be called.",
    ),
    "wrong_order": (
        "Refuse `{tool}` until the call that must come before it has answered.",
        "Say in the description of `{tool}` what must be done first.",
    ),
    "malformed_output": (
        "Let the model answer with tool calls of its provider, not with text.",
        "Tighten the instruction to one JSON object and nothing else.",
    ),
    "schema_error": (
        "Refuse calls that break the schema before they are made, and answer with the rule that they break.",
        "Describe `{argument}` of `{tool}` in its schema with its form, and send the tool strictly where it can be.",
    ),
    "missing_argument": (
        "Ask the user for `{argument}` before `{tool}` is called.",
        "Require `{argument}` in the schema of `{tool}`, or say in its description when it is needed.",
    ),
    "extra_argument": (
        "Say in the prompt to leave `{argument}` out unless the user names it.",
        "Say in the schema of `{tool}` when `{argument}` may be given, or take it out.",
    ),
    "gave_up": (
        "Say in the prompt what to do when a tool fails: try once more, ask, or tell the user.",
        "Let `{tool}` answer an error with what would help: what is wrong, and what to do.",
    ),
    "fabricated_success": (
        "Say in the prompt never to confirm what a tool has not confirmed.",
        "Let `{tool}` answer errors in words that cannot be read as success, and check confirmations by a grader.",
    ),
}
_LAYER_FIXES: Final[Mapping[str, tuple[str, str]]] = {
    "selection": ("Say in the prompt when `{tool}` is due.", "Start the description of `{tool}` with when to call it."),
    "arguments": (
        "Say in the prompt where the value of {argument} comes from.",
        "Describe {argument} of `{tool}` in its schema with its form, its unit and an example.",
    ),
    "result_use": (
        "Say in the prompt to repeat only what tools returned.",
        "Let tools return fewer fields, with names that say what they hold.",
    ),
    "recovery": (
        "Say in the prompt what to do when `{tool}` fails, and limit how often a call is sent again.",
        "Let `{tool}` say in its errors whether trying again helps.",
    ),
    "answer": (
        "Say in the prompt which facts an answer must name.",
        "Add examples whose answers name them, and check them by a gate.",
    ),
    "execution": (
        "Compare the end state of a case with the expected one: its page shows each difference.",
        "Correct the gold where the end state is right, else the arguments that no label compares.",
    ),
    "outcome": (
        "Read the first cases: their pages say what decided.",
        "Label these examples in more detail, so that each failure has a layer.",
    ),
}
_ERROR_FIXES: Final[Mapping[str, tuple[str, str]]] = {
    "400": (
        "Say in the prompt what `{tool}` requires.",
        "Put the rule that the error names into the schema or description of `{tool}`.",
    ),
    **dict.fromkeys(
        ("401", "403"),
        ("Check the credentials and rights of `{tool}`.", "Offer `{tool}` only where the agent may use it."),
    ),
    "404": (
        "Let the agent look up the id before it calls `{tool}`.",
        "Say in the description of `{tool}` where its ids come from.",
    ),
    "429": (
        "Slow the agent down, and let it wait before it calls `{tool}` again.",
        "Give `{tool}` a larger limit, or one call that answers many.",
    ),
    **dict.fromkeys(
        ("408", "5xx", "timeout"),
        (
            "Try again after a moment, a few times at most.",
            "Fix `{tool}` or what it depends on, or offer a substitute.",
        ),
    ),
}
