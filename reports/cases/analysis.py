"""Compare one case's calls and the state that they left, expected next to actual, in words for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reports.run.analysis import ARGUMENTS, MODES, words
from toolevals.grading.engine.compiled import compile_case
from toolevals.grading.engine.counted_calls import CountedCalls, attempts_that_count, counted_calls
from toolevals.grading.matching.equality import composed_otherwise, unseen_difference
from toolevals.grading.values import CallExpectation, Expectation, MalformedCall, ToolCall, Transcript
from toolevals.grading.values.verdicts import (
    CALLS,
    EXPECTED,
    NONE,
    UNKNOWN_TOOL,
    UNPARSED,
    ArgumentDifference,
    CaseGrade,
    Pair,
    decided_words,
    parts_of,
)
from toolevals.json_types import JsonMapping

LONGEST_VALUE = 2000


def matcher_text(document: Any) -> str:
    """Return a matcher's document as a phrase: "one of 3, 4"."""
    if not isinstance(document, Mapping):
        return value_text(document)
    kind = next((name for name in MATCHER_WORDS if name in document), None)
    if kind is None:
        return value_text(document)
    text = MATCHER_WORDS[kind](document[kind])
    return f"{text}, or absent" if document.get("optional") else text


def value_text(value: Any) -> str:
    """Return a value as JSON on one line, cut where it is very long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def path_text(pointer: str) -> str:
    """Return a JSON pointer as it is read: "/a/0/b" is "a[0].b"."""
    text = ""
    for raw in pointer.split("/")[1:]:
        part = raw.replace("~1", "/").replace("~0", "~")
        text += f"[{part}]" if part.isdigit() and text else f".{part}" if text else part
    return text or "arguments"


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"at most {value_text(high)}" if low is None else f"at least {value_text(low)}"
    return f"{value_text(low)} to {value_text(high)}"


def _approximately(value: float, absolute: float | None = None, relative: float | None = None) -> str:
    tolerances = [value_text(absolute)] if absolute is not None else []
    tolerances += [f"{value_text(relative)} of it"] if relative is not None else []
    return f"{value_text(value)} within {' or '.join(tolerances)}"


def _date_in_formats(content: JsonMapping) -> str:
    return f"the date {value_text(content['date'])}, read as {' or '.join(content['formats'])}"


def _result_of(call: int, pointer: str = "", **found: Any) -> str:
    text = f"result of call {call}{f' at {pointer}' if pointer else ''}"
    return f"{text}: {value_text(found['value'])}" if found else text


# A matcher's kind -> how its content reads.
MATCHER_WORDS: Final[dict[str, Callable[[Any], str]]] = {
    "exact": value_text,
    "key_only": lambda _: "any value",
    "one_of": lambda values: "one of " + ", ".join(value_text(value) for value in values),
    "range": lambda bounds: _range(*bounds),
    "pattern": lambda text: f"matches {text}",
    "contains": lambda text: f"contains {value_text(text)}",
    "has_prefix": lambda text: f"begins with {value_text(text)}",
    "has_suffix": lambda text: f"ends with {value_text(text)}",
    "natural_language": lambda text: f"in words: {text}",
    "fields": lambda fields: "{" + ", ".join(f"{name}: {matcher_text(each)}" for name, each in fields.items()) + "}",
    "items": lambda items: "[" + ", ".join(matcher_text(each) for each in items) + "]",
    "absent": lambda _: "must be absent",
    "approximately": lambda content: _approximately(**content),
    "result_of": lambda content: _result_of(**content),
    "date_equal": lambda date: f"the date {value_text(date)}" if isinstance(date, str) else _date_in_formats(date),
}


DIFFERENCE_WORDS: Final = {"same": "same", "changed": "another value", "missing": "missing", "extra": "extra"}

COMPOSED: Final = "same letters, composed in another way (NFC)"

# Failure mode -> what happened, with the case's place in the matrix.
TITLES: Final = {
    "wrong_tool": "Called {actual} where {expected} was expected",
    "missed_call": "Did not call {expected}, which was expected",
    "refused": "Declined where {expected} was expected",
    "needless_call": "Called {actual} where no call was expected",
    "hallucinated_tool": "Called a tool that is not offered",
    "malformed_output": "Wrote a malformed call",
    "adapter_error": "The agent could not be reached",
    "harness_error": "Grading failed for this case",
    "wrong_state": "Right calls, wrong end state",
    "cut_off": "Stopped early",
}


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One line of the table: `kind` is same, changed, missing, extra, or "" where the two are not compared."""

    path: str
    expected: str | None
    actual: str | None
    kind: str
    note: str


