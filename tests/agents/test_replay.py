"""Replaying gold and candidates in a shop, and what is said of where they led."""

from typing import Any

import pytest

from tests.agents.players import Player, call, calling, saying
from tests.agents.shop_world import INITIAL, ShopSimulator
from toolevals.agents.loop import Task, converse
from toolevals.agents.replay import Executions, Replay, executed_calls, ground, replay
from toolevals.agents.scripted import Fault, FaultyWorld, ScriptedSimulator
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.layers.execution import Execution, grade_effect
from toolevals.grading.matching.value_differences import patched
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    MalformedCall,
    Message,
    StateChanges,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.tools import ToolAnnotations, reads_of

EXAMPLE: dict[str, Any] = {"messages": [{"role": "user", "content": "Cancel B-2, please."}]}
CANCEL = Expectation.single("cancel", {"order_id": "B-2"})
RIGHT = call("cancel", order_id="B-2")


def graded(*calls: ToolCall, expectation: Expectation = CANCEL) -> Execution:
    simulator = ShopSimulator()
    return grade_effect(ground(simulator, EXAMPLE, expectation).effect(replay(simulator, EXAMPLE, calls)))


def test_right_calls_pass_and_reading_beside_them_too():
    assert graded(RIGHT).verdict.status == "passed"
    assert graded(call("status", order_id="A-1"), RIGHT).verdict.status == "passed"


def test_a_needless_write_is_pollution_where_schema_and_equivalence_pass():
    tools = [
        ToolSpec("cancel", "", {"type": "object", "properties": {"order_id": {"type": "string"}}}),
        ToolSpec("note", "", {"type": "object"}),
    ]
    open_ended = Expectation.from_document(
        {
            "kind": "calls",
            "alternatives": [{"ordered": [{"tool": "cancel", "arguments": {"order_id": {"exact": "B-2"}}}]}],
        }
    )
    calls = RIGHT, call("note", "c2", order_id="A-1", text="cancelled too?")
    simulator = ShopSimulator()
    effect = ground(simulator, EXAMPLE, open_ended).effect(replay(simulator, EXAMPLE, calls))
    transcript = Transcript((Message("assistant", None, calls),))
    without = grade(compile_case(open_ended, tools), transcript)
    found = grade(compile_case(open_ended, tools), transcript, effect=effect)
    assert (without.outcome.status, without.statuses["execution"]) == ("passed", "unscored")
    assert [found.statuses[name] for name in ("selection", "schema", "equivalence")] == ["passed"] * 3
    assert (found.outcome.status, found.mode) == ("failed", "wrong_state")
    assert found.details["execution"]["polluted"] == [
        {"kind": "polluted", "path": "/orders/A-1/notes/0", "record": "/orders/A-1", "actual": "cancelled too?"}
    ]
    assert found.outcome.reason == ("The final state is not the expected one: /orders/A-1/notes/0 should not be there.")


def test_nothing_done_is_missing():
    execution = graded(call("status", order_id="B-2"))
    assert execution.diff is not None
    assert [each.path for each in execution.diff.missing] == ["/orders/B-2/state"]


def test_what_a_tool_raises_fails_unless_a_later_call_makes_it_good():
    raised = graded(call("cancel", order_id="A-1"), call("note", order_id="B-2", text="a"))
    assert raised.verdict.status == "failed"
    assert "only an open order can be cancelled" in raised.verdict.reason
    assert graded(call("cancel", order_id="A-1"), RIGHT).verdict.status == "passed"
    assert graded(call("cancel", order="B-2")).verdict.status == "failed"


def test_a_refused_look_up_decides_nothing_in_a_candidate_and_in_a_gold():
    unknown = call("status", order_id="Z-9")
    assert graded(unknown, RIGHT).verdict.status == "passed"
    both = Expectation(
        "calls",
        alternatives=(Trajectory(ordered=tuple(_expected(each) for each in (unknown, RIGHT))),),
    )
    assert graded(RIGHT, expectation=both).verdict.status == "passed"
    assert graded(unknown, expectation=both).verdict.status == "failed"


def test_what_a_tools_owner_says_of_it_comes_before_its_name():
    simulator = ShopSimulator()
    refused = call("cancel", order_id="A-1")
    for read_only, raised in ((True, False), (False, True), (None, True)):
        specs = {"cancel": ToolSpec("cancel", annotations=ToolAnnotations(read_only=read_only))}
        assert (replay(simulator, EXAMPLE, [refused], reads_of(specs)).raised is not None) is raised
    assert replay(simulator, EXAMPLE, [call("status", order_id="Z-9")], reads_of({})).raised is None
    kept = {"status": ToolSpec("status", annotations=ToolAnnotations(read_only=False))}
    assert replay(simulator, EXAMPLE, [call("status", order_id="Z-9")], reads_of(kept)).raised is not None


