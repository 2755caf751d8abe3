"""Verdicts, modes, tags and places of whole cases."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from tests.grading.benchmark import SAMPLE, benchmark_rows, needs_benchmark
from toolevals.grading import compiled, decisions, engine, explanation, layers
from toolevals.grading.bfcl import bfcl_example
from toolevals.grading.canonical import canonical, parse
from toolevals.grading.catalog import MODES
from toolevals.grading.engine import CompiledCase, compile_case, grade, grade_calls
from toolevals.grading.layers import Layer, LayerGrade
from toolevals.grading.matchers import Contains, Exact, NaturalLanguage, OneOf, Range
from toolevals.grading.matching import CompiledCall
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    MalformedCall,
    Message,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.verdicts import (
    NONE,
    UNKNOWN_TOOL,
    UNPARSED,
    VERDICT_NAMES,
    ArgumentDifference,
    CaseGrade,
    FailureTag,
    Pair,
    Verdict,
)

ORDER = {"type": "object", "properties": {"order": {"type": "string"}, "limit": {"type": "integer"}}}
TRACK = ToolSpec("track", "Says where an order is.", {**ORDER, "required": ["order"]})
HISTORY = ToolSpec("history", "Lists orders.", ORDER)
REFUND = ToolSpec("refund", "Gives money back.", ORDER)
TOOLS = (TRACK, HISTORY, REFUND)
# The tools that drawn calls name, but one.
NAMED = tuple(ToolSpec(name, "", {"properties": {"a": {"type": "string"}}}) for name in strategies.NAMES[1:])
GARBLED = MalformedCall("not JSON at line 1, column 3: Expecting value", 2, "{{")


def called(*calls: ToolCall | MalformedCall) -> Transcript:
    return Transcript((Message("assistant", calls=calls),))


def graded(expectation: Expectation, *calls: ToolCall | MalformedCall, tools: Any = TOOLS) -> CaseGrade:
    return grade(compile_case(expectation, tools), called(*calls))


# The verdicts on calls; the others are of whole transcripts.
ON_CALLS = ("outcome", "selection", "arguments", "schema", "shape", "equivalence")


def statuses(result: CaseGrade) -> dict[str, str]:
    return {name: verdict.status for name, verdict in result.verdicts.items()}


def all_but_transcripts(status: str) -> dict[str, str]:
    return {name: status if name in ON_CALLS else "unscored" for name in VERDICT_NAMES}


def expecting(*calls: CallExpectation, **options: Any) -> Expectation:
    return Expectation("calls", alternatives=(Trajectory(calls, **options),))


PLAIN = Expectation.single("track", {"order": "A-1"})
LISTED = Expectation.single("history", {"page": 5})
RIGHT = ToolCall("track", {"order": "A-1"})


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
    assert result.outcome.reason == "track was due; history was called."


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


def test_a_subject_that_could_not_be_reached_is_errored():
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

    monkeypatch.setattr(explanation, "check_schemas", crash)
    monkeypatch.setattr(explanation, "best_alignment", crash)
    result = graded(PLAIN, RIGHT)
    assert statuses(result) == all_but_transcripts("passed")
    assert "boom" in result.outcome.reason
    assert (result.expected, result.actual, result.pairs, result.differences) == ("", "", (), ())


def test_what_cannot_be_compiled_is_errored_when_it_is_graded(monkeypatch):
    def crash(*_):
        raise RuntimeError("boom")

    monkeypatch.setattr(compiled, "compile_trajectory", crash)
    assert graded(PLAIN, RIGHT).tag == FailureTag.HARNESS_ERROR
    assert grade_calls(compile_case(PLAIN, TOOLS), (RIGHT,)).tag == FailureTag.HARNESS_ERROR


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
    assert four.outcome.reason == "No call was due; a, b and 2 more was called."
    allowed = expecting(disallowed=(CallExpectation("refund"),))
    assert graded(allowed, RIGHT).outcome.reason == "Nothing was called that must not be."


def test_shape_counts_calls_whose_arguments_are_missing_too():
    both = expecting(CallExpectation("history", {"page": Exact(5)}), CallExpectation("history", {"page": Exact(6)}))
    result = graded(both, ToolCall("history", {"page": "5"}), ToolCall("history", {}))
    assert (result.verdicts["shape"].status, result.verdicts["shape"].value) == ("failed", 0)


@strategies.whole_cases
@given(strategies.expectations, strategies.transcripts)
def test_any_case_is_graded_without_a_crash_and_its_document_round_trips(expectation, transcript):
    result = grade(compile_case(expectation, NAMED), transcript)
    assert result.tag != FailureTag.HARNESS_ERROR, result.outcome.reason
    assert (result.tag == "") == (result.outcome.status in ("passed", "unscored"))
    assert (result.mode == "") == (result.tag == "")
    document = result.to_document()
    assert CaseGrade.from_document(parse(canonical(document))) == result


@given(strategies.tool_calls)
def test_a_call_labelled_as_it_was_made_passes(call):
    for profile in ("strict", "standard", "loose", "bfcl"):
        plain = Expectation.single(call.name, call.arguments)
        expectation = Expectation("calls", alternatives=plain.alternatives, profile=profile)
        assert graded(expectation, call, tools=()).outcome.status == "passed"


def searched(case: CompiledCase) -> CompiledCase:
    """Return the case without the short way of calls that stand where they are expected."""
    return replace(case, in_place=None)


@pytest.mark.parametrize("keyword", [{"minProperties": 1}, {"anyOf": [{"required": ["a"]}]}, {"$ref": "#/$defs/x"}])
def test_a_call_without_arguments_is_held_to_the_whole_schema(keyword):
    schema = {"type": "object", "$defs": {"x": {"required": ["a"]}}, **keyword}
    case = compile_case(Expectation.single("f", {}), (ToolSpec("f", "", schema),))
    calls = (ToolCall("f", {}),)
    assert grade_calls(case, calls).mode == "schema_error"
    assert grade_calls(case, calls) == grade_calls(searched(case), calls)


@strategies.whole_cases
@given(strategies.expectations, strategies.transcripts)
def test_calls_in_place_get_the_grade_that_a_search_gives(expectation, transcript):
    case = compile_case(expectation, NAMED)
    assert grade(case, transcript).to_document() == grade(searched(case), transcript).to_document()


@given(st.lists(strategies.call_expectations, min_size=1, max_size=3), st.data())
def test_calls_made_of_the_expected_ones_get_the_grade_that_a_search_gives(wanted, data):
    profile, closed = data.draw(strategies.profiles), data.draw(st.booleans())
    trajectory = Trajectory(tuple(wanted), additional_calls=not closed)
    case = compile_case(Expectation("calls", alternatives=(trajectory,), profile=profile), NAMED)
    calls = tuple(ToolCall(each.tool, _arguments_for(each, data)) for each in wanted)
    quick, slow = grade_calls(case, calls), grade_calls(searched(case), calls)
    assert (quick.tag, quick.mode, quick.statuses) == (slow.tag, slow.mode, slow.statuses)
    assert quick == slow


@pytest.mark.parametrize("source", ["sample", pytest.param("all", marks=needs_benchmark)])
def test_the_leaderboards_answers_right_and_wrong_get_the_grade_that_a_search_gives(source):
    lines = SAMPLE.read_text("utf-8").splitlines()
    rows = map(json.loads, lines) if source == "sample" else islice(benchmark_rows("oracle.jsonl.gz"), 0, None, 12)
    for row in rows:
        question = {"id": row["id"], "question": [], "function": row["functions"]}
        example = bfcl_example(question, {"ground_truth": row["possible_answer"]}, row["category"])
        assert example.expectation is not None
        assert isinstance(example.tools, list)
        case = compile_case(example.expectation, example.tools)
        calls = _calls_in(row["prediction"])
        assert grade_calls(case, calls) == grade_calls(searched(case), calls)


def _calls_in(prediction: Any) -> tuple[ToolCall, ...]:
    made = [call for call in prediction if isinstance(call, dict)] if isinstance(prediction, list) else []
    return tuple(ToolCall(name, arguments) for call in made for name, arguments in call.items())


def _arguments_for(call: CallExpectation, data: Any) -> dict[str, Any]:
    """Return arguments that the matchers name, or others."""
    named = {
        name: data.draw(st.sampled_from(getattr(matcher, "values", (getattr(matcher, "value", "a"),))))
        for name, matcher in call.arguments.items()
    }
    more: dict[str, Any] = data.draw(st.just({}) | strategies.arguments)
    return named | more


def test_values_that_the_expectation_names_are_not_validated_again(monkeypatch):
    case = compile_case(PLAIN, TOOLS)
    monkeypatch.setattr(CompiledCall, "standing", None)
    assert grade(case, called(RIGHT)).outcome.status == "passed"


def test_a_grade_pickles_copies_and_compares_as_what_it_says():
    result = graded(PLAIN, ToolCall("track", {"order": "A-2"}))
    again = graded(PLAIN, ToolCall("track", {"order": "A-2"}))
    assert result == again
    for made in (pickle.loads(pickle.dumps(again)), copy.deepcopy(again), CaseGrade.from_document(again.to_document())):
        assert (made, made.to_document(), made.statuses) == (result, result.to_document(), result.statuses)
    with pytest.raises(FrozenInstanceError):
        result.__setattr__("tag", "other")
    with pytest.raises(AttributeError):
        result.__getattr__("colour")


def test_a_further_layer_is_graded_where_a_transcript_has_evidence_for_it(monkeypatch):
    thanks = Layer(
        "thanks",
        "thankless",
        lambda given: given.transcript.answer is not None,
        lambda given: LayerGrade(
            Verdict("passed", 1.0, "Thanked.")
            if "thank" in (given.transcript.answer or "")
            else Verdict("failed", 0.0, "No thanks.")
        ),
        "Nothing was said.",
    )
    monkeypatch.setattr(layers, "LAYERS", (thanks,))
    names = (*ON_CALLS, "thanks")
    for module in (decisions, engine):
        monkeypatch.setattr(module, "VERDICT_NAMES", names)
    decisions.decision_of.cache_clear()
    case = compile_case(PLAIN, TOOLS)
    silent, kind, rude = (
        grade(case, Transcript(called(RIGHT).messages, answer=answer)) for answer in (None, "thank you", "bye")
    )
    assert (silent.outcome.status, silent.verdicts["thanks"]) == (
        "passed",
        Verdict("unscored", None, "Nothing was said."),
    )
    assert (kind.outcome.status, kind.verdicts["thanks"].reason) == ("passed", "Thanked.")
    assert (rude.outcome, rude.mode) == (Verdict("failed", 0.0, "No thanks."), "thankless")
    assert list(rude.verdicts) == list(names)
    wrong = grade(case, Transcript(called(ToolCall("history")).messages, answer="bye"))
    assert (wrong.mode, wrong.statuses["thanks"]) == ("wrong_tool", "failed")
    decisions.decision_of.cache_clear()


def talk(*messages: Message, answer: str | None = None, state: dict[str, Any] | None = None) -> Transcript:
    return Transcript((*called(RIGHT).messages, *messages), answer=answer, state=state)


def test_a_reply_that_misuses_a_result_is_said_and_fails_no_case_by_itself():
    call = ToolCall("track", {"order": "A-1"}, id="1")
    told = Message("tool", '{"order": "A-1", "total": 45.00}', call_id="1")
    result = grade(
        compile_case(PLAIN, TOOLS),
        Transcript((Message("assistant", calls=(call,)), told), answer="Your total for order A-1 is $54.00."),
    )
    assert (result.statuses["result_use"], result.outcome.status, result.mode) == ("failed", "passed", "")
    assert result.details["result_use"]["findings"]
    assert CaseGrade.from_document(result.to_document()) == result


def test_arguments_that_fail_are_in_a_bucket():
    assert graded(PLAIN, ToolCall("track", {"order": "A-2"})).details == {"arguments": {"bucket": "semantic"}}
    assert graded(PLAIN, ToolCall("track", {"order": 1})).details == {"arguments": {"bucket": "schema"}}
    assert graded(LISTED, ToolCall("history", {"page": "5"})).details == {"arguments": {"bucket": "edge_case"}}
    assert graded(PLAIN, RIGHT).details == {}


def test_an_error_that_nobody_answers_fails_the_case():
    failed = Message("tool", "Error: order not found", is_error=True)
    result = grade(compile_case(PLAIN, TOOLS), talk(failed, answer="Your order has been shipped."))
    assert (result.statuses["recovery"], result.outcome.status, result.mode) == (
        "failed",
        "failed",
        "unrecovered_error",
    )
    assert result.details["recovery"]["episodes"][0]["error_class"] == "404"
    assert result.tag == FailureTag.WRONG_ANSWER


def test_expected_facts_and_states_are_looked_for_where_the_expectation_names_them():
    wanted = replace(PLAIN, answer={"contains": ["$45"]}, state={"orders": {"A-1": "sent"}})
    case = compile_case(wanted, TOOLS)
    right = grade(case, talk(answer="It was $45.00.", state={"orders": {"A-1": "sent"}}))
    assert (right.statuses["answer"], right.statuses["execution"], right.outcome.status) == ("passed",) * 3
    silent = grade(case, talk(answer="Done.", state={"orders": {"A-1": "sent"}}))
    assert (silent.statuses["answer"], silent.mode) == ("failed", "missing_fact")
    polluted = grade(case, talk(answer="$45", state={"orders": {"A-1": "sent", "A-2": "sent"}}))
    assert (polluted.statuses["execution"], polluted.mode) == ("failed", "wrong_state")
    assert [each["path"] for each in polluted.details["execution"]["polluted"]] == ["/orders/A-2"]
    assert grade(case, talk(answer="$45")).statuses["execution"] == "unscored"


@strategies.whole_cases
@given(strategies.expectations, strategies.transcripts)
def test_the_verdicts_keep_their_rules(expectation, transcript):
    result = grade(compile_case(expectation, NAMED), transcript)
    status = statuses(result)
    if status["selection"] == "failed":
        assert status["arguments"] == "unscored"
    if status["outcome"] == "passed":
        assert status["selection"] == "passed"
        assert status["arguments"] != "failed"
    if "failed" in (status["selection"], status["arguments"]):
        assert status["outcome"] == "failed"
