"""The call by which an agent reacts rightly to the failure of an expected call is no excess call."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.layers.recovery.scripts import call, says, script, user
from toolevals.grading.engine.case_metrics import case_metrics
from toolevals.grading.engine.grading import compile_case, grade, grade_calls
from toolevals.grading.values import CallExpectation, Expectation, Message, ToolCall, ToolSpec, Trajectory, Transcript
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.tools import ToolAnnotations, effect_of_name, hands_over
from toolevals.grading.values.verdicts import CaseGrade

DOWN, OK = "Error: 503 Service Unavailable", '{"state": "sent"}'
TOOLS = (
    ToolSpec("get_order"),
    ToolSpec("get_order_from_archive", "", {"properties": {"id": {"type": "string"}}}),
    ToolSpec("get_customer"),
    ToolSpec("update_order"),
    ToolSpec("update_order_by_mail"),
    ToolSpec("escalate_ticket"),
    ToolSpec("order_desk", annotations=ToolAnnotations(read_only=False)),
)
GOLD = CallExpectation("get_order", {"id": Exact("A-1")}, additional_arguments=False)
PLAIN = Expectation.single("get_order", {"id": "A-1"})
FULL = Expectation("calls", alternatives=(Trajectory((GOLD,)),))
FAILED = call("get_order", DOWN, id="A-1")
ARCHIVE = call("get_order_from_archive", OK, id="A-1")
PERSON = call("escalate_ticket", '{"ok": true}')
UPDATE = call("update_order_by_mail", OK, id="A-1")
ON_CALLS = ("selection", "arguments", "schema", "shape", "equivalence")


def graded(expectation: Expectation, *parts: Message | list[Message]) -> CaseGrade:
    return grade(compile_case(expectation, TOOLS), script(user("Where is order A-1?"), *parts))


def forgiven(found: CaseGrade) -> list[tuple[int, str]]:
    return [(each["call"], each["reaction"]) for each in found.detail("selection").get("forgiven", ())]


@pytest.mark.parametrize(
    ("reacted", "reaction"),
    [
        ([ARCHIVE, says("It was sent.")], "fallback_tool"),
        ([PERSON, says("A colleague will look at it.")], "escalation"),
        ([call("get_order", OK, id="A1"), says("It was sent.")], "corrected_retry"),
    ],
)
@pytest.mark.parametrize("expectation", [PLAIN, FULL])
def test_what_recovery_rewards_is_no_excess_call(expectation, reacted, reaction):
    first = call("get_order", "Error 404: no such order", id="A-1")
    found = graded(expectation, first, *reacted)
    assert found.statuses["recovery"] == "passed"
    assert [found.statuses[name] for name in ("outcome", "selection", "arguments", "equivalence")] == ["passed"] * 4
    assert [(pair.expected, pair.actual, pair.arguments) for pair in found.pairs] == [
        ("get_order", "get_order", "passed")
    ]
    assert forgiven(found) == [(1, reaction)]
    assert found.detail("selection")["counted"] == [0]
    told = f"is not an excess call: get_order was called as expected and failed; this was the {reaction.split('_')[0]}"
    assert told in found.verdicts["selection"].reason


@pytest.mark.parametrize(
    "parts",
    [
        # The failure came of the agent's own wrong arguments, alone or among others.
        [call("get_order", DOWN, id="A-2"), ARCHIVE],
        [FAILED, call("get_order", DOWN, id="A-1", full=True), ARCHIVE],
        # Nothing failed, or the answer was empty: that is an answer.
        [call("get_order", OK, id="A-1"), ARCHIVE],
        [call("get_order", "[]", id="A-1"), ARCHIVE],
        # The call before the failure is no reaction to it, and one that failed itself is none either.
        [ARCHIVE, FAILED],
        [FAILED, call("get_order_from_archive", DOWN, id="A-1"), says("I could not look up order A-1.")],
        [FAILED, call("escalate_ticket", DOWN), says("Nobody can look up order A-1, I'm sorry.")],
        # It stands in for nothing; it is not offered; it breaks its schema.
        [FAILED, call("get_customer", OK, name="Kim")],
        [FAILED, call("get_order_from_moon", OK, id="A-1")],
        [FAILED, call("get_order_from_archive", OK, id=1)],
        # It may change something.
        [FAILED, call("order_desk", OK, id="A-1")],
        # Of two that could stand in one is enough.
        [FAILED, ARCHIVE, call("get_customer", OK, id="A-1")],
    ],
)
def test_all_else_is_an_excess_call(parts):
    assert graded(PLAIN, *parts).statuses["selection"] == "failed"


def test_a_write_is_forgiven_only_where_the_gold_knows_it():
    wanted, other = (CallExpectation(tool, {"id": Exact("A-1")}) for tool in ("update_order", "update_order_by_mail"))
    only = Trajectory((wanted,), additional_calls=False)
    parts: list[Message | list[Message]] = [
        call("update_order", DOWN, id="A-1"),
        UPDATE,
        says("Done: order A-1 is updated."),
    ]
    assert graded(Expectation("calls", alternatives=(only,)), *parts).mode == "extra_call"
    either = Expectation("calls", alternatives=(only, Trajectory((other,), additional_calls=False)))
    assert forgiven(graded(either, *parts)) == [(1, "fallback_tool")]


def test_what_is_disallowed_stays_so():
    banned = Trajectory((GOLD,), disallowed=(CallExpectation("get_order_from_archive"),))
    for alternatives in ((banned,), (replace(banned, disallowed=()), banned)):
        found = graded(Expectation("calls", alternatives=alternatives), FAILED, ARCHIVE)
        assert forgiven(found) == []
    assert graded(Expectation("calls", alternatives=(banned,)), FAILED, ARCHIVE).mode == "disallowed_call"


def test_only_the_reactions_that_the_example_names_are_forgiven():
    asks_for_people = replace(PLAIN, reactions=("escalation",))
    assert forgiven(graded(asks_for_people, FAILED, PERSON)) == [(1, "escalation")]
    assert graded(asks_for_people, FAILED, ARCHIVE).mode == "extra_call"
    both = graded(asks_for_people, FAILED, ARCHIVE, PERSON)
    assert (both.mode, forgiven(both)) == ("extra_call", [(2, "escalation")])


def test_a_forgiven_call_stands_for_no_missing_one():
    customer = CallExpectation("get_customer", {"id": Exact("A-1")})
    two = Expectation("calls", alternatives=(Trajectory((GOLD, customer), additional_calls=False),))
    found = graded(two, FAILED, ARCHIVE)
    assert (found.mode, forgiven(found)) == ("missed_call", [(1, "fallback_tool")])
    assert [(pair.expected, pair.actual) for pair in found.pairs][1] == ("get_customer", "(none)")
    assert graded(two, FAILED, ARCHIVE, call("get_customer", OK, id="A-1")).statuses["selection"] == "passed"


def test_published_metrics_count_every_call_but_those_of_aligned_pairs():
    transcript = script(user("Where is order A-1?"), FAILED, ARCHIVE, says("It was sent."))
    compiled = compile_case(PLAIN, TOOLS)
    found = case_metrics(compiled, transcript, grade(compiled, transcript), goal=None)
    assert (found["tools_all_pass"].status, found["tool_name_f1"].value) == ("failed", 1)


_calls = st.builds(
    lambda tool, order, answer: call(tool, answer, id=order),
    st.sampled_from([spec.name for spec in TOOLS]),
    st.sampled_from(["A-1", "A-1", "A-2"]),
    st.sampled_from([OK, DOWN, DOWN, "Error 404: no such order", "Error 400: bad id", "[]"]),
)
_parts = st.lists(_calls | st.just([says("I could not look up that order.")]), max_size=5)
_named = st.sampled_from(
    [CallExpectation(spec.name, {"id": Exact(order)}) for spec in TOOLS for order in ("A-1", "A-2")]
)
_trajectories = st.builds(
    lambda calls, banned, additional: Trajectory(tuple(calls), disallowed=tuple(banned), additional_calls=additional),
    st.lists(st.just(GOLD) | _named, min_size=1, max_size=2),
    st.lists(_named, max_size=1),
    st.booleans(),
)
_expectations = st.builds(
    lambda alternatives: Expectation("calls", alternatives=tuple(alternatives)),
    st.lists(_trajectories, min_size=1, max_size=2),
)


def _with_others_allowed(expectation: Expectation) -> Expectation:
    free = (replace(each, disallowed=(), additional_calls=True) for each in expectation.alternatives)
    return replace(expectation, alternatives=tuple(free))


@settings(max_examples=400)
@given(_expectations, _parts)
def test_forgiving_makes_up_for_no_missing_call(expectation, parts):
    transcript = script(user(), *parts)
    if grade(compile_case(expectation, TOOLS), transcript).statuses["selection"] == "passed":
        free = compile_case(_with_others_allowed(expectation), TOOLS)
        assert grade_calls(free, transcript.calls).statuses["selection"] == "passed"


@settings(max_examples=400)
@given(_expectations, _parts)
def test_forgiven_are_only_harmless_calls_after_an_expected_one_that_failed(expectation, parts):
    transcript = script(user(), *parts)
    found = grade(compile_case(expectation, TOOLS), transcript)
    named = [_named_by(each) for way in expectation.alternatives for each in way.calls]
    banned = [_named_by(each) for way in expectation.alternatives for each in way.disallowed]
    for each in found.detail("selection").get("forgiven", ()):
        made, before = (transcript.calls[each[place]] for place in ("call", "after"))
        assert isinstance(made, ToolCall)
        assert isinstance(before, ToolCall)
        tool = made.name
        assert each["after"] < each["call"]
        assert (before.name, before.arguments["id"]) in named
        assert _answer(transcript, each["after"]) not in (OK, "[]")
        assert _answer(transcript, each["call"]) == OK
        assert (tool, made.arguments["id"]) not in banned
        assert effect_of_name(tool) == "reads" or hands_over(tool) or (tool, made.arguments["id"]) in named


@given(_expectations, _parts)
def test_where_nothing_failed_nothing_is_forgiven(expectation, parts):
    transcript = script(user(), *parts)
    messages = tuple(replace(each, content=OK) if each.role == "tool" else each for each in transcript.messages)
    compiled = compile_case(expectation, TOOLS)
    found = grade(compiled, replace(transcript, messages=messages))
    alone = grade_calls(compiled, transcript.calls)
    assert forgiven(found) == []
    assert [found.statuses[name] for name in ON_CALLS] == [alone.statuses[name] for name in ON_CALLS]


def _named_by(expected: CallExpectation) -> tuple[str, str]:
    return expected.tool, expected.arguments["id"].to_document()["exact"]


def _answer(transcript: Transcript, place: int) -> str | None:
    return [each.content for each in transcript.messages if each.role == "tool"][place]
