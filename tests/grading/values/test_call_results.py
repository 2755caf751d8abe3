"""Arguments that are the result of an earlier call: what they admit, what is unscored, what refuses a label."""

from __future__ import annotations

from typing import Any

import pytest

from tests.grading.referring import FIND_THEN_PAY, Step, calls, done, due, graded, ref
from toolevals.agents.scripted import Simulation
from toolevals.grading.engine.case_metrics import case_metrics
from toolevals.grading.engine.compiled import compile_case
from toolevals.grading.engine.grading import grade_calls
from toolevals.grading.matching.compiled_calls import InexactError, exact_calls
from toolevals.grading.values import Expectation, Message, ToolCall, Transcript
from toolevals.grading.values.problems import InvalidDocument


@pytest.mark.parametrize(
    ("result", "pointer", "given", "status"),
    [
        ({"id": "C-7"}, "/id", "C-7", "passed"),
        ({"id": "C-7"}, "/id", "C-8", "failed"),
        ({"id": " C-7 "}, "/id", "C-7", "passed"),
        ({"items": [{"id": 5}, {"id": 6}]}, "/items/1/id", 6, "passed"),
        ({"items": [{"id": 5}, {"id": 6}]}, "/items/1/id", 5, "failed"),
        ({"a/b": {"~": None}}, "/a~1b/~0", None, "passed"),
        ({"a/b": {"~": None}}, "/a~1b/~0", False, "failed"),
        ({"id": [1, {"x": 2}]}, "/id", [1, {"x": 2.0}], "passed"),
        # A number and the text that writes it: which is due, the schema says.
        ({"id": 123}, "/id", "123", "passed"),
        ({"id": "123"}, "/id", 123, "passed"),
        ({"id": "0123"}, "/id", 123, "failed"),
        ({"id": True}, "/id", "true", "failed"),
        # The whole result, as a value or as it came.
        ("42.5", "", 42.5, "passed"),
        ("42.5", "", "42.5", "passed"),
        ("sunny", "", "sunny", "passed"),
        ('{"a": 1}', "", {"a": 1}, "passed"),
        ('{"a": 1}', "", '{"a": 1}', "passed"),
        # Content blocks of the Model Context Protocol.
        ({"content": [{"type": "text", "text": '{"id": "C-7"}'}]}, "/id", "C-7", "passed"),
        ([{"type": "text", "text": '{"id": "C-7"}'}], "/id", "C-8", "failed"),
    ],
)
def test_the_value_at_a_place_of_the_result_is_due(result: Any, pointer: str, given: Any, status: str) -> None:
    expectation = calls(due("find", name={"exact": "Ada"}), due("pay", customer=ref(1, pointer)))
    found = graded(expectation, done(("find", {"name": "Ada"}, result), ("pay", {"customer": given}, "ok")))
    assert found.statuses["equivalence"] == status
    assert found.statuses["arguments"] == status
    assert found.statuses["selection"] == "passed"


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (None, "customer cannot be compared: the result of call 1 is not recorded."),
        ({"name": "Ada"}, "customer cannot be compared: the result of call 1 has nothing at /id."),
        ("no JSON", "customer cannot be compared: the result of call 1 has nothing at /id."),
        ("", "customer cannot be compared: the result of call 1 has nothing at /id."),
    ],
)
def test_what_is_not_recorded_is_unscored_with_its_reason(result: Any, reason: str) -> None:
    found = graded(FIND_THEN_PAY, done(("find", {"name": "Ada"}, result), ("pay", {"customer": "C-7"}, "ok")))
    for name in ("outcome", "arguments", "equivalence"):
        assert (found.statuses[name], found.verdicts[name].reason) == ("unscored", reason)
    assert found.statuses["shape"] == "passed"
    metrics = case_metrics(
        compile_case(FIND_THEN_PAY, ()), done(("find", {"name": "Ada"}, result), ("pay", {"customer": "x"}, "")), found
    )
    assert metrics["tools_all_pass"].status == metrics["tools_percentage_pass"].status == "unscored"


def test_an_error_is_no_result() -> None:
    made = (ToolCall("find", {"name": "Ada"}, "c0"), ToolCall("pay", {"customer": "C-7"}, "c1"))
    messages = (
        Message("assistant", None, made[:1]),
        Message("tool", '{"id": "C-9"}', call_id="c0", is_error=True),
        Message("assistant", None, made[1:]),
    )
    found = graded(FIND_THEN_PAY, Transcript(messages))
    assert found.verdicts["equivalence"].reason == "customer cannot be compared: call 1 was answered with an error."


