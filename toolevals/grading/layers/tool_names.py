"""Works out F1 between the names of the expected tools and of the called ones, case by case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from toolevals.grading.alignment.assignment import best_assignment
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.values import Call, Expectation, options_of
from toolevals.grading.values.verdicts import NONE


def name_f1(expected: Collection[str], called: Collection[str]) -> float:
    """Return F1 between two multisets of names, 0..1: 2·common / (expected + called); 1 where both are empty."""
    if expected == called or not (expected or called):
        return 1.0
    common = sum((Counter(expected) & Counter(called)).values())
    return 2 * common / (len(expected) + len(called))


def tool_name_f1(expectation: Expectation, calls: Sequence[Call]) -> float | None:
    """Return F1 between the expected and the called tools' names, with the alternative that fits best, 0..1.

    Order and arguments do not matter, and how often a tool is called does. Names are compared under the expectation's
    profile. An attempt at a call that no one can read counts as a call, by its name where it has one. None for
    `some_call`, which expects no certain name. Source: the assertion `tool_name_f1`.
    """
    if expectation.kind == "some_call":
        return None
    if expectation.kind == "no_call":
        return name_f1((), [call.name or "" for call in calls])
    form = PROFILES[expectation.profile].tool_name
    called = [form(call.name or "") for call in calls]
    expected = (
        [[form(option.tool) for option in options_of(each)] for each in trajectory.expected]
        for trajectory in expectation.alternatives
    )
    return max(_f1_with_choices(names, called) for names in expected)


def pairs_name_f1(pairs: Iterable[tuple[str, str]]) -> float:
    """Return `tool_name_f1` from a case's aligned pairs (expected, actual), `(none)` for neither.

    Of several alternatives it is that of the one which fits the calls best.
    """
    expected, called = [], []
    for wanted, made in pairs:
        expected += [wanted] if wanted != NONE else []
        called += [made] if made != NONE else []
    return name_f1(expected, called)


def _f1_with_choices(expected: Sequence[Sequence[str]], called: Sequence[str]) -> float:
    if all(len(options) == 1 for options in expected):
        return name_f1([options[0] for options in expected], called)
    # Of each choice the option that serves best: as many names as can be put to calls.
    assigned = best_assignment([[int(name in options) for name in called] for options in expected])
    common = sum(column is not None for column in assigned)
    return 2 * common / (len(expected) + len(called))
