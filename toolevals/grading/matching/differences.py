"""Sets the arguments of one expected call next to those of the actual one, path by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from toolevals.grading.matching.compiled_calls import CompiledCall, compile_call
from toolevals.grading.matching.equality import Profile
from toolevals.grading.values import CallExpectation
from toolevals.grading.values.matchers import Exact, Fields, Items, Matcher
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.verdicts import ArgumentDifference, DifferenceKind

# An argument with more parts than this is shown whole: no one reads so many, and every case is kept.
MOST_PARTS = 100


def argument_differences(
    expected: CompiledCall, actual: Mapping[str, Any], profile: Profile, pair: int
) -> Iterator[ArgumentDifference]:
    """Yield every argument that is expected or there, equal ones included.

    Objects and lists are opened where they are wrong, down to the part that is: an equal part is one difference of
    kind "same", whatever is in it. Lists are compared place by place. An argument that no one asked for and that is
    allowed is "same" with nothing expected.
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
        elif isinstance(actual[name], dict | list | tuple):
            yield from _wrong(argument.matcher, actual[name], profile, pair, here)
        else:
            yield ArgumentDifference(here, argument.document, actual[name], "changed", pair)
    for name in actual:
        if name not in expected.arguments:
            kind: DifferenceKind = "same" if expected.expectation.additional_arguments else "extra"
            yield ArgumentDifference(path + pointer_to((name,)), None, actual[name], kind, pair)


def _wrong(matcher: Matcher, value: Any, profile: Profile, pair: int, path: str) -> list[ArgumentDifference]:
    parts = _parts(matcher, value, profile, pair, path)
    if parts is None or len(parts) > MOST_PARTS:
        return [ArgumentDifference(path, matcher.to_document(), value, "changed", pair)]
    return parts


def _parts(matcher: Matcher, value: Any, profile: Profile, pair: int, path: str) -> list[ArgumentDifference] | None:
    """Return a wrong value's parts; None where it cannot be opened."""
    if isinstance(matcher, Exact):
        values = _Values(profile, pair)
        values.compare(matcher.value, value, path)
        return None if values.found[0].path == path else values.found
    fields, inside = matcher, value
    if isinstance(matcher, Items) and isinstance(value, list):
        # An item cannot be left out.
        fields = Fields({str(place): replace(item, optional=False) for place, item in enumerate(matcher.items)})
        inside = {str(place): item for place, item in enumerate(value)}
    if isinstance(fields, Fields) and isinstance(inside, dict):
        call = compile_call(CallExpectation("", fields.fields, fields.additional_fields), profile)
        return list(_differences(call, inside, profile, pair, path))
    return None


# What stands beside an item that the other list lacks.
_NOTHING = object()


@dataclass(slots=True)
class _Values:
    """Two values compared in one walk, however deep they are, so that each part is looked at once."""

    profile: Profile
    pair: int
    found: list[ArgumentDifference] = field(default_factory=list)

    def compare(self, expected: Any, actual: Any, path: str) -> bool:
        """Add the differences between two values, or that they are the same, and tell which."""
        if expected is _NOTHING or actual is _NOTHING:
            return self._add(path, expected, actual, "extra" if expected is _NOTHING else "missing")
        if isinstance(expected, dict) and isinstance(actual, dict):
            keys = [*expected, *(key for key in actual if key not in expected)]
            parts = [(key, expected.get(key, _NOTHING), actual.get(key, _NOTHING)) for key in keys]
        elif isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
            places = zip_longest(expected, actual, fillvalue=_NOTHING)
            parts = [(str(place), *each) for place, each in enumerate(places)]
        else:
            return self._add(path, expected, actual, "same" if self.profile.equal(expected, actual) else "changed")
        before = len(self.found)
        same = [self.compare(one, other, path + pointer_to((name,))) for name, one, other in parts]
        if not all(same):
            return False
        del self.found[before:]
        return self._add(path, expected, actual, "same")

    def _add(self, path: str, expected: Any, actual: Any, kind: DifferenceKind) -> bool:
        wanted = None if expected is _NOTHING else {"exact": expected}
        given = None if actual is _NOTHING else actual
        self.found.append(ArgumentDifference(path, wanted, given, kind, self.pair))
        return kind == "same"
