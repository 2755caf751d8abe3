"""Test which rubric is asked about which case, claims that are counted by us, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.grading.judging.court import ASKED, NOTE, PLAIN, Court, did, score, sent
from toolevals.grading.engine.grading import grade
from toolevals.grading.judging import Briefing
from toolevals.grading.values import (
    Expectation,
    MalformedCall,
    Message,
    ToolCall,
    Transcript,
)
from toolevals.grading.values.verdicts import CaseGrade, JudgedVerdict

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


THOUGHTFUL = Transcript(
    (
        Message("assistant", "<think>Mia may be cross.</think>Saving it.", (ToolCall("save", {}, "c1"),)),
        Message("tool", "{}", call_id="c1"),
        Message("assistant", "<think>It says saved, or does it?</think>Saved."),
    ),
    answer="<think>It says saved, or does it?</think>Saved.",
)


@pytest.mark.parametrize(
    ("rubric", "sees"), [("context_adherence", False), ("task_completion", False), ("reasoning_quality", True)]
)
def test_only_a_judge_of_reasons_is_shown_thoughts(rubric, sees):
    (request,) = Court(ANY, THOUGHTFUL, rubric).needed
    shown = str(request.inputs)
    assert ("Mia may be cross" in shown or "or does it" in shown) is sees
    assert "Saved." in shown


KEPT_APART = Transcript(
    (
        Message("assistant", calls=(ToolCall("save", {}, "c1"),), thought="Mia may be cross."),
        Message("tool", "{}", call_id="c1"),
        Message("assistant", "Saved.", thought="It says saved, or does it?"),
    ),
    answer="Saved.",
    goal="Keep what Mia wrote.",
)


@pytest.mark.parametrize(
    ("rubric", "sees"), [("context_adherence", False), ("task_completion", False), ("reasoning_quality", True)]
)
def test_a_thought_that_was_recorded_apart_is_shown_to_the_judge_of_reasons_and_the_goal_to_all(rubric, sees):
    (request,) = Court(ANY, KEPT_APART, rubric).needed
    shown = str(request.inputs)
    assert ("Mia may be cross" in shown and "or does it" in shown) is sees
    assert ("cross" in shown or "or does it" in shown) is sees
    assert "Saved." in shown
    if "conversation" in request.inputs:
        assert request.inputs["conversation"]["goal"] == "Keep what Mia wrote."


def test_a_judge_of_reasons_is_not_asked_where_the_words_are_the_call_itself():
    said = Message("assistant", '{"name": "save", "arguments": {}}', (ToolCall("save", {}),), from_text=True)
    assert Court(ANY, Transcript((said,)), "reasoning_quality").needed == ()


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
