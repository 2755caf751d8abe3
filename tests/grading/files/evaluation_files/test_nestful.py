"""NESTFUL's references between calls, read into the matcher for them, and graded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.grading.referring import done
from toolevals.grading.engine.compiled import compile_case
from toolevals.grading.engine.grading import grade
from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.values.problems import InvalidDocument

FILE = Path(__file__).parent / "data" / "nestful.jsonl"


def entries(content: bytes) -> list[Entry]:
    found = [entry for _, entry in evaluation_file(content).entries()]
    assert all(isinstance(entry, Entry) for entry in found), found
    return [entry for entry in found if isinstance(entry, Entry)]


def sample(*calls: tuple[dict[str, Any], str], **more: Any) -> Entry:
    """Return the entry of a sample whose calls of one tool have these arguments and labels."""
    output = [{"name": "act", "arguments": arguments, "label": label} for arguments, label in calls]
    (entry,) = entries(json.dumps([{"input": "Do it.", "output": output, **more}]).encode())
    return entry


def arguments(entry: Entry, place: int) -> dict[str, Any]:
    assert entry.example is not None
    assert entry.example.expectation is not None
    call = entry.example.expectation.alternatives[0].calls[place]
    return {name: matcher.to_document() for name, matcher in call.arguments.items()}


def losses(entry: Entry) -> list[str]:
    return [str(loss) for loss in entry.losses]


def test_references_are_read_and_graded() -> None:
    _, parcel = entries(FILE.read_bytes())
    assert parcel.example is not None
    assert parcel.example.expectation is not None
    assert arguments(parcel, 1) == {
        "parcel": {"result_of": {"call": 1, "pointer": "/parcels/0/id"}},
        "after_hours": {"exact": 2},
    }
    assert parcel.example.rationale == 'The answer there: "\\"Lyon\\""'
    assert losses(parcel) == ["/gold_answer: is kept as the rationale: in an answer it may be written otherwise"]
    tools = parcel.example.tools
    assert isinstance(tools, list)
    assert [tool.name for tool in tools] == ["get_order_status", "track_parcel"]
    assert tools[1].input_schema["properties"]["after_hours"] == {"type": "number"}
    assert tools[0].input_schema["properties"]["order_id"]["type"] == "string"
    case = compile_case(parcel.example.expectation, tools)
    first = ("get_order_status", {"order_id": "ORD-9182"}, {"parcels": [{"id": "P-1"}]})
    for parcel_id, status in (("P-1", "passed"), ("P-2", "failed")):
        transcript = done(first, ("track_parcel", {"parcel": parcel_id, "after_hours": 2}, "Lyon"))
        assert grade(case, transcript).statuses["outcome"] == status


@pytest.mark.parametrize(
    ("value", "matcher", "loss"),
    [
        ("$var1.result$", {"result_of": {"call": 1, "pointer": "/result"}}, None),
        ("$var1$", {"result_of": {"call": 1, "pointer": ""}}, None),
        ("$var1.Exchange Rate$", {"result_of": {"call": 1, "pointer": "/Exchange Rate"}}, None),
        ("$var1.a[2].b~/c$", {"result_of": {"call": 1, "pointer": "/a/2/b~0~1c"}}, None),
        (["$var1.x$", 2], {"items": [{"result_of": {"call": 1, "pointer": "/x"}}, {"exact": 2}]}, None),
        ({"to": "$var1.x$"}, {"fields": {"to": {"result_of": {"call": 1, "pointer": "/x"}}}}, None),
        ("5 * $var1.rate$", {"key_only": True}, "is a reference inside a text: any value will do"),
        ("$var9.x$", {"key_only": True}, "$var9.x$ refers to no earlier call: any value will do"),
        ("$var2.x$", {"key_only": True}, "$var2.x$ refers to no earlier call: any value will do"),
        ("$var1.a..b$", {"key_only": True}, "$var1.a..b$ names no place in a result: any value will do"),
        ("costs $5 or $6", {"exact": "costs $5 or $6"}, None),
        ("$USD$", {"exact": "$USD$"}, None),
    ],
)
def test_each_form_of_a_reference(value: Any, matcher: Any, loss: str | None) -> None:
    entry = sample(({}, "var1"), ({"x": value}, "var2"))
    assert arguments(entry, 1) == {"x": matcher}
    assert losses(entry) == ([f"/output/1/arguments/x: {loss}"] if loss else [])


def test_what_is_no_call_and_what_is_not_known_is_named() -> None:
    output = [
        {"name": "act", "arguments": {}, "label": "var1", "mood": 1},
        {"name": "var_result", "arguments": {"it": "$var1$"}},
    ]
    tool = {"name": "act", "parameters": {"a": {"type": "tensor"}}, "price": 3}
    (entry,) = entries(json.dumps([{"input": "x", "output": output, "tools": [tool]}]).encode())
    assert losses(entry) == [
        "/output/0/mood: is not known in this format: left out",
        "/output/1: holds the final answer and is not a call: left out",
        "/tools/0/price: is not known in this format: left out",
        "/tools/0/parameters/properties/a/type: 'tensor' is not a known type: every value is accepted",
    ]


def test_a_bad_sample_is_refused_by_its_place() -> None:
    rows = [
        {"input": "x", "output": [{"name": "a", "arguments": {}, "label": "v"}]},
        {"input": "y", "output": [{"name": 5}]},
    ]
    (_, second) = evaluation_file("\n".join(map(json.dumps, rows)).encode()).entries()
    place, error = second
    assert isinstance(error, InvalidDocument)
    assert (place.line, str(error)) == (2, "/output/0/name: is not a name of a tool")
