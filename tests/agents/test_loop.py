"""Conversations: who speaks when, what is kept, and everything that ends them."""

import pytest

from tests.agents.players import Player, Shop, call, calling, saying
from toolevals.agents.chats import UnreachableError
from toolevals.agents.loop import DONE, Conversation, End, Limits, ScriptedUser, SimulatedUser, Task, converse
from toolevals.agents.worlds import ToolAnswer, WorldDiedError
from toolevals.grading.values import MalformedCall, Measures, Message, ToolSpec

TOOLS = (ToolSpec("status", "Tell an order's state."),)
TASK = Task(
    {"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Where is A-1?"}]}, TOOLS
)


def fine(_):
    return ToolAnswer('{"state": "sent"}')


def roles(conversation: Conversation) -> list[str]:
    return [message.role for message in conversation.transcript.messages]


def test_the_agent_calls_reads_the_result_and_answers():
    agent = Player(calling(call("status", order_id="A-1")), saying("It was sent."))
    shop = Shop(fine)
    talk = converse(agent, TASK, world=shop)
    assert talk.end is End.ANSWER
    assert roles(talk) == ["assistant", "tool", "assistant"]
    assert talk.transcript.answer == "It was sent."
    assert talk.transcript.results[0].content == '{"state": "sent"}'
    assert talk.transcript.state_changes is not None
    assert talk.transcript.state_changes.patch == ({"op": "replace", "path": "/calls", "value": 1},)
    assert talk.transcript.usage == {"input_tokens": 20, "output_tokens": 4}
    assert (talk.transcript.latency_ms, talk.model) == (10.0, "player-1")
    step, result, last = (message.measures for message in talk.transcript.messages)
    assert step == last == Measures(5.0, {"input_tokens": 10, "output_tokens": 2})
    # A world that does not say what its tools took.
    assert result is None
    assert [len(seen) for seen in agent.seen] == [2, 4]
    assert agent.offered[0] == TOOLS


def test_what_a_tool_took_stands_with_its_answer():
    agent = Player(calling(call("status")), saying("Sent."))
    talk = converse(agent, TASK, world=Shop(lambda _: ToolAnswer("sent", latency_ms=7.5)))
    assert talk.transcript.messages[1].measures == Measures(7.5)
    assert talk.transcript.results[0].latency_ms == 7.5
    # The model is shown what the tool said and not how long it took.
    assert "7.5" not in str([message.to_document() for message in agent.seen[1]])


def test_an_example_without_simulator_ends_with_the_first_calls():
    talk = converse(Player(calling(call("status"), call("status", "c2"))), TASK)
    assert talk.end is End.CALLS
    assert roles(talk) == ["assistant"]
    assert [made.id for made in talk.transcript.calls] == ["c1", "c2"]
    assert talk.transcript.answer is None
    assert talk.transcript.state_changes is None


@pytest.mark.parametrize("world", [None, Shop(fine)])
def test_words_without_a_call_end_a_decision_point(world):
    talk = converse(Player(saying("Which order?")), TASK, world=world)
    assert (talk.end, talk.transcript.answer) == (End.ANSWER, "Which order?")


def test_parallel_calls_are_answered_in_order_each_by_its_id():
    agent = Player(calling(call("status", "x", n=1), call("status", "y", n=2)), saying("Both."))
    talk = converse(agent, TASK, world=Shop(lambda made: ToolAnswer(str(made.arguments["n"]))))
    assert [(message.call_id, message.content) for message in talk.transcript.messages[1:3]] == [("x", "1"), ("y", "2")]


def test_a_call_that_nobody_can_read_is_answered_as_an_error_and_the_agent_goes_on():
    bad = MalformedCall("the arguments are not JSON", text="{", name="status", id="c1")
    shop = Shop(fine)
    talk = converse(Player(calling(bad), saying("Sorry.")), TASK, world=shop)
    assert talk.end is End.ANSWER
    assert talk.transcript.messages[1].is_error
    assert "the arguments are not JSON" in str(talk.transcript.messages[1].content)
    assert shop.made == []


def test_a_malformed_call_without_simulator_ends_the_conversation():
    talk = converse(Player(calling(MalformedCall("x", id="c1"))), TASK)
    assert (talk.end, roles(talk)) == (End.CALLS, ["assistant"])


