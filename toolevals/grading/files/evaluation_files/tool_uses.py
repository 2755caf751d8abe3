"""Reads expected calls and made calls of test cases that keep them as two lists: DeepEval, Ragas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolevals.grading.files.evaluation_files.content import expected_answer
from toolevals.grading.files.evaluation_files.entries import accepted
from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.reading.parsing.content import result_text
from toolevals.grading.reading.parsing.json_calls import call_of
from toolevals.grading.values import Call, CallExpectation, Expectation, Message, Trajectory
from toolevals.grading.values.problems import InvalidDocument, Problem

NO_ARGUMENTS = "says no arguments: expected with any"


def expected_tools(
    given: Any, key: str, words: Any, pointer: str, words_pointer: str
) -> tuple[Expectation | None, tuple[Problem, ...]]:
    """Return what a list of expected calls (arguments under `key`) and expected words mean; None for neither.

    An empty list is no call. A call without arguments is expected with any, and a loss says so.
    """
    said = words if isinstance(words, str) and words.strip() else ""
    if given is None and said and (called := calls_in_text(said, ())):
        return accepted([called], words_pointer), ()
    if given is None:
        return (expected_answer([said]), ()) if said else (None, ())
    if not isinstance(given, list):
        raise InvalidDocument.at(pointer, "is not a list of calls")
    answer = {"contains": [said]} if said else None
    if not given:
        return Expectation("no_call", answer=answer), ()
    calls = calls_in(given, key, pointer)
    free = {place for place, item in enumerate(given) if isinstance(item, Mapping) and item.get(key) is None}
    (trajectory,) = accepted([calls], pointer).alternatives
    expected = tuple(
        CallExpectation(call.tool) if place in free else call for place, call in enumerate(trajectory.calls)
    )
    losses = tuple(Problem(f"{pointer}/{place}", NO_ARGUMENTS) for place in sorted(free))
    made = Trajectory(unordered=expected, additional_calls=False)
    return Expectation("calls", alternatives=(made,), answer=answer), losses


def calls_in(given: Any, key: str, pointer: str, *, with_ids: bool = True) -> tuple[Call, ...]:
    """Return the calls of a list of `{"name", key: arguments}`. Raises InvalidDocument where it is no such list."""
    if not isinstance(given, list):
        raise InvalidDocument.at(pointer, "is not a list of calls")
    calls = []
    for place, item in enumerate(given):
        if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
            raise InvalidDocument.at(f"{pointer}/{place}", "is not a call with a name")
        identifier = f"call-{place + 1}" if with_ids else None
        calls.append(call_of(item["name"], item.get(key), identifier, shown_as=dict(item)))
    return tuple(calls)


def messages_made(calls: Sequence[Call], results: Sequence[Any], words: Any) -> tuple[Message, ...]:
    """Return calls, one message for all, the results that are there, and the words that came last."""
    made = [Message("assistant", None, tuple(calls))] if calls else []
    made += [
        Message("tool", result_text(result), call_id=call.id)
        for call, result in zip(calls, results, strict=True)
        if result is not None
    ]
    return (*made, Message("assistant", words)) if isinstance(words, str) and words else tuple(made)
