from typing import Any

import pytest

from toolevals.grading.reading import examples
from toolevals.grading.reading.examples import read_example
from toolevals.grading.values import Expectation
from toolevals.grading.values.problems import InvalidDocument

INPUT = {"messages": [{"role": "user", "content": "Where is my order?"}], "context": {"customer": "C-1"}}
TOOL = {"name": "track", "input_schema": {"type": "object"}}
BAD_PATTERN = {
    "kind": "calls",
    "alternatives": [{"ordered": [{"tool": "t", "arguments": {"a": {"pattern": "("}}}]}],
}
ROW = {"id": "ex-1", "input": INPUT}


def test_the_plain_form():
    row = read_example(
        {
            **ROW,
            "tools": [TOOL],
            "expected_tool": "track",
            "expected_args": {"order": "A-1"},
            "rationale": "One open order.",
            "strata": {"bucket": "selection", "difficulty": 2, "edge_case": True},
        }
    )
    assert (row.external_id, row.input, row.rationale) == ("ex-1", INPUT, "One open order.")
    assert row.expectation == Expectation.single("track", {"order": "A-1"})
    assert row.strata == {"bucket": "selection", "difficulty": "2", "edge_case": "true"}
    assert isinstance(row.tools, list)
    assert [tool.name for tool in row.tools] == ["track"]


def test_plain_arguments_are_exact_closed_and_the_only_call():
    expectation = read_example({**ROW, "expected_tool": "track", "expected_args": {"order": "A-1"}}).expectation
    assert expectation is not None
    assert expectation.to_document() == {
        "kind": "calls",
        "alternatives": [
            {
                "ordered": [
                    {"tool": "track", "arguments": {"order": {"exact": "A-1"}}, "additional_arguments": False},
                ],
                "additional_calls": False,
            }
        ],
    }


def test_null_is_no_call_and_nothing_is_still_to_be_labelled():
    assert read_example({**ROW, "expected_tool": None, "expected_args": None}).expectation == Expectation("no_call")
    assert read_example({**ROW, "expected_tool": None, "expected_args": {}}).expectation == Expectation("no_call")
    assert read_example(ROW).expectation is None
    assert read_example(ROW).tools is None


def test_the_full_form_and_a_registry_version():
    document = {"kind": "no_call", "why": "greeting"}
    row = read_example({**ROW, "tools": "shop@3", "expectation": document})
    assert row.tools == "shop@3"
    assert row.expectation == Expectation("no_call", "greeting")


def test_losses_of_tools_are_kept():
    schema = {"properties": {"a": {"pattern": "(?=x)"}}}
    row = read_example({**ROW, "tools": [{**TOOL, "input_schema": schema}]})
    assert [loss.pointer for loss in row.losses] == ["/tools/0/input_schema/properties/a/pattern"]


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        ({"id": ""}, "/id", "shorter"),
        ({"input": {}}, "/input", "messages"),
        ({"input": {"messages": [{"content": "x"}]}}, "/input/messages/0", "role"),
        ({"expected_tol": "x"}, "", "expected_tol"),
        ({"expected_args": {}}, "", "without expected_tool"),
        ({"expected_tool": None, "expected_args": {"a": 1}}, "/expected_args", "no call has arguments"),
        ({"expected_tool": "a", "expectation": {"kind": "no_call"}}, "", "keep one"),
        ({"expectation": {"kind": "perhaps"}}, "/expectation/kind", "perhaps"),
        ({"expectation": BAD_PATTERN}, "/expectation/alternatives/0/ordered/0/arguments/a/pattern", "refused"),
        ({"tools": [{"name": "t", "input_schema": {"type": "x"}}]}, "/tools/0/input_schema/type", "not valid"),
        ({"strata": {"bucket": None}}, "/strata/bucket", "null"),
    ],
)  # fmt: skip
def test_a_bad_row_is_refused_with_a_pointer(change, pointer, words):
    with pytest.raises(InvalidDocument) as caught:
        read_example({**ROW, **change})
    (problem,) = [each for each in caught.value.problems if each.pointer == pointer]
    assert words in problem.message


def test_tools_that_came_before_are_read_as_they_stand_now():
    def tools(bound: Any) -> list[dict[str, Any]]:
        return [{**TOOL, "input_schema": {"type": "object", "properties": {"n": {"minimum": bound}}}}]

    def bound_in(document: Any) -> Any:
        found = read_example({**ROW, "tools": document}).tools
        assert isinstance(found, list)
        return found[0].input_schema["properties"]["n"]["minimum"]

    kept = tools(1)
    assert [repr(bound_in(tools(bound))) for bound in (1, 1.0, 1, 2**70)] == ["1", "1.0", "1", repr(2**70)]
    assert bound_in(kept) == 1
    kept[0]["input_schema"]["properties"]["n"]["minimum"] = 2
    assert [bound_in(kept), bound_in(tools(1))] == [2, 1]
    for bad in (float("nan"), "x"):
        with pytest.raises(InvalidDocument):
            read_example({**ROW, "tools": tools(bad)})


def test_a_list_of_tools_is_checked_once_for_the_rows_that_offer_it(monkeypatch):
    row = {**ROW, "tools": [{**TOOL, "description": "Told once."}]}
    first = read_example(row).tools
    monkeypatch.setattr(examples, "read_tools", None)
    again = read_example(row).tools
    assert again == first
    assert again is not first
