"""Step lists in the forms of several frameworks, and transcripts looked at as steps."""

import pytest
from hypothesis import given

from tests.grading import strategies
from toolevals.grading.reading.parsing import read_run
from toolevals.grading.reading.parsing.steps import AgentRun, Step, run_of, thought_of
from toolevals.grading.values import MalformedCall, Message, ToolCall, ToolResult, Transcript
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.problems import InvalidDocument

LOOK = ToolCall("get_order", {"id": "A-1"}, "call-1")
PAY = ToolCall("refund", {"id": "A-1"}, "call-2")
RUN = AgentRun(
    goal="Refund A-1.",
    available_tools=("get_order", "refund"),
    transcript=Transcript(
        (
            Message("user", "Refund A-1."),
            Message("assistant", calls=(LOOK,), thought="First look."),
            Message("tool", '{"state":"sent"}', call_id="call-1"),
            Message("assistant", calls=(PAY,)),
            Message("tool", "403 forbidden", call_id="call-2", is_error=True),
            Message("assistant", "I may not refund A-1.", thought="It is over."),
        ),
        "I may not refund A-1.",
        goal="Refund A-1.",
    ),
    final_result="I may not refund A-1.",
    steps=(
        Step("First look.", None, (LOOK,), (ToolResult(LOOK, '{"state":"sent"}', is_error=False),), '{"state":"sent"}'),
        Step(None, None, (PAY,), (ToolResult(PAY, "403 forbidden", is_error=True),), "403 forbidden", "403 forbidden"),
        Step("It is over.", is_final=True),
    ),
)


@pytest.mark.parametrize(
    "document",
    [
        {
            "goal": "Refund A-1.",
            "available_tools": ["get_order", "refund"],
            "final_result": "I may not refund A-1.",
            "steps": [
                {
                    "thought": "First look.",
                    "tool": "get_order",
                    "arguments": {"id": "A-1"},
                    "result": {"state": "sent"},
                },
                {"tool": "refund", "args": '{"id": "A-1"}', "error": "403 forbidden"},
                {"thought": "It is over.", "is_final": True},
            ],
        },
        {
            "task": {"description": "Refund A-1.", "required_tools": ["refund"]},
            "available_tools": [{"name": "get_order"}, {"type": "function", "function": {"name": "refund"}}],
            "final_result": "I may not refund A-1.",
            "trajectory": [
                {
                    "step_number": 1,
                    "thought": "First look.",
                    "tool_calls": [{"name": "get_order", "arguments": {"id": "A-1"}, "result": {"state": "sent"}}],
                },
                {
                    "step_number": 2,
                    "tool_calls": [
                        {"name": "refund", "arguments": {"id": "A-1"}, "success": False, "error": "403 forbidden"}
                    ],
                },
                {"step_number": 3, "thought": "It is over.", "is_final": True},
            ],
        },
    ],
)
def test_the_forms_of_one_run_are_one_run(document):
    assert read_run(document) == RUN


def test_react_steps_end_with_their_final_answer():
    run = read_run(
        [
            {"thought": "First look.", "action": "get_order", "action_input": {"id": "A-1"}, "observation": "sent"},
            {"thought": "It is over.", "action": "Final Answer", "action_input": "It was sent."},
        ]
    )
    assert (run.goal, run.available_tools, run.final_result) == (None, None, "It was sent.")
    assert run.steps == (
        Step("First look.", None, (LOOK,), (ToolResult(LOOK, "sent", is_error=False),), "sent"),
        Step("It is over.", "Final Answer", observation="It was sent.", is_final=True),
    )
    assert run.transcript.answer == "It was sent."