@dataclass(frozen=True, slots=True)
class ComparedCall:
    """One expected call next to the actual one: the tools, then the arguments that differ, then those that agree."""

    rows: tuple[ComparedRow, ...]
    agreed: tuple[ComparedRow, ...]

    @property
    def right(self) -> bool:
        return all(row.kind == "same" for row in self.rows)


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call of the transcript with what it is worth.

    That is "passed", "failed", "beside" where no one expected it and the gold lets it be, "repeated" where it failed
    and a later try counts in its place, "forgiven" where it was the right reaction to a failure (the reason of
    `selection` names it), or "" where nothing is known.
    """

    call: ToolCall | MalformedCall
    status: str


def compared_calls(
    grade: CaseGrade, expectation: Expectation | None, transcript: Transcript | None
) -> tuple[ComparedCall, ...]:
    """Return each aligned pair as a small table."""
    expected = _Pool([(call.tool, call) for call in _expected_calls(expectation)])
    actual = _Pool([(call_class(call), call) for call in _counted(grade, expectation, transcript).calls])
    return tuple(
        _compared(
            number,
            pair,
            grade,
            expected.take(pair.expected),
            actual.take(pair.actual),
            let_be=_let_be(pair, expectation),
        )
        for number, pair in enumerate(grade.pairs)
    )


def shown_calls(
    grade: CaseGrade, transcript: Transcript, expectation: Expectation | None = None
) -> tuple[ShownCall, ...]:
    """Return the transcript's calls, each marked by the pair that it belongs to."""
    left = list(grade.pairs)
    counted = _counted(grade, expectation, transcript)
    forgiven = {each["call"] for each in grade.details.get("selection", {}).get("forgiven", ())}
    shown = []
    for place, call in enumerate(transcript.calls):
        if place not in counted.places:
            shown.append(ShownCall(call, "forgiven" if place in forgiven else "repeated"))
            continue
        pair = next((pair for pair in left if call_class(call) in (pair.actual, "") or _hallucinated(call, pair)), None)
        if pair is None:
            shown.append(ShownCall(call, ""))
            continue
        left.remove(pair)
        wrong = pair.expected != pair.actual or pair.arguments == "failed"
        shown.append(ShownCall(call, "beside" if _let_be(pair, expectation) else "failed" if wrong else "passed"))
    return tuple(shown)


def _counted(grade: CaseGrade, expectation: Expectation | None, transcript: Transcript | None) -> CountedCalls:
    """Return the calls that count: those that the grade names, where some were forgiven."""
    if transcript is None:
        return CountedCalls((), ())
    if (named := grade.details.get("selection", {}).get("counted")) is not None:
        return CountedCalls(tuple(transcript.calls[place] for place in named), tuple(named))
    if expectation is None:
        return counted_calls(transcript)
    return attempts_that_count(compile_case(expectation, ()), transcript)


def case_title(grade: CaseGrade) -> str:
    """Return what went wrong, as the case page's title."""
    status = grade.outcome.status
    if status == "passed":
        if grade.decided_by != EXPECTED and CALLS not in parts_of(grade.decided_by):
            # The calls may have been others.
            return f"Right by {decided_words(grade.decided_by)}"
        return "Correctly made no call" if grade.expected == NONE else "Right tool, right arguments"
    if status == "unscored":
        return "Not scored"
    if grade.mode in TITLES:
        return TITLES[grade.mode].format(expected=grade.expected, actual=grade.actual)
    text = words(grade.mode) or ("error while grading" if status == "errored" else "failed")
    return f"Right tool, {text}" if MODES.get(grade.mode) == ARGUMENTS else f"{text[0].upper()}{text[1:]}"


def call_class(call: ToolCall | MalformedCall) -> str:
    """Return the class of the matrix that a call would fall into if its tool were offered."""
    return UNPARSED if isinstance(call, MalformedCall) else call.name


class _Pool:
    """Calls by class, each taken once, in order."""

    def __init__(self, calls: Sequence[tuple[str, Any]]) -> None:
        self.calls = list(calls)

    def take(self, name: str) -> Any:
        for place, (each, call) in enumerate(self.calls):
            if each == name or (name == UNKNOWN_TOOL and each != UNPARSED):
                del self.calls[place]
                return call
        return None


def _compared(
    number: int,
    pair: Pair,
    grade: CaseGrade,
    expected: CallExpectation | None,
    actual: ToolCall | MalformedCall | None,
    *,
    let_be: bool,
) -> ComparedCall:
    tool = ComparedRow(
        "tool",
        "no call" if pair.expected == NONE else pair.expected,
        "no call" if pair.actual == NONE else _actual_name(pair, actual),
        "same" if pair.expected == pair.actual else "" if let_be else "changed",
        "same" if pair.expected == pair.actual else "extra, allowed" if let_be else _tool_note(pair),
    )
    differences = [difference for difference in grade.differences if difference.pair == number]
    rows = [
        ComparedRow(
            path_text(each.path),
            None if each.kind == "extra" else matcher_text(each.expected),
            None if each.kind == "missing" else value_text(each.actual),
            each.kind,
            _difference_note(each),
        )
        for each in differences
    ] or _side_by_side(expected, actual)
    agreed = tuple(row for row in rows if row.kind == "same" and row.note != COMPOSED)
    return ComparedCall((tool, *(row for row in rows if row not in agreed)), agreed)


