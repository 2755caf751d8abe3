"""Scripted results and faults, and the document that says them."""

import json
from typing import Any

import pytest

from tests.agents.players import Shop, call
from toolevals.agents.scripted import WORDS, Fault, FaultyWorld, ScriptedSimulator, Simulation
from toolevals.agents.worlds import NotSimulatedError, ToolAnswer
from toolevals.grading.layers.recovery import trouble_in
from toolevals.grading.values.documents import schema
from toolevals.grading.values.problems import InvalidDocument

A_1 = {"tool": "status", "arguments": {"order_id": {"exact": "A-1"}}, "result": {"state": "sent"}}


def example(**simulation: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Hi"}], "simulation": simulation}


def test_the_first_script_that_matches_answers():
    anything = {"tool": "status", "error": "404 Not Found"}
    with ScriptedSimulator().world(example(results=[A_1, anything])) as world:
        assert world.call(call("status", order_id="A-1")) == ToolAnswer('{"state": "sent"}')
        assert world.call(call("status", order_id="B-2")) == ToolAnswer("404 Not Found", is_error=True)
        with pytest.raises(NotSimulatedError):
            world.call(call("refund"))
        assert world.state() is None


def test_results_that_are_used_up_leave_the_word_to_the_next_and_each_world_begins_anew():
    first = {"tool": "status", "result": "one", "times": 1}
    simulator = ScriptedSimulator()
    for _ in range(2):
        with simulator.world(example(results=[first, {"tool": "status", "result": "later"}])) as world:
            assert [world.call(call("status")).content for _ in range(3)] == ["one", "later", "later"]


def test_the_dataset_answers_what_the_example_does_not():
    shared = Simulation.from_document(
        {"results": [{"tool": "status", "result": "shared"}, {"tool": "clock", "result": 9}]}
    )
    with ScriptedSimulator(shared.results).world(example(results=[A_1])) as world:
        assert world.call(call("status", order_id="A-1")).content == '{"state": "sent"}'
        assert world.call(call("status", order_id="B-2")).content == "shared"
        assert world.call(call("clock")).content == "9"


def test_closed_arguments_match_nothing_more():
    closed = {**A_1, "additional_arguments": False}
    with ScriptedSimulator().world(example(results=[closed])) as world, pytest.raises(NotSimulatedError):
        world.call(call("status", order_id="A-1", verbose=True))


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"results": [{"tool": "a"}]}, "/results/0"),
        ({"results": [{"tool": "a", "result": 1, "error": "x"}]}, "/results/0"),
        (
            {"results": [{"tool": "a", "result": 1, "arguments": {"q": {"pattern": "("}}}]},
            "/results/0/arguments/q/pattern",
        ),
        ({"faults": [{"tool": "a", "fault": "418"}]}, "/faults/0/fault"),
        ({"faults": [{"tool": "a", "fault": "503", "nth": 0}]}, "/faults/0/nth"),
        ({"user": {"turns": ["a"], "instruction": "b"}}, "/user"),
        ({"state": []}, "/state"),
        ({"results": {}}, "/results"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(document, pointer):
    with pytest.raises(InvalidDocument) as caught:
        Simulation.of_example({"messages": [], "simulation": document})
    assert caught.value.problems[0].pointer == f"/input/simulation{pointer}"


@pytest.mark.parametrize("fault", sorted(schema("simulation")["$defs"]["fault"]["properties"]["fault"]["enum"]))
def test_every_fault_is_seen_as_what_it_is_by_the_grader_of_recovery(fault):
    rows = json.dumps([{"order": number, "state": "sent"} for number in range(40)])
    answer = FaultyWorld(Shop(lambda _: ToolAnswer(rows)), [Fault("status", fault)]).call(call("status"))
    trouble = trouble_in(answer.content, is_error=answer.is_error)
    assert trouble is not None
    # Both a failing server and an answer that never came.
    expected = "timeout" if fault == "504" else "5xx" if fault.startswith("5") else fault
    assert trouble.error_class == expected


def test_the_nth_call_fails_then_the_tool_recovers_or_does_not():
    def outcomes(fault: Fault) -> str:
        world = FaultyWorld(Shop(lambda _: ToolAnswer("fine")), [fault])
        return "".join("x" if world.call(call("status")).is_error else "." for _ in range(6))

    assert outcomes(Fault("status", "503")) == "x....."
    assert outcomes(Fault("status", "503", nth=2, times=3)) == ".xxx.."
    assert outcomes(Fault("status", "503", nth=3, times=None)) == "..xxxx"
    assert outcomes(Fault("other", "503", times=None)) == "......"


def test_a_call_that_fails_is_not_executed_and_one_cut_short_is():
    shop = Shop(lambda _: ToolAnswer("0123456789"))
    world = FaultyWorld(shop, [Fault("status", "timeout"), Fault("list", "partial"), Fault("find", "empty")])
    world.call(call("status"))
    world.call(call("find"))
    assert shop.made == []
    assert world.call(call("list")).content == "01234 [truncated]"
    assert world.state() == {"calls": 1}


def test_a_fault_says_when_to_come_back_and_may_have_its_own_words():
    world = FaultyWorld(
        Shop(lambda _: ToolAnswer("")), [Fault("a", "429", retry_after=2.0), Fault("b", "400", message="No id.")]
    )
    assert world.call(call("a")).content == f"Error: {WORDS['429']} (Retry-After: 2)"
    assert world.call(call("b")).content == "Error: No id."
