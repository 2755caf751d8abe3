"""Conversations that stopped early before their end: failed, or left out, as a run says."""

from __future__ import annotations

import pytest

from tests.grading.graded import PLAIN, RIGHT, TOOLS
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values import Message, ToolCall, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdict_table import VERDICT_NAMES

CASE = compile_case(PLAIN, TOOLS)
CUT = Transcript((Message("assistant", None, (RIGHT,)),), ended="steps")


def test_a_cut_conversation_fails_whatever_it_had_done_by_then():
    found = grade(CASE, CUT)
    assert (found.outcome.status, found.mode, found.tag) == ("failed", "cut_off", "WRONG_ANSWER")
    assert found.outcome.reason == "The conversation was cut: it reached its limit of steps."
    assert found.statuses["selection"] == found.statuses["arguments"] == "passed"
    wrong = Transcript((Message("assistant", None, (ToolCall("track", {"order": "A-2"}),)),), ended="loop")
    assert grade(CASE, wrong).mode == "wrong_value"


def test_it_is_left_out_where_the_run_says_so():
    found = grade(CASE, CUT, cut_off="left_out")
    assert found.statuses == dict.fromkeys(VERDICT_NAMES, "unscored")
    assert found.outcome.reason == "Left out, as the run says: it reached its limit of steps."
    whole = Transcript(CUT.messages)
    assert grade(CASE, whole, cut_off="left_out") == grade(CASE, whole)


def test_what_is_uploaded_says_why_it_was_cut_and_what_others_recorded():
    facts = {"source": "tau2-bench", "reward": 0.0, "ending": "max_steps"}
    row = {"id": "a", "tool_calls": [{"name": "track", "arguments": {}}], "ended": "steps", "recorded": facts}
    transcript = read_prediction(row).transcript
    assert (transcript.ended, transcript.recorded) == ("steps", facts)
    assert Transcript.from_document(transcript.to_document()) == transcript
    for wrong in ({"ended": "max_steps"}, {"recorded": {"reward": "1"}}, {"recorded": {"secret": "s"}}):
        with pytest.raises(InvalidDocument):
            read_prediction(row | wrong)
