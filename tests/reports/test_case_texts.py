"""The message, the calls and the reasons of a case, as cells of `cases.csv`."""

from __future__ import annotations

from typing import Any

import pytest

from reports.cases.table import LONGEST_JSON, LONGEST_MESSAGE, TEXTS, case_texts, texts_of_unread
from toolevals.grading.values import Expectation
from toolevals.grading.values.canonical import exact

INPUT = {"messages": [{"role": "user", "content": "first"}, {"role": "user", "content": "=cancel\nW-1"}]}
GOLD = Expectation.single("cancel", {"order": "W-1", "day": 2}).to_document()
DETAIL = {"verdicts": {"outcome": {"status": "failed", "reason": "another order"}, "shape": {"status": "passed"}}}


def done(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "assistant", "calls": list(calls)}]}


def cells(shown: Any = INPUT, gold: Any = GOLD, transcript: Any = None, detail: Any = DETAIL) -> dict[str, str]:
    found = case_texts(shown, gold, transcript, detail)
    done = None if transcript is None else exact(transcript)
    assert texts_of_unread(exact(shown), exact(gold), done, exact(detail)) == found
    return dict(zip(TEXTS.head, found, strict=True))


def test_a_case_says_its_message_both_calls_and_reasons():
    found = cells(transcript=done({"name": "cancel", "arguments": {"order": "W-2"}}, {"malformed": {"reason": "cut"}}))
    assert found == {
        "message": "=cancel W-1",
        "expected_calls": '[{"additional_arguments":false,"arguments":{"day":{"exact":2},"order":{"exact":"W-1"}},'
        '"tool":"cancel"}]',
        "expected_arguments": '{"day":{"exact":2},"order":{"exact":"W-1"}}',
        "actual_calls": '[{"arguments":{"order":"W-2"},"name":"cancel"},{"malformed":{"reason":"cut"}}]',
        "actual_arguments": '{"order":"W-2"}',
        "reasons": '{"outcome":"another order"}',
    }


@pytest.mark.parametrize(
    ("gold", "transcript", "said"),
    [
        ({"kind": "no_call"}, done(), ("[]", "", "[]", "")),
        ({"kind": "some_call"}, None, ("", "", "", "")),
        ({"kind": "no_call"}, done({"malformed": {"reason": "cut"}, "name": "x"}), ("[]", "", None, "")),
    ],
)
def test_nothing_due_anything_right_and_nothing_readable_differ(gold, transcript, said):
    found = [text for name, text in cells(gold=gold, transcript=transcript).items() if name in TEXTS.head[1:5]]
    assert [text for text, wanted in zip(found, said, strict=True) if wanted is not None and text != wanted] == []


def test_long_text_is_cut_and_shows_it():
    long = {"messages": [{"role": "user", "content": "x" * 50_000}]}
    found = cells(shown=long, transcript=done({"name": "x", "arguments": {"y": "z" * 50_000}}))
    assert len(found["message"]) == LONGEST_MESSAGE
    assert len(found["actual_calls"]) == len(found["actual_arguments"]) == LONGEST_JSON
    assert {found[name][-1] for name in ("message", "actual_calls", "actual_arguments")} == {"…"}