@pytest.mark.parametrize(
    ("said", "request_", "goal"),
    [
        ({"goal": "Money back."}, "Money back.", "Money back."),
        ({"task": "Money back."}, "Money back.", "Money back."),
        ({"question": "Where is it?"}, "Where is it?", None),
        ({"goal": "Money back.", "question": "Where is it?"}, "Where is it?", "Money back."),
        ({"goal": "Money back.", "task": {"description": "Where is it?"}}, "Where is it?", "Money back."),
        ({"task": {"goal": "Money back.", "description": "Where is it?"}}, "Where is it?", "Money back."),
        ({"task": {"description": "Where?", "expected_outcome": "A date."}}, "Where?", "Where?\nA date."),
        ({"goal": 3, "task": {}}, None, None),
        ({}, None, None),
    ],
)
def test_a_goal_is_told_from_what_the_user_asked_for(said, request_, goal):
    run = read_run({**said, "steps": []})
    assert [message.content for message in run.transcript.messages] == ([] if request_ is None else [request_])
    assert run.transcript.goal == goal
    assert run.goal == (goal or request_)


@pytest.mark.parametrize(
    ("message", "thought"),
    [
        (Message("assistant", "I look.", (LOOK,), thought="They want it."), "They want it."),
        (Message("assistant", "They want it.", (LOOK,)), "They want it."),
        (Message("assistant", "<think>They want it.</think>I look.", (LOOK,)), "They want it."),
        (Message("assistant", "They want it.</think>Done."), "They want it."),
        (Message("assistant", "Done."), None),
        (Message("assistant", "Done.", thought="All is sent."), "All is sent."),
        (Message("assistant", '{"name": "get_order", "arguments": {"id": "A-1"}}', (LOOK,), from_text=True), None),
        (Message("assistant", '{"name": "get_order", "arguments": {"id": "A-1"}}', (LOOK,)), None),
        (Message("assistant", '```json\n{"name": "get_order", "arguments": {}}\n```', (LOOK,)), None),
        (Message("assistant", '<tool_call>{"name": "get_order", "arguments": {}}</tool_call>', (LOOK,)), None),
        (Message("assistant", 'get_order(id="A-1")', (LOOK,), from_text=True), None),
        (Message("assistant", 'They want it.\nget_order(id="A-1")', (LOOK,), from_text=True), "They want it."),
        (
            Message(
                "assistant",
                'Thought: They want it.\nAction: get_order\nAction Input: {"id": 1}',
                (LOOK,),
                from_text=True,
            ),
            "They want it.",
        ),
        (
            Message("assistant", 'They want it. {"name": "get_order", "arguments": {}}', (LOOK,), from_text=True),
            "They want it.",
        ),
        (Message("assistant", "[see above] I look.", (LOOK,)), "[see above] I look."),
    ],
)
def test_a_thought_is_what_the_agent_wrote_for_itself_and_never_the_call(message, thought):
    assert thought_of(message) == thought


@pytest.mark.parametrize(
    "action",
    [
        {"action": {"tool": "get_order", "tool_input": {"id": "A-1"}}},
        {"action": {"name": "get_order", "arguments": {"id": "A-1"}}},
        {"action": "get_order", "action_input": '{"id": "A-1"}'},
        {"action": "Look the order up.", "tool": "get_order", "arguments": {"id": "A-1"}},
        {"tool": {"name": "get_order"}, "input": {"id": "A-1"}},
        {"tool_name": "get_order", "tool_input": {"id": "A-1"}},
        {"action": "Look it up.", "tool_used": "get_order", "tool_args": {"id": "A-1"}},
        {"tool_call": {"function": {"name": "get_order", "arguments": '{"id": "A-1"}'}, "id": "call-1"}},
    ],
)
def test_a_call_is_found_wherever_the_step_has_it(action):
    (step,) = read_run([{**action, "observation": "sent"}]).steps
    assert step.calls == (LOOK,)
    assert step.results == (ToolResult(LOOK, "sent", is_error=False),)


def test_what_a_step_calls_its_action_is_said_to_no_one_where_it_has_a_call():
    run = read_run([{"action": "Look it up.", "tool_used": "get_order", "tool_args": {}, "tool_result": "sent"}])
    first, result = run.transcript.messages
    assert (first.content, first.thought, result.content) == (None, "Look it up.", "sent")
    assert run.losses == ()


