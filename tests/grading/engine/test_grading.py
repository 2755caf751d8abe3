"""One call and its grade: what passes, every way to fail, what is not scored, and crashes."""

import pytest

from tests.grading.graded import (
    GARBLED,
    LISTED,
    ON_CALLS,
    PLAIN,
    RIGHT,
    TOOLS,
    all_but_transcripts,
    called,
    expecting,
    graded,
    statuses,
)
from toolevals.grading.engine import compiled, explanation
from toolevals.grading.engine import grading as engine
from toolevals.grading.engine.grader_catalog import MODES
from toolevals.grading.engine.grading import compile_case, grade, grade_calls
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    ToolCall,
    Transcript,
)
from toolevals.grading.values.matchers import Exact, Pattern
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED, ArgumentDifference, FailureTag, Pair


def test_the_right_call_passes_everything():
    result = graded(PLAIN, RIGHT)
    assert statuses(result) == all_but_transcripts("passed")
    assert all(result.verdicts[name].value == 1 for name in ON_CALLS)
    assert all(verdict.reason for verdict in result.verdicts.values())
    assert (result.tag, result.mode, result.expected, result.actual) == ("", "", "track", "track")
    assert result.pairs == (Pair("track", "track", "passed"),)
    assert result.differences == (ArgumentDifference("/order", {"exact": "A-1"}, "A-1", "same"),)


@pytest.mark.parametrize(
    ("expectation", "calls", "mode", "place"),
    [
        (PLAIN, [ToolCall("history", {"limit": 10})], "wrong_tool", ("track", "history")),
        (PLAIN, [ToolCall("find", {})], "hallucinated_tool", ("track", UNKNOWN_TOOL)),
        (PLAIN, [], "missed_call", ("track", NONE)),
        (PLAIN, [GARBLED], "malformed_output", ("track", UNPARSED)),
        (PLAIN, [RIGHT, ToolCall("refund", {})], "extra_call", ("track", "track")),
        (PLAIN, [ToolCall("refund", {}), RIGHT], "extra_call", ("track", "refund")),
        (PLAIN, [RIGHT, RIGHT], "extra_call", ("track", "track")),
        (PLAIN, [RIGHT, GARBLED], "malformed_output", ("track", "track")),
        (PLAIN, [RIGHT, ToolCall("find", {})], "hallucinated_tool", ("track", "track")),
        (PLAIN, [ToolCall("track", {"order": "A-2"})], "wrong_value", ("track", "track")),
        (PLAIN, [ToolCall("track", {"order": 1})], "schema_error", ("track", "track")),
        (PLAIN, [ToolCall("track", {})], "schema_error", ("track", "track")),
        (PLAIN, [ToolCall("track", {"order": "A-1", "limit": 1})], "extra_argument", ("track", "track")),
        (LISTED, [ToolCall("history", {})], "missing_argument", ("history", "history")),
        (LISTED, [ToolCall("history", {"page": "5"})], "wrong_shape", ("history", "history")),
        (Expectation("no_call"), [RIGHT], "needless_call", (NONE, "track")),
        (Expectation("no_call"), [ToolCall("find", {})], "needless_call", (NONE, UNKNOWN_TOOL)),
        (Expectation("no_call"), [GARBLED], "malformed_output", (NONE, UNPARSED)),
        (Expectation("some_call"), [], "missed_call", ("", "")),
        (Expectation("some_call"), [ToolCall("find", {})], "hallucinated_tool", ("", "")),
        (Expectation("some_call"), [GARBLED], "malformed_output", ("", "")),
        (expecting(CallExpectation("track"), disallowed=(CallExpectation("refund"),)), [RIGHT, ToolCall("refund", {})],
         "disallowed_call", ("track", "track")),
        (expecting(CallExpectation("track"), CallExpectation("refund")), [ToolCall("refund", {}), RIGHT],
         "wrong_order", ("refund", "refund")),
        (expecting(CallExpectation("track"), CallExpectation("refund")), [RIGHT], "missed_call", ("track", "track")),
    ],
)  # fmt: skip
def test_every_way_to_fail_has_its_mode_and_place(expectation, calls, mode, place):
    result = graded(expectation, *calls)
    assert (result.mode, result.outcome.status) == (mode, "failed")
    assert (result.expected, result.actual) == place
    assert mode in MODES
    assert result.tag == ("MALFORMED_OUTPUT" if mode == "malformed_output" else "WRONG_ANSWER")
    assert result.outcome.reason.endswith(".")


