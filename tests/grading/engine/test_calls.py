"""Several calls and several right ways; names, reasons and shapes."""

import pytest

from tests.grading.graded import LISTED, PLAIN, RIGHT, all_but_transcripts, expecting, graded, statuses
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    ToolCall,
    ToolSpec,
)
from toolevals.grading.values.matchers import Contains, Exact, NaturalLanguage, OneOf, Range
from toolevals.grading.values.verdicts import (
    NONE,
    UNKNOWN_TOOL,
    Pair,
)


def test_the_best_alternative_counts():
    either = Expectation(
        "calls", alternatives=(*PLAIN.alternatives, *Expectation.single("refund", {"order": "A-1"}).alternatives)
    )
    assert graded(either, RIGHT).outcome.status == "passed"
    refunded = graded(either, ToolCall("refund", {"order": "A-1"}))
    assert (refunded.outcome.status, refunded.expected) == ("passed", "refund")
    assert graded(either, ToolCall("refund", {"order": "A-9"})).mode == "wrong_value"
    neither = graded(either, ToolCall("history", {}))
    assert (neither.expected, neither.actual) == ("track", "history")


def test_what_a_judge_has_to_see_never_passes_by_default():
    polite = expecting(CallExpectation("track", {"order": NaturalLanguage("an order of the user's")}))
    result = graded(polite, RIGHT)
    assert statuses(result) == {
        **all_but_transcripts("passed"),
        "outcome": "unscored",
        "arguments": "unscored",
        "equivalence": "unscored",
    }
    assert result.pairs == (Pair("track", "track", "unscored"),)
    both = expecting(CallExpectation("track", {"order": NaturalLanguage("any"), "limit": Exact(1)}))
    assert graded(both, ToolCall("track", {"order": "A-1", "limit": 2})).mode == "wrong_value"


def test_parallel_calls_are_matched_at_their_best_and_pairs_hold_what_is_left_over():
    wanted = expecting(unordered=(
        CallExpectation("track", {"order": OneOf(("A-1", "A-2"))}),
        CallExpectation("track", {"order": Exact("A-1")}),
        CallExpectation("refund"),
    ), additional_calls=False)  # fmt: skip
    # Greedy matching would give A-1 to the first expectation and leave the second without.
    result = graded(wanted, RIGHT, ToolCall("track", {"order": "A-2"}), ToolCall("refund", {}))
    assert result.outcome.status == "passed"
    less = graded(wanted, ToolCall("track", {"order": "A-2"}), ToolCall("history", {}), ToolCall("find", {}), RIGHT)
    assert less.pairs == (
        Pair("track", "track", "passed"),
        Pair("track", "track", "passed"),
        Pair("refund", "history", "unscored"),
        Pair(NONE, UNKNOWN_TOOL, "unscored"),
    )
    assert less.verdicts["equivalence"].value == pytest.approx(2 / 3)
    fewer = graded(wanted, RIGHT)
    assert (
        fewer.pairs
        == (
            Pair("track", "track", "passed"),
            Pair("track", NONE, "unscored"),
            Pair("refund", NONE, "unscored"),
        )
        or fewer.pairs[1].actual == "track"
    )
    assert sum(pair.actual == NONE for pair in fewer.pairs) == 2


def test_a_wrong_argument_is_never_shown_as_a_missed_call():
    wanted = expecting(*(CallExpectation("track", {"order": Exact(name)}) for name in ("A-1", "A-2")))
    result = graded(wanted, ToolCall("track", {"order": "A-2"}), ToolCall("track", {"order": "A-5"}))
    assert result.mode == "wrong_value"
    assert [pair.arguments for pair in result.pairs] == ["failed", "failed"]


def test_names_are_compared_under_the_profile_and_shown_as_the_tools_are_called():
    tools = (ToolSpec("orders.track"),)
    expectation = Expectation.single("orders_track", {})
    assert graded(expectation, ToolCall("orders.track"), tools=tools).mode == "wrong_tool"
    loose = Expectation("calls", alternatives=expectation.alternatives, profile="loose")
    result = graded(loose, ToolCall("orders_track"), tools=tools)
    assert (result.outcome.status, result.expected, result.actual) == ("passed", "orders.track", "orders.track")


def test_without_known_tools_names_are_classes_and_schemas_unscored():
    result = graded(PLAIN, ToolCall("find", {"x": 1}), tools=())
    assert (result.expected, result.actual, result.mode) == ("track", "find", "wrong_tool")
    assert result.verdicts["schema"].status == "unscored"
    assert graded(PLAIN, RIGHT, tools=()).outcome.status == "passed"
    assert len(graded(PLAIN, ToolCall("x" * 900), tools=()).actual) == 200


def test_a_tool_with_a_bad_schema_leaves_the_gate_unscored():
    result = graded(PLAIN, RIGHT, tools=(ToolSpec("track", "", {"type": "objct"}),))
    assert (result.verdicts["schema"].status, result.outcome.status) == ("unscored", "passed")


def test_reasons_name_what_differs_and_stay_short():
    wanted = expecting(CallExpectation("history", {"limit": Range(1, 5), "note": Contains("x" * 500)}))
    reason = graded(wanted, ToolCall("history", {"limit": 9, "note": "y" * 500})).outcome.reason
    assert reason.startswith("limit is 9, expected range [1,5], and 1 more")
    huge = graded(Expectation("no_call"), ToolCall("x" * 5000)).outcome.reason
    assert len(huge) < 200


def test_reasons_count_what_they_leave_out():
    one = graded(LISTED, ToolCall("history", {"page": 6}))
    assert one.outcome.reason == "page is 6, expected 5."
    two = graded(PLAIN, ToolCall("track", {"order": 1, "limit": "many"}))
    assert len(two.schema_problems) == 2
    assert two.verdicts["schema"].reason.endswith(", and 1 more.")
    assert "more" not in graded(PLAIN, ToolCall("track", {"order": 1})).verdicts["schema"].reason
    four = graded(Expectation("no_call"), *(ToolCall(name) for name in "abcd"))
    assert four.outcome.reason == "No call was expected; a, b and 2 more was called."
    allowed = expecting(disallowed=(CallExpectation("refund"),))
    assert graded(allowed, RIGHT).outcome.reason == "Nothing was called that must not be."


def test_shape_counts_calls_whose_arguments_are_missing_too():
    both = expecting(CallExpectation("history", {"page": Exact(5)}), CallExpectation("history", {"page": Exact(6)}))
    result = graded(both, ToolCall("history", {"page": "5"}), ToolCall("history", {}))
    assert (result.verdicts["shape"].status, result.verdicts["shape"].value) == ("failed", 0)
