import pytest
from hypothesis import given

from tests.grading.strategies import json_values
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values import MalformedCall, Message, ToolCall, Transcript
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.problems import InvalidDocument


def calls_of(row: dict[str, object]) -> tuple[object, ...]:
    return read_prediction({"id": "ex-1", **row}).transcript.calls


def test_structured_calls_with_arguments_as_object_or_text():
    prediction = read_prediction(
        {
            "id": "ex-1",
            "trial": 2,
            "tool_calls": [
                {"name": "a", "arguments": {"x": 1}},
                {"name": "b", "arguments": '{"x": 1}', "id": "call-1"},
                {"id": "call-2", "type": "function", "function": {"name": "c", "arguments": '{"y": [2]}'}},
                {"name": "d"},
                {"name": "e", "arguments": ""},
                {"name": "f", "arguments": None},
            ],
            "answer": "Done.",
            "usage": {"input_tokens": 7},
            "latency_ms": 12.5,
        }
    )
    assert (prediction.external_id, prediction.trial) == ("ex-1", 2)
    assert prediction.transcript == Transcript(
        messages=(
            Message(
                "assistant",
                calls=(
                    ToolCall("a", {"x": 1}),
                    ToolCall("b", {"x": 1}, "call-1"),
                    ToolCall("c", {"y": [2]}, "call-2"),
                    ToolCall("d"),
                    ToolCall("e"),
                    ToolCall("f"),
                ),
            ),
        ),
        answer="Done.",
        usage={"input_tokens": 7},
        latency_ms=12.5,
    )


@pytest.mark.parametrize(
    ("call", "reason", "position", "name"),
    [
        ({"name": "a", "arguments": '{"x": }'}, "not JSON at line 1, column 7", 6, "a"),
        ({"name": "a", "arguments": '{"x": 1, "x": 2}'}, 'the key "x" appears twice', 9, "a"),
        ({"name": "a", "arguments": '{"x": NaN}'}, "NaN is not a JSON value", 6, "a"),
        ({"name": "a", "arguments": "[1]"}, "not an object", None, "a"),
        ({"name": "a", "arguments": [1]}, "not an object", None, "a"),
        ({"name": "a", "arguments": "x" * 9000}, "not JSON", 0, "a"),
        ({"arguments": {}}, "no name", None, None),
        ({"name": 3}, "no name", None, None),
    ],
)
def test_a_call_that_cannot_be_read_is_malformed_and_no_error(call, reason, position, name):
    (malformed,) = calls_of({"tool_calls": [call]})
    assert isinstance(malformed, MalformedCall)
    assert reason in malformed.reason
    assert (malformed.position, malformed.name) == (position, name)
    assert len(malformed.text) <= 2001


FIRST = {"id": "1", "function": {"name": "a", "arguments": "{}"}}


def test_messages_of_a_conversation_and_the_last_words_as_answer():
    transcript = read_prediction(
        {
            "id": "ex-1",
            "messages": [
                {"role": "assistant", "content": None, "tool_calls": [FIRST]},
                {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "none"}], "is_error": True},
                {"role": "assistant", "content": "", "function_call": {"name": "b", "arguments": '{"x": 1}'}},
                {"role": "function", "name": "b", "content": "fine"},
                {"role": "assistant", "content": [{"type": "text", "text": "All"}, {"type": "text", "text": "done."}]},
            ],
        }
    ).transcript  # fmt: skip
    assert transcript.calls == (ToolCall("a", {}, "1"), ToolCall("b", {"x": 1}, "call-2"))
    assert transcript.results[1].call == ToolCall("b", {"x": 1}, "call-2")
    assert transcript.answer == "All\ndone."
    assert transcript.results[0].is_error
    assert transcript.results[0].call == ToolCall("a", {}, "1")
    assert [message.role for message in transcript.messages] == ["assistant", "tool", "assistant", "tool", "assistant"]


def test_messages_of_our_own_form_are_read_too():
    given = Message("assistant", calls=(ToolCall("a", {"x": 1}, "1"), MalformedCall("garbled", text="{{")))
    transcript = read_prediction({"id": "ex-1", "messages": [given.to_document()]}).transcript
    assert transcript.messages == (given,)
    assert transcript.answer is None