def test_kept_changes_that_name_a_refused_look_up_are_made_again():
    simulator = ShopSimulator()
    patch = ({"op": "replace", "path": "/orders/B-2/state", "value": "cancelled"},)
    changes = StateChanges(digest(INITIAL), patch, "status: KeyError: 'Z-9'")
    calls = Message("assistant", None, (call("status", order_id="Z-9"), call("cancel", order_id="A-1")))
    for message, status in ((calls, "failed"), (calling(RIGHT), "passed")):
        effect = Executions(simulator).effect("a", EXAMPLE, CANCEL, Transcript((message,), state_changes=changes))
        assert grade_effect(effect).verdict.status == status


def _expected(made: ToolCall) -> CallExpectation:
    return CallExpectation(made.name, {name: Exact(value) for name, value in made.arguments.items()})


def test_a_world_that_dies_is_errored_and_the_next_one_lives():
    simulator = ShopSimulator()
    measured = ground(simulator, EXAMPLE, CANCEL)
    dead = measured.effect(replay(simulator, EXAMPLE, [RIGHT, call("die")]))
    assert grade_effect(dead).verdict.status == "errored"
    assert grade_effect(measured.effect(replay(simulator, EXAMPLE, [RIGHT]))).verdict.status == "passed"
    case = grade(compile_case(CANCEL, ()), Transcript((calling(RIGHT),)), effect=dead)
    assert (case.outcome.status, case.tag, case.statuses["selection"]) == ("errored", "HARNESS_ERROR", "passed")
    assert case.outcome.reason == "The simulator failed: out of memory."
    wrong = grade(compile_case(CANCEL, ()), Transcript((calling(call("note")),)), effect=dead)
    assert (wrong.outcome.status, wrong.mode) == ("failed", "wrong_tool")


@pytest.mark.parametrize(
    ("expectation", "words"),
    [
        ({"kind": "some_call"}, "left open: any call will do"),
        ({"kind": "calls", "alternatives": [{"ordered": [{"tool": "gift"}]}]}, "No simulator answers for gift"),
        (
            Expectation.single("cancel", {"order_id": "A-1"}).to_document(),
            "A tool refused an expected call: cancel: ValueError",
        ),
    ],
)
def test_gold_that_leads_nowhere_is_unscored(expectation, words):
    verdict = graded(RIGHT, expectation=Expectation.from_document(expectation)).verdict
    assert verdict.status == "unscored"
    assert words in verdict.reason


def test_gold_on_which_the_world_dies_is_errored():
    assert graded(RIGHT, expectation=Expectation.single("die", {})).verdict.status == "errored"


def test_a_call_behind_which_nothing_stands_is_unscored():
    verdict = graded(RIGHT, call("gift")).verdict
    assert verdict.status == "unscored"
    assert verdict.reason == "No simulator answers for gift, so the effect of the calls is not known."


def test_without_a_call_due_the_state_is_to_stay():
    none = Expectation("no_call")
    assert graded(expectation=none).verdict.status == "passed"
    assert graded(call("status", order_id="A-1"), expectation=none).verdict.status == "passed"
    assert graded(RIGHT, expectation=none).verdict.status == "failed"


def test_any_of_several_alternatives_will_do_and_the_nearest_is_shown():
    either = Expectation.from_document(
        {
            "kind": "calls",
            "alternatives": [
                {"ordered": [{"tool": "cancel", "arguments": {"order_id": {"exact": "B-2"}}}]},
                {"ordered": [{"tool": "note", "arguments": {"order_id": {"exact": "B-2"}, "text": {"exact": "x"}}}]},
            ],
        }
    )
    assert graded(RIGHT, expectation=either).verdict.status == "passed"
    assert graded(call("note", order_id="B-2", text="x"), expectation=either).verdict.status == "passed"
    execution = graded(call("note", order_id="B-2", text="y"), expectation=either)
    assert execution.diff is not None
    assert [each.path for each in execution.diff.all] == ["/orders/B-2/notes/0"]


def test_the_state_that_a_label_gives_comes_first():
    state = {**INITIAL, "refunds": {"R-1": 45}}
    expectation = Expectation.from_document({**CANCEL.to_document(), "state": state})
    execution = graded(RIGHT, expectation=expectation)
    assert execution.diff is not None
    assert {each.path: each.kind for each in execution.diff.all} == {
        "/refunds/R-1": "missing",
        "/orders/B-2/state": "polluted",
    }