@pytest.mark.parametrize(
    ("expectation", "calls", "place"),
    [
        (Expectation("no_call"), [], (NONE, NONE)),
        (Expectation("some_call"), [ToolCall("history", {"limit": "many"})], ("", "")),
        (Expectation("some_call"), [ToolCall("find", {}), RIGHT], ("", "")),
        (expecting(CallExpectation("track")), [ToolCall("history", {}), RIGHT], ("track", "track")),
        (expecting(CallExpectation("track")), [GARBLED, RIGHT], ("track", "track")),
        (expecting(disallowed=(CallExpectation("refund"),)), [RIGHT], ("", "")),
        (
            expecting(disallowed=(CallExpectation("refund", {"order": Exact("A-1")}),)),
            [ToolCall("refund", {})],
            ("", ""),
        ),
        (expecting(additional_calls=False), [], (NONE, NONE)),
    ],
)
def test_these_pass(expectation, calls, place):
    result = graded(expectation, *calls)
    assert (result.outcome.status, result.mode, result.tag) == ("passed", "", "")
    assert (result.expected, result.actual) == place


def test_arguments_are_unscored_where_the_selection_failed_and_the_schema_is_still_checked():
    result = graded(PLAIN, ToolCall("history", {"limit": 10}))
    assert statuses(result) == {
        **dict.fromkeys(VERDICT_NAMES, "unscored"),
        "outcome": "failed",
        "selection": "failed",
        "schema": "passed",
        "equivalence": "failed",
    }
    assert result.pairs == (Pair("track", "history", "unscored"),)
    assert [(each.path, each.kind) for each in result.differences] == [("/order", "missing"), ("/limit", "extra")]
    assert result.outcome.reason == "track was expected; history was called."


def test_without_a_call_there_is_nothing_to_score_but_the_selection():
    assert statuses(graded(Expectation("no_call"))) == {
        **dict.fromkeys(VERDICT_NAMES, "unscored"),
        "outcome": "passed",
        "selection": "passed",
    }


def test_values_do_not_count_where_the_schema_is_broken():
    result = graded(Expectation.single("track", {"order": 7}), ToolCall("track", {"order": 7}))
    assert (result.mode, result.verdicts["equivalence"].status) == ("schema_error", "failed")
    assert [(each.pointer, each.keyword, each.call) for each in result.schema_problems] == [("/order", "type", 0)]


def test_the_value_of_equivalence_is_the_share_of_calls_that_keep_their_schema():
    both = expecting(CallExpectation("track", {"order": Exact(7)}), CallExpectation("refund"))
    result = graded(both, ToolCall("track", {"order": 7}), ToolCall("refund", {"order": "A-1"}))
    assert (result.mode, result.verdicts["equivalence"].value) == ("schema_error", 0.5)


def test_a_call_that_is_welcome_may_break_its_schema():
    result = graded(expecting(CallExpectation("track")), RIGHT, ToolCall("history", {"limit": "many"}))
    assert statuses(result) | {"schema": "failed"} == statuses(result)
    assert result.outcome.status == "passed"
    assert result.schema_problems[0].call == 1
    assert result.verdicts["schema"].value == 0.5


def test_no_prediction_is_unscored():
    result = grade(compile_case(PLAIN, TOOLS), None)
    assert statuses(result) == dict.fromkeys(VERDICT_NAMES, "unscored")
    assert (result.tag, result.mode, result.expected, result.pairs) == ("", "", "", ())


def test_a_agent_that_could_not_be_reached_is_errored():
    result = grade(compile_case(PLAIN, TOOLS), Transcript(error="timed out"))
    assert statuses(result) == dict.fromkeys(VERDICT_NAMES, "errored")
    assert (result.tag, result.mode, result.expected) == (FailureTag.ADAPTER_ERROR, "adapter_error", "")
    assert "timed out" in result.outcome.reason


def test_a_crash_in_a_grader_is_errored(monkeypatch):
    def crash(*_):
        raise RuntimeError("boom")

    monkeypatch.setattr(engine, "check_schemas", crash)
    for grader in (grade, lambda compiled, transcript: grade_calls(compiled, transcript.calls)):
        result = grader(compile_case(PLAIN, TOOLS), called(RIGHT, RIGHT))
        assert (result.tag, result.mode) == (FailureTag.HARNESS_ERROR, "harness_error")
        assert "boom" in result.outcome.reason


def test_a_crash_of_the_words_leaves_what_was_decided(monkeypatch):
    def crash(*_):
        raise RuntimeError("boom")

    monkeypatch.setattr(explanation, "known_schemas", crash)
    monkeypatch.setattr(explanation.Placement, "of", crash)
    result = graded(PLAIN, RIGHT)
    assert statuses(result) == all_but_transcripts("passed")
    assert "boom" in result.outcome.reason
    assert (result.expected, result.actual, result.pairs, result.differences) == ("", "", (), ())


def test_what_cannot_be_compiled_is_errored_when_it_is_graded(monkeypatch):
    def crash(*_):
        raise RuntimeError("boom")

    monkeypatch.setattr(compiled, "compile_trajectory", crash)
    # Plain values are compared as they are; a pattern has to be compiled.
    pattern = expecting(CallExpectation("track", {"order": Pattern("A-1")}))
    assert graded(pattern, RIGHT).tag == FailureTag.HARNESS_ERROR
    assert grade_calls(compile_case(pattern, TOOLS), (RIGHT,)).tag == FailureTag.HARNESS_ERROR
