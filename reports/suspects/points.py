"""Tell what one failed case says against the gold, read from its grade. Plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reports.analyses.agent_evidence import Point
from reports.analyses.suspicion import AGREEMENT, LEFT_OUT
from reports.cases.analysis import matcher_text, path_text, value_text
from toolevals.grading.values.verdicts import NONE

# Tool -> "reads", "writes" or "unknown".
EffectOf = Callable[[str], str]


def points_of(detail: Mapping[str, Any], effect: EffectOf) -> Iterator[Point]:
    """Yield what a case says against the gold that it failed.

    Among several calls one that only looks something up leaves no trace, so that its absence or presence says nothing.
    A tool in place of another is an answer where one call is expected and one is made; else it is a missed call.
    """
    pairs = detail["pairs"]
    due = sum(pair["expected"] != NONE for pair in pairs)
    made = sum(pair["actual"] != NONE for pair in pairs)
    for number, pair in enumerate(pairs):
        expected, actual = pair["expected"], pair["actual"]
        if expected == NONE:
            yield from _extra(detail, number, actual, due, effect)
        elif due == 1 and made <= 1 and actual != expected:
            yield Point(AGREEMENT, "the call", expected, _called(actual))
        elif due > 1 and effect(expected) == "reads":
            continue
        elif actual == expected:
            yield from _arguments(detail, number, expected)
        else:
            yield Point(LEFT_OUT, expected, str(number), "")


def _extra(detail: Mapping[str, Any], number: int, tool: str, due: int, effect: EffectOf) -> Iterator[Point]:
    """Yield a call that is not expected: one that writes, or whatever is called where nothing is expected."""
    if tool == NONE or effect(tool) == "reads" or (due and effect(tool) == "unknown"):
        return
    said = sorted((each["path"], value_text(each["actual"])) for each in _differences(detail, number))
    arguments = ", ".join(f"{path_text(path)}={value}" for path, value in said)
    yield Point(AGREEMENT, "an unexpected call", "", f"{tool}({arguments})")


def _arguments(detail: Mapping[str, Any], number: int, tool: str) -> Iterator[Point]:
    for each in _differences(detail, number):
        if each["kind"] == "same":
            continue
        expected = "nothing" if each["kind"] == "extra" else matcher_text(each["expected"])
        said = "nothing" if each["kind"] == "missing" else value_text(each["actual"])
        place = f"{path_text(each['path'])} of {tool}" + (f" (call {number + 1})" if number else "")
        yield Point(AGREEMENT, place, expected, said)


def _differences(detail: Mapping[str, Any], number: int) -> Iterator[Mapping[str, Any]]:
    yield from (each for each in detail["differences"] if each.get("pair", 0) == number)


def _called(actual: str) -> str:
    return "no call" if actual == NONE else actual