def test_intermediate_steps_are_pairs_of_action_and_observation():
    run = read_run(
        {"intermediate_steps": [[{"tool": "get_order", "tool_input": {"id": "A-1"}}, "sent"]], "output": "Ok."}
    )
    assert run.steps[0].calls == (LOOK,)
    assert run.final_result == "Ok."


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ({"error": "timed out"}, "timed out"),
        ({"error": {"code": 503}}, '{"code":503}'),
        ({"error": True}, "failed"),
        ({"success": False, "result": "no such order"}, "no such order"),
        ({"status": "failed"}, "failed"),
        ({"is_error": True}, "failed"),
        ({"error": None, "result": ""}, None),
        ({"error": "", "success": True}, None),
        ({"error": False}, None),
    ],
)
def test_what_went_wrong_in_a_step(step, error):
    (read,) = read_run([{"tool": "get_order", "arguments": {"id": "A-1"}, **step}]).steps
    assert read.error == error
    assert any(result.is_error for result in read.results) is (error is not None)


def test_calls_that_cannot_be_read_are_malformed_and_keep_their_step():
    run = read_run([{"tool": "get_order", "arguments": "{", "result": "bad request"}, {"tool_calls": ["get_order"]}])
    first, second = (step.calls[0] for step in run.steps)
    assert isinstance(first, MalformedCall)
    assert first.name == "get_order"
    assert isinstance(second, MalformedCall)
    assert run.steps[0].results == (ToolResult(None, "bad request", is_error=False),)


def test_no_id_is_given_twice():
    run = read_run(
        [{"tool": "a", "id": "1", "arguments": {}}, {"tool": "b", "id": "1", "arguments": {}}, {"tool": "c"}]
    )
    assert [call.id for call in run.transcript.calls] == ["1", "1-2", "call-3"]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [({}, ""), (3, ""), ({"steps": 3}, ""), ([3], "/0"), ({"trajectory": [{}, "x"]}, "/trajectory/1"), (["\0"], "/0")],
)
def test_what_holds_no_steps_is_refused_with_its_place(document, pointer):
    with pytest.raises(InvalidDocument) as caught:
        read_run(document)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_a_transcript_is_a_run_with_a_step_for_every_message_of_the_assistant():
    transcript = Transcript(
        (
            Message("system", "Be brief."),
            Message("user", "Refund A-1."),
            Message("assistant", "First look.", (LOOK, PAY)),
            Message("tool", "sent", call_id="call-1"),
            Message("tool", "403", call_id="call-2", is_error=True),
            Message("assistant", "I may not."),
        ),
        "I may not.",
    )
    run = run_of(transcript, available_tools=("get_order",))
    assert (run.goal, run.available_tools, run.final_result) == ("Refund A-1.", ("get_order",), "I may not.")
    assert run.steps == (
        Step(
            "First look.",
            None,
            (LOOK, PAY),
            (ToolResult(LOOK, "sent", is_error=False), ToolResult(PAY, "403", is_error=True)),
            "sent\n403",
            "403",
        ),
        Step(action="I may not.", is_final=True),
    )
    assert run_of(transcript, goal="Help.", final_result=3).final_result == 3


@given(strategies.transcripts)
def test_every_call_and_result_of_a_transcript_is_in_its_steps(transcript):
    run = run_of(transcript)
    said = [call for message in transcript.messages if message.role == "assistant" for call in message.calls]
    assert [call for step in run.steps for call in step.calls] == said


@given(strategies.json_values)
def test_no_json_is_an_error_of_another_kind(value):
    documents = (
        value,
        [value],
        {
            "steps": [{"tool": value, "arguments": value, "result": value, "error": value}],
            "goal": value,
            "tools": [value],
        },
        [{"action": value, "tool_calls": [value], "action_input": value, "observation": value}],
    )
    for document in documents:
        try:
            run = read_run(document)
        except InvalidDocument:
            continue
        assert canonical(run.transcript.to_document())
