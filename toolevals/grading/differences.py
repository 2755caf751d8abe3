"""The arguments of one expected call beside those of the actual one, path by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.equality import Profile
from toolevals.grading.matchers import Exact, Fields, Items, Matcher
from toolevals.grading.matching import CompiledCall, compile_call
from toolevals.grading.problems import pointer_to
from toolevals.grading.values import CallExpectation
from toolevals.grading.verdicts import ArgumentDifference


def argument_differences(
    expected: CompiledCall, actual: Mapping[str, Any], profile: Profile, pair: int
) -> Iterator[ArgumentDifference]:
    """Yield every argument that is expected or there, equal ones included; objects and lists are opened where wrong.

    An argument that nobody asked for and that is allowed is "same" with nothing expected.
    """
    return _differences(expected, actual, profile, pair, "")


def _differences(
    expected: CompiledCall, actual: Mapping[str, Any], profile: Profile, pair: int, path: str
) -> Iterator[ArgumentDifference]:
    for name, argument in expected.arguments.items():
        here = path + argument.pointer
        if name not in actual:
            if argument.required:
                yield ArgumentDifference(here, argument.document, None, "missing", pair)
        elif argument.forbidden:
            yield ArgumentDifference(here, argument.document, actual[name], "extra", pair)
        elif argument.test(actual[name]) is not False:
            yield ArgumentDifference(here, argument.document, actual[name], "same", pair)
        else:
            yield from _wrong(argument.matcher, actual[name], profile, pair, here)
    for name in actual:
        if name not in expected.arguments:
            kind: Any = "same" if expected.expectation.additional_arguments else "extra"
            yield ArgumentDifference(path + pointer_to((name,)), None, actual[name], kind, pair)


def _wrong(matcher: Matcher, value: Any, profile: Profile, pair: int, path: str) -> Iterator[ArgumentDifference]:
    opened, inside = _opened(matcher), value
    if isinstance(opened, Items) and isinstance(value, list) and len(value) == len(opened.items):
        opened = Fields({str(place): item for place, item in enumerate(opened.items)})
        inside = {str(place): item for place, item in enumerate(value)}
    if isinstance(opened, Fields) and isinstance(inside, dict):
        call = compile_call(CallExpectation("", opened.fields, opened.additional_fields), profile)
        yield from _differences(call, inside, profile, pair, path)
    else:
        yield ArgumentDifference(path, matcher.to_document(), value, "changed", pair)


def _opened(matcher: Matcher) -> Matcher:
    if isinstance(matcher, Exact) and isinstance(matcher.value, dict):
        return Fields({name: Exact(value) for name, value in matcher.value.items()})
    if isinstance(matcher, Exact) and isinstance(matcher.value, list):
        return Items(tuple(Exact(value) for value in matcher.value))
    return matcher
