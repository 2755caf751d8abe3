"""Failures of graded cases: the same failure has the same key, and each a name, a kind and fixes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.graded import GARBLED, PLAIN, RIGHT, TOOLS, called, expecting, graded
from toolevals.grading.engine.grader_catalog import MODES
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.failures import (
    CATEGORIES,
    LAYERS,
    Failure,
    category_of,
    failed_calls,
    failures_of,
    fixes_of,
    kind_of,
    name_of,
)
from toolevals.grading.layers.recovery import ERROR_CLASSES, REACTIONS
from toolevals.grading.layers.result_use.values import FINDING_SENTENCES
from toolevals.grading.values import CallExpectation, Expectation, Message, ToolCall, Transcript
from toolevals.grading.values.verdicts import CaseGrade


def found(expectation: Expectation, *calls) -> list[Failure]:
    transcript = called(*calls)
    return list(failures_of(graded(expectation, *calls), transcript))


def names(expectation: Expectation, *calls) -> list[str]:
    return [name_of(failure) for failure in found(expectation, *calls)]


def answered(*pairs: tuple[ToolCall, str]) -> Transcript:
    messages: list[Message] = []
    for call, result in pairs:
        messages += [Message("assistant", calls=(call,)), Message("tool", result)]
    return Transcript(tuple(messages))


@pytest.mark.parametrize(
    ("expectation", "calls", "said"),
    [
        (PLAIN, [RIGHT], []),
        (PLAIN, [ToolCall("history", {"order": "A-1"})], ["`history` called in place of `track`"]),
        (PLAIN, [], ["`track` not called"]),
        (Expectation("no_call"), [RIGHT], ["`track` called without need"]),
        (PLAIN, [ToolCall("teleport", {})], ["A tool that is not offered called in place of `track`"]),
        (PLAIN, [GARBLED], ["A call in place of `track` that cannot be read"]),
        (PLAIN, [ToolCall("track", {"order": "A-2"})], ["`order` of `track` differs from gold"]),
        (PLAIN, [ToolCall("track", {"order": "A-1", "limit": 3})], ["`limit` of `track` is not expected"]),
        (
            PLAIN,
            [ToolCall("track", {})],
            ["`order` of `track` is missing"],
        ),
        (PLAIN, [ToolCall("history", {"limit": "x"})], ["`history` called in place of `track`"]),
    ],
)
def test_a_failure_has_the_name_that_a_person_would_give_it(expectation, calls, said):
    assert sorted(names(expectation, *calls)) == sorted(said)


def test_calls_in_the_wrong_order_name_the_one_that_came_too_early():
    expectation = expecting(CallExpectation("track"), CallExpectation("refund"))
    assert names(expectation, ToolCall("refund", {}), ToolCall("track", {"order": "A-1"})) == [
        "`refund` called before `track`"
    ]


def test_the_same_wrong_argument_has_one_key_whatever_its_value():
    keys = {found(PLAIN, ToolCall("track", {"order": order}))[0].key for order in ("A-2", "B-7", "", "Ω")}
    assert len(keys) == 1


@given(st.text(max_size=40), st.text(max_size=40), st.integers())
def test_values_and_ids_never_split_a_key(first, second, number):
    wrong = [ToolCall("track", {"order": f"x{each}", "limit": number}) for each in (first, second)]
    assert {*found(PLAIN, wrong[0])} == {*found(PLAIN, wrong[1])}


@given(st.from_regex(r"\A[a-z]{3,9}_[a-z]{3,9}_[0-9]{4}\Z"), st.from_regex(r"\A[A-Z]{6}\Z"))
def test_errors_about_other_ids_have_one_key(user, order):
    said = [f"Error: order {each} not found" for each in (user, order, "W-1")]
    calls = [ToolCall("track", {"order": each}) for each in (user, order, "W-1")]
    [*failures] = [
        failure for call, text in zip(calls, said, strict=True) for failure in failed_calls(answered((call, text)))
    ]
    assert len(failures) == 3
    assert len({failure.key for failure in failures}) == 1
    assert name_of(failures[0]) == "`track` answers “Error: order … not found”"


def test_an_agent_that_gives_up_and_the_tool_that_failed_are_two_failures():
    transcript = Transcript(
        (
            Message("assistant", calls=(RIGHT,)),
            Message("tool", "Error: 503 Service Unavailable"),
            Message("user", "Hello?"),
        )
    )
    grades = grade(compile_case(PLAIN, TOOLS), transcript)
    assert grades.statuses["recovery"] == "failed"
    failures = failures_of(grades, transcript)
    assert [(failure.layer, failure.mode, failure.error_class) for failure in failures] == [
        ("recovery", "gave_up", "5xx"),
        ("tool", "tool_error", "5xx"),
    ]
    assert name_of(failures[0]) == "`track` answered “Error: 503 Service Unavailable” and the agent gave up"


def test_a_case_that_errored_has_no_failure():
    broken = graded(PLAIN)
    errored = CaseGrade.from_document(
        broken.to_document()
        | {
            "verdicts": {
                **broken.to_document()["verdicts"],
                "outcome": {"status": "errored", "value": None, "reason": ""},
            }
        }
    )
    assert failures_of(errored) == ()


def test_a_grade_read_from_its_document_has_the_same_failures():
    for call in (ToolCall("track", {}), ToolCall("history", {"limit": "x"}), GARBLED):
        direct = graded(PLAIN, call)
        assert failures_of(CaseGrade.from_document(direct.to_document()), called(call)) == failures_of(
            direct, called(call)
        )


def every_failure() -> list[Failure]:
    modes = [*MODES, *REACTIONS, *FINDING_SENTENCES, "tool_error", "looped", "failed"]
    errors = ["", *ERROR_CLASSES]
    return [
        Failure(layer, mode, "a_tool", "b_tool", "an_argument", error, "it broke")
        for layer in LAYERS
        for mode in modes
        for error in errors
    ]


def test_every_failure_has_a_name_a_kind_and_two_fixes():
    kinds = {kind for several in CATEGORIES.values() for kind in several}
    assert (len(CATEGORIES), len(kinds)) == (5, 30)
    for failure in every_failure():
        assert kind_of(failure) in kinds
        assert category_of(kind_of(failure)) in CATEGORIES
        fixes = fixes_of(failure)
        assert fixes.immediate.endswith(".")
        assert fixes.lasting.endswith(".")
        assert "{" not in name_of(failure) + fixes.immediate + fixes.lasting
    assert category_of("Nothing") == ""


def test_failures_that_differ_in_one_field_have_other_keys():
    failures = every_failure()
    assert len({failure.key for failure in failures}) == len(failures)
    assert all(Failure.from_document(failure.to_document()) == failure for failure in failures[:50])


def test_hostile_names_are_no_places_to_fill_in():
    hostile = Failure("arguments", "wrong_value", "{0.__class__}", "", "{tool}")
    assert name_of(hostile) == "`{tool}` of `{0.__class__}` differs from gold"
    assert "{0.__class__}" in fixes_of(hostile).lasting
