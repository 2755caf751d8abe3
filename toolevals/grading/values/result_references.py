"""Finds references to results of earlier calls, anywhere in a matcher."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from toolevals.grading.values.matchers import Fields, Items, Matcher, ResultOf
from toolevals.grading.values.problems import pointer_to

_REFERRING = (ResultOf, Fields, Items)


def may_refer(matcher: Matcher) -> bool:
    """Tell whether a matcher is of a kind that refers to results, or has others inside that may."""
    return isinstance(matcher, _REFERRING)


def references_in(matcher: Matcher, pointer: str = "") -> Iterator[tuple[str, ResultOf]]:
    """Yield the references to results in a matcher, with the JSON pointers to them in its document."""
    match matcher:
        case ResultOf():
            yield pointer, matcher
        case Fields():
            for name, inner in matcher.fields.items():
                yield from references_in(inner, f"{pointer}/fields{pointer_to([name])}")
        case Items():
            for place, inner in enumerate(matcher.items):
                yield from references_in(inner, f"{pointer}/items/{place}")


def with_references(matcher: Matcher, change: Callable[[ResultOf], ResultOf]) -> Matcher:
    """Return the matcher with each reference in it changed."""
    match matcher:
        case ResultOf():
            return change(matcher)
        case Fields():
            return replace(
                matcher, fields={name: with_references(each, change) for name, each in matcher.fields.items()}
            )
        case Items():
            return replace(matcher, items=tuple(with_references(each, change) for each in matcher.items))
        case _:
            return matcher
