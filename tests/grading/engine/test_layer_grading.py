"""Layers beside selection and arguments: replies, errors, answers and states."""

from dataclasses import replace

from hypothesis import given

from tests.grading import strategies
from tests.grading.graded import LISTED, NAMED, ON_CALLS, PLAIN, RIGHT, TOOLS, called, graded, statuses, talk
from toolevals.grading.engine import decisions
from toolevals.grading.engine import grading as engine
from toolevals.grading.engine import layer_grading as layers
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.engine.layer_grading import Layer, LayerGrade
from toolevals.grading.values import (
    Message,
    ToolCall,
    Transcript,
)
from toolevals.grading.values.verdicts import CaseGrade, FailureTag, Verdict


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


def test_a_reply_that_misuses_a_result_is_said_and_fails_no_case_by_itself():
    call = ToolCall("track", {"order": "A-1"}, id="1")
    told = Message("tool", '{"order": "A-1", "total": 45.10}', call_id="1")
    result = grade(
        compile_case(PLAIN, TOOLS),
        Transcript((Message("assistant", calls=(call,)), told), answer="Your total for order A-1 is $54.10."),
    )
    assert (result.statuses["result_use"], result.outcome.status, result.mode) == ("failed", "passed", "")
    assert result.details["result_use"]["findings"]
    assert CaseGrade.from_document(result.to_document()) == result


def test_thoughts_are_no_words_to_the_user():
    told = Message("tool", '{"order": "A-1", "total": 45.10}')
    thought = "<think>Perhaps the total is $54.10?</think>"
    case = compile_case(replace(PLAIN, answer={"contains": ["54.10"]}), TOOLS)
    for did in (
        talk(told, Message("assistant", f"{thought}The total of order A-1 is $45.10.")),
        talk(told, answer=f"{thought}The total of order A-1 is $45.10."),
    ):
        result = grade(case, did)
        assert (result.statuses["result_use"], result.statuses["answer"]) == ("passed", "failed")
    failed = Message("tool", "Error: order not found", is_error=True)
    owned = "<think>I must say that order A-1 was not found.</think>We tracked your order A-1, it was shipped."
    assert grade(case, talk(failed, answer=owned)).statuses["recovery"] == "failed"
    declined = Message("assistant", "<think>I cannot help with that.</think>Where did you order it?")
    assert grade(case, Transcript((declined,))).mode == "missed_call"
    said = replace(declined, content="<think>Hm.</think>I cannot help with that.")
    assert grade(case, Transcript((said,))).mode == "refused"


def test_arguments_that_fail_are_in_a_bucket():
    assert graded(PLAIN, ToolCall("track", {"order": "A-2"})).details == {"arguments": {"bucket": "semantic"}}
    assert graded(PLAIN, ToolCall("track", {"order": 1})).details == {"arguments": {"bucket": "schema"}}
    assert graded(LISTED, ToolCall("history", {"page": "5"})).details == {"arguments": {"bucket": "edge_case"}}
    assert graded(PLAIN, RIGHT).details == {}
    for call in (RIGHT, ToolCall("track", {"order": "A-2"})):
        result = graded(PLAIN, call)
        for each in (result, CaseGrade.from_document(result.to_document())):
            assert [each.detail(layer) for layer in ("arguments", "recovery")] == [
                result.details.get("arguments", {}),
                {},
            ]


def test_an_error_that_nobody_answers_fails_the_case_where_recovery_decides():
    failed = Message("tool", "Error: order not found", is_error=True)
    did = talk(failed, answer="We tracked your order A-1, it was shipped.")
    plain = grade(compile_case(PLAIN, TOOLS), did)
    assert (plain.statuses["recovery"], plain.outcome.status, plain.mode, plain.tag) == ("failed", "passed", "", "")
    result = grade(compile_case(PLAIN, TOOLS, decided_by="calls+recovery"), did)
    assert (result.statuses["recovery"], result.outcome.status, result.mode) == (
        "failed",
        "failed",
        "unrecovered_error",
    )
    assert result.details["recovery"]["episodes"][0]["error_class"] == "404"
    assert result.detail("recovery") == result.details["recovery"]
    assert result.tag == FailureTag.WRONG_ANSWER


def test_expected_facts_and_states_are_looked_for_where_the_expectation_names_them():
    wanted = replace(PLAIN, answer={"contains": ["$45"]}, state={"orders": {"A-1": "sent"}})
    case = compile_case(wanted, TOOLS)
    right = grade(case, talk(answer="It was $45.10.", state={"orders": {"A-1": "sent"}}))
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