def test_the_cap_on_turns():
    talk = converse(
        Player(*(calling(call("status", n=n)) for n in range(9))), TASK, world=Shop(fine), limits=Limits(steps=4)
    )
    assert talk.end is End.STEPS
    assert roles(talk) == ["assistant", "tool"] * 4


def test_a_loop_is_ended_whatever_ids_its_calls_have():
    turns = [calling(call("status", f"c{n}", order_id="A-1")) for n in range(9)]
    talk = converse(Player(*turns), TASK, world=Shop(fine), limits=Limits(same_calls=3))
    assert (talk.end, len(talk.transcript.calls)) == (End.LOOP, 3)


def test_failures_in_succession_end_it_and_a_success_between_them_counts_anew():
    turns = [calling(call("status", n=n)) for n in range(9)]
    broken = Shop(lambda made: ToolAnswer("Error", is_error=made.arguments["n"] != 1))
    talk = converse(Player(*turns), TASK, world=broken, limits=Limits(failures=3))
    assert talk.end is End.ERRORS
    assert [made.arguments["n"] for made in broken.made] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("turns", [(), (saying("Hello."),), (calling(call("status")),)])
def test_an_agent_that_cannot_be_reached_is_an_error_and_what_it_said_is_kept(turns):
    talk = converse(
        Player(*turns, UnreachableError("503", again=True)), TASK, world=Shop(fine), user=ScriptedUser(["Go on."])
    )
    assert (talk.end, talk.transcript.error) == (End.UNREACHABLE, "503")
    assert talk.transcript.state_changes is None
    assert sum(message.role == "assistant" for message in talk.transcript.messages) == len(turns)


def test_a_world_that_dies_is_no_fault_of_the_agent():
    def die(_):
        raise WorldDiedError("the sandbox ended")

    talk = converse(Player(calling(call("status"))), TASK, world=Shop(die))
    assert (talk.end, talk.transcript.error) == (End.UNREACHABLE, "the sandbox ended")


def test_a_scripted_user_says_its_turns_and_then_leaves():
    agent = Player(saying("Which?"), saying("Sent."), saying("Welcome."))
    talk = converse(agent, TASK, world=Shop(fine), user=ScriptedUser(["A-1", "Thanks"]))
    said = [message.content for message in talk.transcript.messages]
    assert said == ["Which?", "A-1", "Sent.", "Thanks", "Welcome."]
    assert talk.transcript.answer == "Welcome."


def test_a_simulated_user_never_sees_tools_nor_the_agent_its_instruction():
    played = Player(saying("It is A-1."), saying(f"Thanks! {DONE}"), saying(DONE))
    agent = Player(saying("<think>Hm.</think>Which order?"), calling(call("status")), saying("Sent."), saying("Bye."))
    talk = converse(agent, TASK, world=Shop(fine), user=SimulatedUser(played, "You are in a hurry."))
    assert talk.end is End.ANSWER
    assert [message.content for message in talk.transcript.messages if message.role == "user"] == [
        "It is A-1.",
        "Thanks!",
    ]
    assert {message.role for seen in played.seen for message in seen} == {"system", "user", "assistant"}
    assert [message.content for message in played.seen[0][1:]] == ["Where is A-1?", "Which order?"]
    assert [message.role for message in played.seen[0][1:]] == ["assistant", "user"]
    assert "hurry" in str(played.seen[0][0].content)
    assert not any("hurry" in str(message.content) for seen in agent.seen for message in seen)
    assert not any("Be kind" in str(message.content) for seen in played.seen for message in seen)


def test_earlier_messages_of_the_example_are_shown_and_not_repeated_in_the_transcript():
    before = [
        {"role": "user", "content": "Where is A-1?"},
        {"role": "assistant", "calls": [{"name": "status", "arguments": {}, "id": "old"}]},
        {"role": "tool", "call_id": "old", "content": "sent"},
    ]
    agent = Player(saying("Sent."))
    talk = converse(agent, Task({"messages": before}, TOOLS))
    assert talk.transcript.messages == (Message("assistant", "Sent."),)
    assert [message.role for message in agent.seen[0]] == ["user", "assistant", "tool"]
