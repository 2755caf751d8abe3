"""Tells which cases are alike, and keeps what is said of them.

Most cases are one call where one call is expected. Where it is as expected, or names another tool, little of what is
said depends on its arguments: it is worked out for the first of such cases, and taken from there for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.values import Call, ToolCall, ToolSpec
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

# The list of tools (by its identity), the profile, the expected tool, the one that was called, whether others may be
# called too, and whether the call is as expected.
AlikeKey = tuple[int, str, str, str, bool, bool]
Kept = TypeVar("Kept")

_MOST_KEPT = 512
# Of a tool's name: a model may invent one of any length.
_LONGEST_NAME = 200
# A label that names one of these is like no others: the classes of two tools may be one then.
_NO_TOOLS = frozenset({NONE, UNKNOWN_TOOL, UNPARSED})


class Alike(Generic[Kept]):
    """Holds what is said of cases that are alike, by their keys; bounded, for any number of lists of tools.

    An entry that is not asked for while half of the bound is added is dropped.
    """

    __slots__ = ("_before", "_kept")

    def __init__(self) -> None:
        # With the list of tools, whose identity no other can have as long as it is kept here.
        self._kept: dict[AlikeKey, tuple[Kept, tuple[ToolSpec, ...]]] = {}
        self._before: dict[AlikeKey, tuple[Kept, tuple[ToolSpec, ...]]] = {}

    def get(self, key: AlikeKey) -> Kept | None:
        """Return what is kept under a key; None where nothing is."""
        if (known := self._kept.get(key)) is None:
            if (known := self._before.get(key)) is None:
                return None
            self._put(key, known)
        return known[0]

    def keep(self, key: AlikeKey, said: Kept, compiled: CompiledCase) -> Kept:
        """Keep and return what is said of the cases with a key, of which this is one."""
        self._put(key, (said, compiled.offer.specs))
        return said

    def _put(self, key: AlikeKey, known: tuple[Kept, tuple[ToolSpec, ...]]) -> None:
        if len(self._kept) >= _MOST_KEPT // 2:
            self._before, self._kept = self._kept, {}
        self._kept[key] = known


def alike_key(compiled: CompiledCase, calls: Sequence[Call], *, is_right: bool) -> AlikeKey | None:
    """Return the key of one call where one is expected and nothing else will do; None of any other calls.

    `is_right` says that the call is as expected. Where it is not, it must name another tool, and two such calls are
    alike where both keep their schemas.
    """
    in_place = compiled.in_place
    if in_place is None or len(calls) != 1 or not in_place.is_alone or compiled.profile.judge is not None:
        return None
    call, tool = calls[0], in_place.places[0].expectation.tool
    if type(call) is not ToolCall or tool in _NO_TOOLS or max(len(call.name), len(tool)) > _LONGEST_NAME:
        return None
    others = compiled.expectation.alternatives[0].additional_calls
    return id(compiled.offer.specs), compiled.profile.name, tool, call.name, others, is_right
