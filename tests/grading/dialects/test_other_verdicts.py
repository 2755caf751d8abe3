"""Other tools' verdicts beside ours on one case: four statuses, the reason of each disagreement, parity."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.grading.benchmark import benchmark_rows, needs_benchmark
from tests.grading.dialects.test_catalog import REFUND, TOOLS, TRACK, calls
from toolevals.grading.dialects.bfcl import check_row, is_list_of_calls
from toolevals.grading.dialects.catalog import DIALECTS
from toolevals.grading.dialects.other_verdicts import (
    COLUMNS,
    STRICTER_BY_ERROR,
    OtherVerdict,
    leaderboard_error,
    own_verdict,
    sentence_of,
    verdicts_beside,
)
from toolevals.grading.dialects.rows import NoFormError
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values import Expectation, ToolCall, Transcript

PLAIN = Expectation.single("track", {"order": "A-1"})
RIGHT = {"name": "track", "arguments": {"order": "A-1"}}
PAID = {"name": "refund", "arguments": {"order": "A-1", "cents": 450}}


def beside(expectation: Expectation, *made: dict[str, Any]) -> dict[str, OtherVerdict]:
    transcript = read_prediction({"id": "x", "tool_calls": list(made)}).transcript
    graded = grade(compile_case(expectation, TOOLS), transcript)
    statuses = graded.statuses
    own = own_verdict(
        statuses["selection"], statuses["arguments"], graded.mode, expects_calls=expectation.kind == "calls"
    )
    return verdicts_beside(own, expectation, transcript, TOOLS)


def test_every_dialect_and_each_of_its_metrics_has_a_column():
    assert {column.dialect for column in COLUMNS.values()} == set(DIALECTS)
    for name, dialect in DIALECTS.items():
        metrics = {column.metric for column in COLUMNS.values() if column.dialect == name}
        assert metrics <= set(dialect.prints)
        assert metrics >= set(dialect.prints) - {"error_type"}


def test_all_pass_what_is_just_as_expected():
    assert {verdict.status for verdict in beside(PLAIN, RIGHT).values()} == {"passed"}


def test_an_argument_that_may_be_left_out_and_one_that_is_free():
    optional = calls(ordered=[{"tool": "track", "arguments": {"order": {"exact": "A-1", "optional": True}}}])
    found = beside(optional, RIGHT)
    assert found["bfcl"].status == "passed"
    assert found["adk.exact"] == OtherVerdict(
        "unscored", said="The argument order of track may be left out, and only fixed arguments compare."
    )
    extra = beside(calls(ordered=[TRACK]), {"name": "track", "arguments": {"order": "A-1", "note": "x"}})
    assert (extra["bfcl"].reason, extra["bfcl"].said) == ("extra_arguments", "simple_function_checker:unexpected_param")
    assert (extra["adk.exact"].reason, extra["ragas.accuracy"].reason) == ("extra_arguments", "")


def test_order_is_the_reason_where_order_alone_differs():
    found = beside(calls(unordered=[TRACK, REFUND]), PAID, RIGHT)
    assert {key for key, each in found.items() if each.reason == "order"} >= {"adk.exact", "adk.in_order"}
    assert (found["adk.any_order"].status, found["bfcl"].status) == ("passed", "passed")


def test_where_we_fail_and_another_tool_does_not_look():
    found = beside(PLAIN, {"name": "track", "arguments": {"order": "A-2"}})
    assert found["deepeval"] == OtherVerdict("passed", 1.0, "ignores_values")
    assert found["adk.exact"] == OtherVerdict("failed", 0.0)


def test_errored_unscored_and_failed_are_three():
    unreached = verdicts_beside(
        own_verdict("errored", "errored", "", expects_calls=True), PLAIN, Transcript(error="503"), TOOLS
    )
    missing = verdicts_beside(own_verdict("unscored", "unscored", "", expects_calls=True), PLAIN, None, TOOLS)
    assert {each.status for each in unreached.values()} == {"errored"}
    assert {each.status for each in missing.values()} == {"unscored"}
    assert beside(Expectation("no_call"), RIGHT)["bfcl"].status == "unscored"
    malformed = beside(PLAIN, {"name": "track", "arguments": "{bad"})
    assert (malformed["bfcl"].status, malformed["ragas.f1"].status) == ("failed", "unscored")
    assert malformed["agentevals.strict"] == OtherVerdict("errored", said="The original raises JSONDecodeError.")


def test_a_choice_between_calls_has_no_form_there():
    choice = calls(ordered=[{"one_of_calls": [TRACK, REFUND]}])
    assert {verdict.status for verdict in beside(choice, RIGHT).values()} == {"unscored"}


@pytest.mark.parametrize(
    ("selection", "arguments", "expects_calls", "status"),
    [
        ("passed", "passed", True, "passed"),
        ("passed", "failed", True, "failed"),
        ("failed", "unscored", True, "failed"),
        ("passed", "unscored", False, "passed"),
        ("passed", "unscored", True, "unscored"),
        ("errored", "errored", True, "errored"),
        ("unscored", "unscored", True, "unscored"),
    ],
)
def test_our_verdict_on_the_calls_alone(selection, arguments, expects_calls, status):
    assert own_verdict(selection, arguments, "", expects_calls=expects_calls).status == status


def test_every_reason_by_the_checkers_errors_is_a_sentence():
    assert all(sentence_of(reason).endswith(".") for reason in STRICTER_BY_ERROR.values())


def test_nested_gold_comes_back_as_the_checker_wants_it():
    document = {
        "kind": "calls",
        "profile": "bfcl",
        "alternatives": [
            {
                "ordered": [
                    {
                        "tool": "track",
                        "arguments": {
                            "order": {"fields": {"city": {"one_of": ["Paris", "Lyon"]}, "zip": {"absent": True}}},
                        },
                    }
                ]
            }
        ],
    }
    nested = Expectation.from_document(document)
    schema = {"type": "object", "properties": {"order": {"type": "object"}}, "required": []}
    tools = [replace(TOOLS[0], input_schema=schema)]

    def error(order: Any) -> str | None:
        return leaderboard_error(nested, tools, [ToolCall("track", {"order": order})])

    assert error({"city": "Lyon"}) is None
    assert error({"city": "Nice"}) == "value_error:dict_value"
    assert error({"city": "Lyon", "zip": 1}) == "value_error:dict_value"


def test_a_type_that_the_checker_has_not_is_refused_by_name():
    tools = [replace(TOOLS[0], input_schema={"type": "object", "properties": {"order": {"type": ["string", "null"]}}})]
    with pytest.raises(NoFormError, match="The parameter order of track has no single type"):
        leaderboard_error(PLAIN, tools, [])


@needs_benchmark
def test_our_form_of_an_entry_has_the_checkers_verdict_on_every_mutated_answer():
    """Import and way back lose nothing that the checker looks at: 5,787 answers without tuples, all judged alike."""
    compared = 0
    for row in benchmark_rows("oracle.jsonl.gz"):
        if "$tuple" in json.dumps(row) or not is_list_of_calls(row["prediction"]):
            continue
        question = {"id": row["id"], "question": [], "function": row["functions"]}
        example = bfcl_example(question, {"ground_truth": row["possible_answer"]}, row["category"])
        assert example.expectation is not None
        assert isinstance(example.tools, list)
        made = [ToolCall(name, arguments) for call in row["prediction"] for name, arguments in call.items()]
        error = leaderboard_error(example.expectation, example.tools, made, underscores=bool(row["underscore_names"]))
        assert (error is None) is check_row(row).valid, row["id"]
        compared += 1
    assert compared == 5787
