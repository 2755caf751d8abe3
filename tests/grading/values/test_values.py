import pytest
from hypothesis import given

from tests.grading import strategies
from toolevals.grading.values import (
    AnyOrder,
    CallExpectation,
    Expectation,
    MalformedCall,
    Message,
    ToolAnnotations,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.values.canonical import canonical, parse
from toolevals.grading.values.matchers import Exact, OneOf, Range
from toolevals.grading.values.problems import InvalidDocument


@strategies.whole_cases
@given(strategies.expectations)
def test_expectations_round_trip_through_their_documents(expectation):
    document = parse(canonical(expectation.to_document()))
    again = Expectation.from_document(document)
    assert again == expectation
    assert canonical(again.to_document()) == canonical(document)


@strategies.whole_cases
@given(strategies.transcripts)
def test_transcripts_round_trip_through_their_documents(transcript):
    document = parse(canonical(transcript.to_document()))
    assert Transcript.from_document(document) == transcript


def test_the_documents_of_the_design_are_read():
    document = {
        "kind": "calls",
        "alternatives": [
            {
                "ordered": [
                    {
                        "tool": "set_lights",
                        "arguments": {"room": {"exact": "living room"}, "brightness": {"range": [5, 40]}},
                    },
                    {"any_order": [{"tool": "set_tv", "arguments": {"power": {"one_of": ["on", "standby"]}}}]},
                ],
                "disallowed": [{"tool": "unlock_door"}],
                "additional_calls": False,
            }
        ],
        "reactions": ["corrected_retry", "escalation"],
        "answer": {"contains": ["$45.00"]},
    }
    expectation = Expectation.from_document(document)
    lights = CallExpectation("set_lights", {"room": Exact("living room"), "brightness": Range(5, 40)})
    screen = CallExpectation("set_tv", {"power": OneOf(("on", "standby"))})
    assert expectation.alternatives == (
        Trajectory((lights, AnyOrder((screen,))), (), (CallExpectation("unlock_door"),), additional_calls=False),
    )
    assert expectation.alternatives[0].calls == (lights, screen)
    assert expectation.to_document() == document


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"kind": "calls"}, ""),
        ({"kind": "calls", "alternatives": []}, "/alternatives"),
        ({"kind": "no_call", "alternatives": [{}]}, "/alternatives"),
        ({"kind": "perhaps"}, "/kind"),
        ({"kind": "no_call", "profile": "lax"}, "/profile"),
        (
            {
                "kind": "calls",
                "alternatives": [{"ordered": [{"any_order": [{"any_order": [{"tool": "a"}]}]}]}],
            },
            "/alternatives/0/ordered/0/any_order/0",
        ),
        (
            {
                "kind": "calls",
                "alternatives": [{"unordered": [{"tool": "a", "arguments": {"x": {"pattern": "(?=a)"}}}]}],
            },
            "/alternatives/0/unordered/0/arguments/x/pattern",
        ),
        (
            {"kind": "calls", "alternatives": [{"disallowed": [{"tool": "a", "arguments": {"x": {"range": [2, 1]}}}]}]},
            "/alternatives/0/disallowed/0/arguments/x/range",
        ),
        (
            {
                "kind": "calls",
                "alternatives": [
                    {
                        "ordered": [
                            {"tool": "a", "arguments": {"x": {"items": [{"fields": {"k": {"range": [None, None]}}}]}}}
                        ]
                    }
                ],
            },
            "/alternatives/0/ordered/0/arguments/x/items/0/fields/k/range",
        ),
        ({"kind": "no_call", "answer": {"pattern": "("}}, "/answer/pattern"),
    ],
)
def test_bad_expectations_are_refused_with_a_pointer(document, pointer):
    with pytest.raises(InvalidDocument) as caught:
        Expectation.from_document(document)
    assert pointer in {problem.pointer for problem in caught.value.problems}


def test_a_tool_is_named_by_its_content():
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    document = {"name": "get_order", "input_schema": schema}
    tool = ToolSpec.from_document(document)
    assert tool.digest == ToolSpec.from_document(tool.to_document()).digest
    assert tool.digest != ToolSpec("get_order", "Gets an order.", schema).digest
    assert hash(tool) == hash(ToolSpec.from_document(document))


def test_a_tool_keeps_what_is_said_of_it():
    document = {
        "name": "refund",
        "description": "Gives money back.",
        "input_schema": {"type": "object"},
        "output_schema": {"type": "object"},
        "sensitive_output": ["/card"],
        "annotations": {"destructive": True},
        "cost": 3,
    }
    tool = ToolSpec.from_document(document)
    assert tool.annotations == ToolAnnotations(destructive=True)
    assert tool.to_document() == document


@pytest.mark.parametrize("name", ["", "(none)", "(unparsed)", "(unknown tool)", "x" * 201])
def test_a_tool_cannot_bear_the_name_of_a_class(name):
    with pytest.raises(InvalidDocument):
        ToolSpec.from_document({"name": name, "input_schema": {}})


def test_calls_and_results_come_in_order():
    transcript = Transcript(
        messages=(
            Message("assistant", calls=(ToolCall("a", {"x": 1}, "1"), MalformedCall("not JSON", name="b"))),
            Message("tool", "no such order", call_id="1", is_error=True),
            Message("tool", "stray", call_id="9"),
            Message("assistant", "Sorry."),
        )
    )
    assert [call.name for call in transcript.calls] == ["a", "b"]
    first, second = transcript.results
    assert (first.call, first.content, first.is_error) == (ToolCall("a", {"x": 1}, "1"), "no such order", True)
    assert second.call is None


def test_the_calls_expected_in_one_trajectory_have_a_limit():
    group = {"any_order": [{"tool": "t"}] * 64}
    most = {"ordered": [group] * 4}
    more = most | {"unordered": [{"one_of_calls": [{"tool": "t"}, {"tool": "u"}]}]}
    expectation = Expectation.from_document({"kind": "calls", "alternatives": [most]})
    assert len(expectation.alternatives[0].expected) == 256
    with pytest.raises(InvalidDocument, match="/alternatives/0: expects more than 256 calls"):
        Expectation.from_document({"kind": "calls", "alternatives": [more]})
