"""Test which judgements a case needs, and what it is worth with them and without."""

from __future__ import annotations

import pytest

from tests.grading.judging.court import ASKED, NOTE, PLAIN, TOOLS, Court, did, expects, score, sent
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.judging import SHIPPED
from toolevals.grading.values import (
    CallExpectation,
    MalformedCall,
    ToolCall,
    Transcript,
)
from toolevals.grading.values.matchers import Exact, Fields, NaturalLanguage


def test_without_judgements_nothing_is_judged_and_criteria_in_words_stay_open():
    plain = grade(compile_case(NOTE, TOOLS), did(sent("Sorry, I am late")))
    assert plain.judged == {}
    assert plain.statuses["outcome"] == "unscored"
    assert "judged" not in plain.to_document()


def test_a_rubric_that_is_on_is_unscored_until_somebody_has_judged():
    court = Court(NOTE, did(sent("Sorry")), "natural_language")
    assert court.grade.judged["natural_language"].status == "unscored"
    assert court.grade.statuses["outcome"] == "unscored"
    (request,) = court.needed
    assert request.inputs["criteria"] == "politely says so"
    assert request.inputs["value"] == "Sorry"
    assert request.inputs["conversation"]["messages"][0]["content"] == ASKED[0].content


@pytest.mark.parametrize(("value", "status"), [(1, "passed"), (0, "failed")])
def test_criteria_in_words_decide_the_case(value, status):
    court = Court(NOTE, did(sent("Sorry")), "natural_language")
    case = court.judged_by(score(value))
    for name in ("outcome", "arguments", "equivalence"):
        assert case.statuses[name] == status
    judged = case.judged["natural_language"]
    assert (judged.status, judged.value, judged.reason, judged.model) == (status, value, "Because.", "m-2026-01-01")
    assert judged.asked == (court.asked[0].digest,)
    assert case.mode == ("" if value else "wrong_value")
    assert case.pairs[0].arguments == status


def test_criteria_inside_an_object_are_asked_one_by_one_and_the_same_question_once():
    inner = NaturalLanguage("a greeting")
    expected = expects(
        CallExpectation("save", {"note": Fields({"a": inner, "b": inner, "c": NaturalLanguage("short")})})
    )
    court = Court(expected, did(ToolCall("save", {"note": {"a": "hi", "b": "hi", "c": "x"}})), "natural_language")
    case = court.judged_by(score(1))
    assert [(each.inputs["criteria"], each.inputs["value"]) for each in court.asked] == [
        ("a greeting", "hi"),
        ("short", "x"),
    ]
    assert case.statuses["outcome"] == "passed"


def test_an_answer_that_changes_which_calls_fit_raises_the_next_question():
    two = expects(
        CallExpectation("send", {"text": NaturalLanguage("a greeting")}),
        CallExpectation("send", {"text": NaturalLanguage("a farewell")}),
    )
    court = Court(two, did(sent("bye"), sent("hi")), "natural_language")
    right = {("a greeting", "hi"), ("a farewell", "bye")}
    case = court.judged_by(lambda inputs: {"score": int((inputs["criteria"], inputs["value"]) in right)})
    assert case.statuses["outcome"] == "passed"
    assert len(court.asked) == 4


def test_a_judgement_that_errored_is_errored_in_its_own_column_alone():
    court = Court(NOTE, did(sent("Sorry")), "natural_language")
    case = court.judged_by(lambda _: "500: out of order")
    assert case.judged["natural_language"].status == "errored"
    assert case.judged["natural_language"].reason == "500: out of order"
    assert case.statuses["outcome"] == "unscored"
    assert case.tag == ""


@pytest.mark.parametrize(("value", "status"), [(1, "passed"), (0.5, "failed"), (0, "failed")])
def test_argument_semantics_stand_beside_what_rules_say(value, status):
    court = Court(PLAIN, did(sent("I'm running late")), "argument_semantics")
    case = court.judged_by(score(value))
    assert (case.judged["argument_semantics"].status, case.judged["argument_semantics"].value) == (status, value)
    assert case.statuses["arguments"] == case.statuses["outcome"] == "failed"
    assert court.asked[0].inputs["actual"]["arguments"]["text"] == "I'm running late"
    assert court.asked[0].inputs["expected"]["tool"] == "send"


def test_equal_arguments_are_settled_by_rules_and_nobody_is_asked():
    court = Court(PLAIN, did(sent("I am late")), "argument_semantics")
    case = court.judged_by(score(0))
    assert court.asked == []
    judged = case.judged["argument_semantics"]
    assert (judged.status, judged.value, judged.model) == ("passed", 1.0, "")
    assert "rules" in judged.reason


def test_of_several_calls_only_those_that_differ_are_asked_about():
    two = expects(CallExpectation("send", {"to": Exact("Mia")}), CallExpectation("send", {"to": Exact("Tom")}))
    court = Court(two, did(sent("x", "Mia"), sent("x", "Thomas")), "argument_semantics")
    case = court.judged_by(score(0.5))
    assert len(court.asked) == 1
    assert case.judged["argument_semantics"].value == 0.75


@pytest.mark.parametrize(
    "transcript",
    [
        did(ToolCall("save", {})),
        did(sent("x"), sent("y")),
        did(ToolCall("send", {"to": "Mia"})),
        did(ToolCall("send", {"to": 5, "text": "x"})),
        did(MalformedCall("no JSON")),
        Transcript(),
    ],
)
def test_where_a_gate_fails_nobody_is_asked_and_the_column_says_why(transcript):
    court = Court(PLAIN, transcript, "argument_semantics", "natural_language")
    case = court.judged_by(score(1))
    assert court.asked == []
    assert {verdict.status for verdict in case.judged.values()} == {"unscored"}
    assert all(verdict.reason.startswith("Not asked: ") for verdict in case.judged.values())


@pytest.mark.parametrize("transcript", [None, did(error="down")])
def test_where_the_agent_said_nothing_no_judge_is_asked(transcript):
    court = Court(PLAIN, transcript, *SHIPPED)
    case = court.judged_by(score(1))
    assert court.asked == []
    assert {verdict.status for verdict in case.judged.values()} == {"unscored"}