def test_calls_without_a_transcript_have_no_results() -> None:
    made = [ToolCall("find", {"name": "Ada"}), ToolCall("pay", {"customer": "C-7"})]
    found = grade_calls(compile_case(FIND_THEN_PAY, ()), made)
    assert found.statuses["outcome"] == "unscored"
    assert "not recorded" in found.outcome.reason
    assert grade_calls(compile_case(FIND_THEN_PAY, ()), made[1:]).statuses["selection"] == "failed"


def test_another_fault_fails_all_the_same() -> None:
    found = graded(FIND_THEN_PAY, done(("find", {"name": "Bob"}, None), ("pay", {"customer": "C-7"}, "ok")))
    assert (found.statuses["outcome"], found.mode) == ("failed", "wrong_value")
    missing = graded(FIND_THEN_PAY, done(("find", {"name": "Ada"}, {"id": "C-7"}), ("pay", {}, "ok")))
    assert missing.mode == "missing_argument"


def test_a_wrong_value_is_shown_beside_what_was_due() -> None:
    found = graded(FIND_THEN_PAY, done(("find", {"name": "Ada"}, {"id": "C-7"}), ("pay", {"customer": "C-8"}, "ok")))
    (difference,) = [each for each in found.differences if each.kind == "changed"]
    assert difference.expected == {"result_of": {"call": 1, "pointer": "/id", "value": "C-7"}}
    assert (difference.path, difference.actual, found.mode) == ("/customer", "C-8", "wrong_value")
    assert "C-7" in found.verdicts["equivalence"].reason
    shape = graded(FIND_THEN_PAY, done(("find", {"name": "Ada"}, {"id": "C-7"}), ("pay", {"customer": [1]}, "ok")))
    assert shape.mode == "wrong_shape"


def test_the_result_is_that_of_the_call_that_serves_the_referred_one() -> None:
    expectation = calls(
        unordered=[due("find", name={"exact": "Ada"}), due("find", name={"exact": "Bob"}), due("pay", to=ref(2))]
    )
    steps: list[Step] = [("find", {"name": "Bob"}, {"id": "B"}), ("find", {"name": "Ada"}, {"id": "A"})]
    assert graded(expectation, done(*steps, ("pay", {"to": "B"}, ""))).statuses["outcome"] == "passed"
    assert graded(expectation, done(*steps, ("pay", {"to": "A"}, ""))).statuses["outcome"] == "failed"


def test_of_alike_calls_the_one_that_fits_serves() -> None:
    draw = due("draw")
    expectation = calls(unordered=[draw, draw, due("add", x=ref(1, "/n"), y=ref(2, "/n"))])
    steps: list[Step] = [("draw", {}, {"n": 3}), ("draw", {}, {"n": 4})]
    for x, y, status in ((3, 4, "passed"), (4, 3, "passed"), (3, 3, "failed"), (4, 4, "failed")):
        found = graded(expectation, done(*steps, ("add", {"x": x, "y": y}, "")))
        assert found.statuses["outcome"] == status, (x, y)


def test_a_chain_is_read_link_by_link() -> None:
    chain = calls(
        due("divide", a={"exact": 20}, b={"exact": 100}),
        due("multiply", a={"exact": 10000}, b=ref(1, "/result")),
        due("subtract", a={"exact": 10000}, b=ref(2, "/result")),
    )
    right: list[Step] = [
        ("divide", {"a": 20, "b": 100}, {"result": 0.2}),
        ("multiply", {"a": 10000, "b": 0.2}, {"result": 2000.0}),
        ("subtract", {"a": 10000, "b": 2000}, {"result": 8000.0}),
    ]
    assert graded(chain, done(*right)).statuses["outcome"] == "passed"
    wrong = [*right[:2], ("subtract", {"a": 10000, "b": 0.2}, {"result": 9999.8})]
    assert graded(chain, done(*wrong)).mode == "wrong_value"


def test_the_last_try_has_the_result() -> None:
    steps: list[Step] = [
        ("find", {"name": "Ada"}, {"error": "service unavailable", "status": 503}),
        ("find", {"name": "Ada"}, {"id": "C-7"}),
        ("pay", {"customer": "C-7"}, "ok"),
    ]
    assert graded(FIND_THEN_PAY, done(*steps)).statuses["outcome"] == "passed"