def test_a_world_without_a_state_says_so():
    example = {**EXAMPLE, "simulation": {"results": [{"tool": "cancel", "result": "done"}]}}
    simulator = ScriptedSimulator()
    effect = ground(simulator, example, CANCEL).effect(replay(simulator, example, [RIGHT]))
    assert grade_effect(effect).verdict.reason.startswith("The simulator keeps no state")


def test_calls_that_did_not_reach_the_tool_are_not_made_again():
    once, twice = call("cancel", "c1", order_id="B-2"), call("cancel", "c2", order_id="B-2")
    broken = MalformedCall("no JSON", id="c3")
    transcript = Transcript(
        (
            calling(once),
            Message("tool", "Error: 503 Service Unavailable", call_id="c1", is_error=True),
            calling(twice, broken),
            Message("tool", "done", call_id="c2"),
        )
    )
    assert list(executed_calls(transcript)) == [twice]
    assert list(executed_calls(Transcript((calling(once),)))) == [once]


def test_a_conversation_keeps_what_became_of_its_world():
    simulator = ShopSimulator()
    player = Player(calling(call("cancel", order_id="A-1")), calling(RIGHT), calling(RIGHT), saying("Done."))
    with simulator.world(EXAMPLE) as world:
        faulty = FaultyWorld(world, [Fault("cancel", "503", nth=3)])
        changes = converse(player, Task(EXAMPLE), world=faulty).transcript.state_changes
    assert changes is not None
    assert changes.raised is None
    final = patched(simulator.shared.initial, changes.patch)
    assert final["orders"]["B-2"]["state"] == "cancelled"
    measured = ground(simulator, EXAMPLE, CANCEL)
    assert measured.effect(Replay(measured.initial, final)).final is final


def test_a_refusal_that_nothing_made_good_is_kept():
    with ShopSimulator().world(EXAMPLE) as world:
        talk = converse(Player(calling(call("cancel", order_id="A-1")), saying("No.")), Task(EXAMPLE), world=world)
    document = talk.transcript.to_document()
    assert document["state_changes"]["patch"] == []
    assert document["state_changes"]["raised"] == "cancel: ValueError: only an open order can be cancelled"
    assert Transcript.from_document(document) == talk.transcript


def test_gold_is_replayed_once_and_each_candidate_once():
    simulator = ShopSimulator()
    executions = Executions(simulator)
    done = Transcript((calling(RIGHT),))
    verdicts = [
        grade_effect(executions.effect("a", EXAMPLE, CANCEL, transcript)).verdict.status
        for transcript in (done, Transcript((calling(call("status", order_id="B-2")),)), done)
    ]
    assert verdicts == ["passed", "failed", "passed"]
    assert simulator.worlds == 4


def test_where_gold_leads_nowhere_no_candidate_is_replayed():
    simulator = ShopSimulator()
    executions = Executions(simulator)
    for _ in range(3):
        effect = executions.effect("a", EXAMPLE, Expectation("some_call"), Transcript((calling(RIGHT),)))
        assert grade_effect(effect).verdict.status == "unscored"
    assert simulator.worlds == 0


@pytest.mark.parametrize(
    ("since", "worlds", "status"),
    [(digest(INITIAL), 1, "passed"), ("of another simulator", 2, "failed")],
)
def test_kept_changes_are_believed_where_they_began_with_the_same_state(since, worlds, status):
    simulator = ShopSimulator()
    patch = ({"op": "replace", "path": "/orders/B-2/state", "value": "cancelled"},)
    transcript = Transcript((calling(call("status", order_id="B-2")),), state_changes=StateChanges(since, patch))
    effect = Executions(simulator).effect("a", EXAMPLE, CANCEL, transcript)
    assert grade_effect(effect).verdict.status == status
    assert simulator.worlds == worlds


def test_changes_that_do_not_fit_the_state_are_replayed():
    changes = StateChanges(digest(INITIAL), ({"op": "remove", "path": "/orders/Z-9"},))
    transcript = Transcript((calling(RIGHT),), state_changes=changes)
    effect = Executions(ShopSimulator()).effect("a", EXAMPLE, CANCEL, transcript)
    assert grade_effect(effect).verdict.status == "passed"


def test_a_final_state_that_a_transcript_holds_is_believed():
    simulator = ShopSimulator()
    wrong = {**INITIAL, "refunds": {"R-1": {}}}
    effect = Executions(simulator).effect("a", EXAMPLE, CANCEL, Transcript((calling(RIGHT),), state=wrong))
    execution = grade_effect(effect)
    assert execution.diff is not None
    assert [each.path for each in execution.diff.all] == ["/orders/B-2/state", "/refunds/R-1"]