def _difference_note(each: ArgumentDifference) -> str:
    """Return how two values differ, and what of it no one sees."""
    if each.kind == "same" and composed_otherwise(each.actual, each.expected):
        return COMPOSED
    wanted = each.expected.get("exact") if isinstance(each.expected, Mapping) else None
    unseen = unseen_difference(each.actual, wanted) if each.kind == "changed" else ""
    return f"{DIFFERENCE_WORDS[each.kind]} by {unseen}" if unseen else DIFFERENCE_WORDS[each.kind]


def _side_by_side(expected: CallExpectation | None, actual: ToolCall | MalformedCall | None) -> list[ComparedRow]:
    wanted = {name: matcher.to_document() for name, matcher in expected.arguments.items()} if expected else {}
    given = actual.arguments if isinstance(actual, ToolCall) else {}
    return [
        ComparedRow(
            name,
            matcher_text(wanted[name]) if name in wanted else None,
            value_text(given[name]) if name in given else None,
            "",
            "not compared",
        )
        for name in dict.fromkeys((*wanted, *given))
    ]


def _actual_name(pair: Pair, actual: ToolCall | MalformedCall | None) -> str:
    if isinstance(actual, ToolCall):
        return actual.name
    return (actual.name if actual else None) or pair.actual


def _tool_note(pair: Pair) -> str:
    if pair.expected == NONE:
        return "needless call"
    notes = {NONE: "no call made", UNKNOWN_TOOL: "not offered", UNPARSED: "can’t be read"}
    return notes.get(pair.actual, "another tool")


def _hallucinated(call: ToolCall | MalformedCall, pair: Pair) -> bool:
    return pair.actual == UNKNOWN_TOOL and isinstance(call, ToolCall)


def _let_be(pair: Pair, expectation: Expectation | None) -> bool:
    return pair.expected == NONE and expectation is not None and expectation.lets_be(pair.actual)


def _expected_calls(expectation: Expectation | None) -> list[CallExpectation]:
    if expectation is None:
        return []
    return [call for alternative in expectation.alternatives for call in alternative.calls]


KINDS: Final = ("wrong", "missing", "polluted")
# How each is drawn: as another value, as one that is missing, as one too many.
_DRAWN: Final = {"wrong": "changed", "missing": "missing", "polluted": "extra"}


@dataclass(frozen=True, slots=True)
class ChangedRecord:
    """One record of the state, such as `orders.W1`, with the places where it is not as expected."""

    name: str
    rows: tuple[ComparedRow, ...]


@dataclass(frozen=True, slots=True)
class StateComparison:
    """The records that differ, in the order of the grade, and how many further differences it does not list."""

    records: tuple[ChangedRecord, ...] = ()
    more: int = 0


def compared_state(details: JsonMapping) -> StateComparison:
    """Return the differences of the `execution` details of a grade, by record."""
    execution = details.get("execution", {})
    records: dict[str, list[ComparedRow]] = {}
    for each in _differences(execution):
        record, path = each["record"], each["path"]
        where = path_text(path[len(record) :]) if path != record else "whole record"
        row = ComparedRow(where, _side(each, "expected"), _side(each, "actual"), _DRAWN[each["kind"]], each["kind"])
        records.setdefault(record, []).append(row)
    return StateComparison(
        tuple(ChangedRecord(path_text(record) if record else "state", tuple(rows)) for record, rows in records.items()),
        sum(execution.get("more", {}).values()),
    )


def state_differences(details: JsonMapping) -> Iterator[tuple[str, str, str, str | None, str | None]]:
    """Yield kind, record, path, expected and actual of each difference, as they are downloaded."""
    for each in _differences(details.get("execution", {})):
        yield each["kind"], each["record"], each["path"], _side(each, "expected"), _side(each, "actual")


def _differences(found: JsonMapping) -> Iterator[JsonMapping]:
    for kind in KINDS:
        yield from found.get(kind, ())


def _side(difference: JsonMapping, side: str) -> str | None:
    """Return a side as text, None where there is nothing; of what was too long to keep, its beginning."""
    if f"{side}_cut" in difference:
        return str(difference[f"{side}_cut"])
    return value_text(difference[side]) if side in difference else None