def test_a_whole_response_and_messages_of_a_named_format_are_read():
    response = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [FIRST]}}]}
    assert calls_of({"messages": response}) == (ToolCall("a", {}, "1"),)
    item = {"type": "function_call", "call_id": "1", "name": "a", "arguments": "{}"}
    assert calls_of({"messages": [item], "format": "openai_responses"}) == (ToolCall("a", {}, "1"),)


def test_steps_are_read_and_the_row_goes_before_what_they_say():
    steps = [
        {"thought": "Hm.", "tool": "a", "arguments": {"x": 1}, "result": "none"},
        {"action": "Finish", "input": "b"},
    ]
    transcript = read_prediction({"id": "ex-1", "steps": steps, "latency_ms": 3}).transcript
    assert transcript.calls == (ToolCall("a", {"x": 1}, "call-1"),)
    assert (transcript.answer, transcript.latency_ms) == ("b", 3)
    assert read_prediction({"id": "ex-1", "steps": steps, "answer": "c"}).transcript.answer == "c"


def test_text_is_parsed_where_there_are_no_structured_calls():
    assert calls_of({"text": "[a(x=1)]"}) == (ToolCall("a", {"x": 1}),)
    assert calls_of({"text": "[a(x=1)]", "tool_calls": []}) == (ToolCall("a", {"x": 1}),)
    assert calls_of({"text": "[a(x=1)]", "tool_calls": [{"name": "b"}]}) == (ToolCall("b"),)
    plain = read_prediction({"id": "ex-1", "text": "Hello."}).transcript
    assert (plain.calls, plain.answer) == ((), "Hello.")


def test_an_answer_or_an_error_alone_is_a_prediction():
    assert calls_of({"answer": "Hello."}) == ()
    assert calls_of({"tool_calls": None}) == ()
    assert read_prediction({"id": "ex-1", "error": "timed out"}).transcript.error == "timed out"


@pytest.mark.parametrize(
    ("row", "pointer"),
    [
        ({"id": "ex-1"}, ""),
        ({"id": "ex-1", "trial": -1, "text": ""}, "/trial"),
        ({"id": "ex-1", "trial": True, "text": ""}, "/trial"),
        ({"text": "x"}, ""),
        ({"id": "ex-1", "tool_calls": ["a"]}, "/tool_calls/0"),
        ({"id": "ex-1", "messages": [{"content": "x"}]}, "/messages/0"),
        ({"id": "ex-1", "messages": [{"role": "assistant"}], "tool_calls": [{"name": "a"}]}, "/tool_calls"),
        ({"id": "ex-1", "messages": [{"role": "assistant"}], "steps": [{"tool": "a"}]}, "/steps"),
        ({"id": "ex-1", "messages": [{"role": "assistant"}], "format": "gemini"}, "/messages/0"),
        ({"id": "ex-1", "messages": [{"role": "assistant"}], "format": "openai"}, "/format"),
        ({"id": "ex-1", "messages": {"choices": [{}]}}, "/messages/choices/0/message"),
        ({"id": "ex-1", "steps": {"steps": [3]}}, "/steps/steps/0"),
        ({"id": "ex-1", "answer": "\ud800"}, "/answer"),
        ({"id": "ex-1", "tool_cals": []}, ""),
        ([], ""),
    ],
)
def test_a_row_of_another_form_is_refused(row, pointer):
    with pytest.raises(InvalidDocument) as caught:
        read_prediction(row)
    assert pointer in [problem.pointer for problem in caught.value.problems]


@given(json_values)
def test_no_json_is_an_error_of_another_kind(value):
    for key in ("tool_calls", "messages", "steps", "text", "answer", "usage", "trial"):
        for given_value in (value, [value]):
            try:
                prediction = read_prediction({"id": "ex-1", "text": "", key: given_value})
            except InvalidDocument:
                continue
            assert canonical(prediction.transcript.to_document())