def test_references_stand_inside_fields_items_choices_and_groups() -> None:
    expectation = calls(
        {"any_order": [due("find", name={"exact": "Ada"}), due("quote")]},
        {
            "one_of_calls": [
                due("refund", to=ref(1)),
                due("pay", order={"fields": {"of": ref(1), "lines": {"items": [ref(2, "/price")]}}}),
            ]
        },
    )
    steps: list[Step] = [("quote", {}, {"price": 5}), ("find", {"name": "Ada"}, {"id": "C-7"})]
    right = done(*steps, ("pay", {"order": {"of": "C-7", "lines": [5]}}, ""))
    assert graded(expectation, right).statuses["outcome"] == "passed"
    wrong = graded(expectation, done(*steps, ("pay", {"order": {"of": "C-7", "lines": [6]}}, "")))
    assert wrong.statuses["outcome"] == "failed"
    assert [each.path for each in wrong.differences if each.kind == "changed"] == ["/order/lines/0"]
    assert graded(expectation, done(*steps, ("refund", {"to": "C-7"}, ""))).statuses["outcome"] == "passed"


def test_an_optional_reference_may_be_left_out() -> None:
    expectation = calls(due("find"), due("pay", to=ref(1, optional=True)))
    find: Step = ("find", {}, {"id": "A"})
    assert graded(expectation, done(find, ("pay", {}, ""))).statuses["outcome"] == "passed"
    assert graded(expectation, done(find, ("pay", {"to": "B"}, ""))).statuses["outcome"] == "failed"


def test_calls_made_at_once_are_compared_by_value_alone() -> None:
    steps: list[Step] = [("find", {"name": "Ada"}, {"id": "C-7"}), ("pay", {"customer": "C-7"}, "ok")]
    assert graded(FIND_THEN_PAY, done(*steps, at_once=True)).statuses["outcome"] == "passed"


def test_many_alike_calls_end_soon() -> None:
    draws = [due("draw") for _ in range(32)]
    expectation = calls(unordered=[*draws, *(due("add", x=ref(place, "/n")) for place in range(1, 33))])
    steps: list[Step] = [("draw", {}, {"n": place}) for place in range(32)]
    steps += [("add", {"x": -1}, "") for _ in range(32)]
    assert graded(expectation, done(*steps)).statuses["outcome"] == "failed"


@pytest.mark.parametrize(
    ("alternative", "pointer", "words"),
    [
        ({"ordered": [due("pay", to=ref(1))]}, "/ordered/0/arguments/to/result_of/call", "it can refer to none"),
        (
            {"ordered": [due("a"), due("b", to=ref(2))]},
            "/ordered/1/arguments/to/result_of/call",
            "call 2 is not before this one: it can refer to calls 1 to 1",
        ),
        (
            {"ordered": [due("a"), due("b", x={"fields": {"y": {"items": [ref(3)]}}})], "unordered": [due("c")]},
            "/ordered/1/arguments/x/fields/y/items/0/result_of/call",
            "call 3",
        ),
        ({"ordered": [due("a")], "disallowed": [due("b", to=ref(1))]}, "/disallowed/0/arguments/to", "to none"),
        ({"ordered": [due("a"), due("b", to=ref(1, "id"))]}, "/ordered/1/arguments/to/result_of/pointer", "/items/0"),
        ({"ordered": [due("a"), due("b", to=ref(1, "/a~2"))]}, "/ordered/1/arguments/to/result_of/pointer", "/items"),
        ({"ordered": [due("a"), due("b", to=ref(0))]}, "/ordered/1/arguments/to/result_of/call", "minimum"),
        (
            {"ordered": [due("a"), due("b", to={"result_of": {"call": 1, "value": 1}})]},
            "/ordered/1/arguments/to/result_of",
            "value",
        ),
    ],
)
def test_what_refers_to_nothing_is_refused(alternative: dict[str, Any], pointer: str, words: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        Expectation.from_document({"kind": "calls", "alternatives": [alternative]})
    (problem,) = refused.value.problems
    assert problem.pointer.startswith(f"/alternatives/0{pointer}")
    assert words in problem.message


def test_a_simulation_has_no_earlier_call() -> None:
    with pytest.raises(InvalidDocument, match="can refer to none"):
        Simulation.from_document({"results": [{"tool": "pay", "arguments": {"to": ref(1)}, "result": 1}]})


def test_references_have_no_value_to_replay() -> None:
    with pytest.raises(InexactError, match=r"pay\.customer is what call 1 results in"):
        exact_calls(FIND_THEN_PAY)


def test_documents_come_back() -> None:
    document = FIND_THEN_PAY.to_document()
    assert Expectation.from_document(document) == FIND_THEN_PAY
    assert Expectation.from_document(document).to_document() == document
    short = {"kind": "calls", "alternatives": [{"ordered": [due("a"), due("b", x={"result_of": {"call": 1}})]}]}
    read = Expectation.from_document(short).to_document()
    assert read["alternatives"][0]["ordered"][1]["arguments"]["x"] == ref(1, "")
