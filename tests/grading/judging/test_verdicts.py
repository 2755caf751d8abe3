"""Which judgements a case needs, and what it is worth with them and without."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.engine import compile_case, grade
from toolevals.grading.judging import SHIPPED, Briefing, Judgement, JudgementRequest, Judgements, needed_judgements
from toolevals.grading.matchers import Exact, Fields, NaturalLanguage
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
from toolevals.grading.verdicts import CaseGrade, JudgedVerdict

SEND = ToolSpec(
    "send", "Sends a note.", {"properties": {"to": {"type": "string"}, "text": {"type": "string"}}, "required": ["to"]}
)
SAVE = ToolSpec("save", "Saves a note.")
TOOLS = (SEND, SAVE)
ASKED = (Message("user", "Tell Mia politely that I am late"),)


def expects(*calls: CallExpectation, **said: Any) -> Expectation:
    return Expectation("calls", alternatives=(Trajectory(unordered=calls, additional_calls=False),), **said)


NOTE = expects(CallExpectation("send", {"to": Exact("Mia"), "text": NaturalLanguage("politely says so")}))
PLAIN = expects(CallExpectation("send", {"to": Exact("Mia"), "text": Exact("I am late")}))


def did(*calls: ToolCall | MalformedCall, **said: Any) -> Transcript:
    return Transcript((Message("assistant", calls=calls),), **said)


def sent(text: str, to: str = "Mia") -> ToolCall:
    return ToolCall("send", {"to": to, "text": text})


class Court:
    """Asks a scripted judge until nothing is missing, and keeps what it was asked."""

    def __init__(self, expectation: Expectation, transcript: Transcript | None, *rubrics: str) -> None:
        self.compiled = compile_case(expectation, TOOLS)
        self.transcript = transcript
        self.briefing = Briefing([SHIPPED[name] for name in rubrics], ASKED)
        self.asked: list[JudgementRequest] = []
        self.made: list[Judgement] = []

    @property
    def judgements(self) -> Judgements:
        return Judgements.of(self.briefing, self.made)

    @property
    def needed(self) -> tuple[JudgementRequest, ...]:
        plain = grade(self.compiled, self.transcript)
        return needed_judgements(self.compiled, self.transcript, plain, self.judgements)

    def judged_by(self, answer: Any) -> CaseGrade:
        while requests := self.needed:
            self.asked += requests
            for request in requests:
                said = answer(request.inputs)
                self.made.append(
                    Judgement.errored(request, said, model="m")
                    if isinstance(said, str)
                    else Judgement.of_answer(request, {"reason": "Because.", **said}, model="m-2026-01-01")
                )
        return self.grade

    @property
    def grade(self) -> CaseGrade:
        return grade(self.compiled, self.transcript, self.judgements)


def score(value: float) -> Any:
    return lambda _: {"score": value}


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
def test_where_the_subject_said_nothing_no_judge_is_asked(transcript):
    court = Court(PLAIN, transcript, *SHIPPED)
    case = court.judged_by(score(1))
    assert court.asked == []
    assert {verdict.status for verdict in case.judged.values()} == {"unscored"}


RESULT = '{"order": {"total": 45, "state": "sent"}, "items": ["lamp"]}'
USED = Transcript(
    (
        Message("assistant", "I look it up.", (ToolCall("save", {}, "c1"),)),
        Message("tool", RESULT, call_id="c1"),
        Message("assistant", "It is sent and costs 45."),
    ),
    answer="It is sent and costs 45.",
)
ANY = Expectation("some_call")


def test_claims_are_counted_by_us_and_not_by_the_judge():
    claims = [{"claim": "sent", "supported": True}, {"claim": "free", "supported": False}]
    court = Court(ANY, USED, "result_groundedness")
    judged = court.judged_by(lambda _: {"claims": claims}).judged["result_groundedness"]
    assert (judged.status, judged.value) == ("failed", 0.5)
    assert court.asked[0].inputs["replies"] == ["It is sent and costs 45."]
    none = Court(ANY, USED, "result_groundedness").judged_by(lambda _: {"claims": []})
    assert none.judged["result_groundedness"].status == "unscored"


def test_a_field_that_was_not_given_supports_no_claim():
    claims = [{"claim": "a", "field": "0/order/total"}, {"claim": "b", "field": "0/order/price"}]
    court = Court(ANY, USED, "chunk_attribution", "chunk_utilisation")

    def answer(inputs: Any) -> Any:
        if request_is_about_use(inputs):
            fields = [("0/order/total", True, True), ("0/items/0", True, False), ("9/x", True, False)]
            keys = ("field", "relevant", "used")
            return {"fields": [dict(zip(keys, each, strict=True)) for each in fields]}
        return {"claims": claims}

    asked: list[str] = []

    def request_is_about_use(inputs: Any) -> bool:
        asked.append("x")
        return len(asked) == 2

    case = court.judged_by(answer)
    assert case.judged["chunk_attribution"].value == 0.5
    assert case.judged["chunk_utilisation"].value == 0.5
    assert [each["field"] for each in court.asked[0].inputs["fields"]] == [
        "0/order/total",
        "0/order/state",
        "0/items/0",
    ]


FAILED = Transcript(
    (
        Message("assistant", calls=(ToolCall("save", {}, "c1"),)),
        Message("tool", "Error: 503", call_id="c1", is_error=True),
        Message("assistant", "All done, saved!"),
    )
)


@pytest.mark.parametrize(
    ("rubric", "expectation", "transcript", "asked"),
    [
        ("trajectory_recovery", ANY, FAILED, True),
        ("trajectory_recovery", ANY, USED, False),
        ("task_completion", ANY, USED, True),
        ("task_completion", ANY, did(MalformedCall("no JSON")), False),
        ("reasoning_quality", ANY, USED, True),
        ("reasoning_quality", ANY, FAILED, False),
        ("context_adherence", ANY, USED, True),
        ("context_adherence", ANY, did(ToolCall("save", {})), False),
        ("tool_choice", ANY, did(ToolCall("save", {})), True),
        ("tool_choice", PLAIN, did(ToolCall("save", {})), True),
        ("tool_choice", PLAIN, did(sent("I am late")), False),
        ("tool_choice", ANY, did(ToolCall("send", {})), False),
    ],
)
def test_each_rubric_has_its_gate(rubric, expectation, transcript, asked):
    court = Court(expectation, transcript, rubric)
    assert bool(court.needed) is asked
    case = court.judged_by(score(1))
    assert case.judged[rubric].status == ("passed" if asked else "unscored")
    assert case.statuses == grade(court.compiled, transcript).statuses


def test_what_is_left_out_says_why_and_is_never_asked():
    court = Court(PLAIN, did(sent("late")), "argument_semantics")
    court.briefing = Briefing(court.briefing.rubrics, ASKED, left_out={"argument_semantics": "Not in the sample."})
    assert court.needed == ()
    judged = court.grade.judged["argument_semantics"]
    assert (judged.status, judged.reason) == ("unscored", "Not in the sample.")


def test_what_is_too_long_for_a_judge_is_unscored():
    court = Court(PLAIN, did(sent("x" * 300_000)), "argument_semantics")
    assert court.needed == ()
    assert "longer than" in court.grade.judged["argument_semantics"].reason


def test_a_grade_with_judgements_keeps_them_in_its_document():
    case = Court(NOTE, did(sent("Sorry")), "natural_language", "task_completion").judged_by(score(1))
    again = CaseGrade.from_document(case.to_document())
    assert again.judged == case.judged
    assert isinstance(again.judged["task_completion"], JudgedVerdict)
