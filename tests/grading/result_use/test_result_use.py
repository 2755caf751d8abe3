"""The grader on transcripts small enough to follow by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolevals.grading.result_use import ResultUse, grade_result_use
from toolevals.grading.values import Message, ToolCall, Transcript

_ORDER = {"order_id": "ORD-9182", "total_cents": 4500, "placed": "2025-03-14", "status": "shipped", "gift": False}


def _use(result: Any, *replies: str, user: str = "Where is my order?", is_error: bool = False) -> ResultUse:
    content = result if isinstance(result, str) else json.dumps(result)
    return grade_result_use(
        Transcript(
            (
                Message("user", user),
                Message("assistant", None, (ToolCall("get_order", {"n": 1}, "c1"),)),
                Message("tool", content, call_id="c1", is_error=is_error),
                *(message for reply in replies for message in (Message("assistant", reply), Message("user", "And?"))),
            )[: 3 + 2 * len(replies) - 1]
        )
    )


def test_without_a_result_or_a_reply_nothing_is_scored() -> None:
    assert grade_result_use(Transcript()).verdict.status == "unscored"
    assert grade_result_use(Transcript((Message("assistant", "It costs $5."),))).verdict.status == "unscored"
    assert _use(_ORDER).verdict.status == "unscored"


def test_a_right_answer_passes_with_its_sources() -> None:
    use = _use(_ORDER, "Order ORD-9182 of March 14 costs $45.00.")
    assert use.verdict.status == "passed"
    assert use.verdict.value == 1.0
    assert [(claim.text, attribution.pointer, attribution.rule) for claim, attribution in _pairs(use)] == [
        ("ORD-9182", "/order_id", "equal"),
        ("March 14", "/placed", "equal"),
        ("$45.00", "/total_cents", "minor_units"),
    ]
    assert all(attribution.call_id == "c1" and attribution.message == 2 for attribution in use.attributions)


def test_flipped_digits_fail_with_the_field() -> None:
    use = _use(_ORDER, "Order ORD-9182 costs $54.00.")
    (finding,) = use.findings
    assert (finding.kind, finding.pointer, finding.message) == ("flipped_digits", "/total_cents", 2)
    assert use.claims[finding.claims[0]].text == "$54.00"
    assert use.verdict.status == "failed"
    assert use.verdict.value == 0.5
    assert "4500" in use.verdict.reason


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("It costs $4,500.00.", "changed_scale"),
        ("It was placed on April 2.", "contradiction"),
        ("Delivery is usually $6.99.", "prior_knowledge"),
        ("Your coupon is XK-4471-B.", "ungrounded"),
        ("Thank you for your patience.", "unused_result"),
    ],
)
def test_each_kind_of_failure(reply: str, kind: str) -> None:
    assert kind in {finding.kind for finding in _use(_ORDER, reply).findings}


def test_a_later_turn_that_departs_is_drift() -> None:
    use = _use(_ORDER, "The total is $45.00.", "The total is $47.00.")
    assert [finding.kind for finding in use.findings] == ["drift"]


def test_values_of_two_things_swapped() -> None:
    rows = [{"id": "A-1", "price": 30.5}, {"id": "B-2", "price": 12.25}]
    use = _use(rows, "A-1 costs $12.25 and B-2 costs $30.50.")
    assert {finding.kind for finding in use.findings} == {"contradiction"}
    assert len(use.findings) == 2


def test_a_user_who_repeats_an_invention_does_not_support_it() -> None:
    transcript = Transcript(
        (
            Message("tool", '{"name": "Ann", "age": 41}'),
            Message("assistant", "Ann's badge is QX-7741."),
            Message("user", "QX-7741, thanks."),
            Message("assistant", "Yes, QX-7741."),
        )
    )
    use = grade_result_use(transcript)
    assert [attribution.source for attribution in use.attributions] == ["ungrounded", "ungrounded"]
    assert [finding.claims for finding in use.findings if finding.kind == "ungrounded"] == [(0, 1)]


def test_the_separate_answer_is_read_once() -> None:
    messages = (Message("tool", '{"total": 12}'), Message("assistant", "It is 12 in total."))
    assert len(grade_result_use(Transcript(messages, answer="It is 12 in total.")).claims) == 1
    other = grade_result_use(Transcript(messages, answer="So: 12."))
    assert [claim.message for claim in other.claims] == [1, 2]


def test_utilisation_counts_the_fields_that_text_can_show() -> None:
    (fields,) = _use(_ORDER, "ORD-9182 has shipped.").utilisation
    assert fields.used == ("/order_id", "/status")
    assert fields.unused == ("/total_cents", "/placed")
    assert fields.share == 0.5
    assert fields.tool == "get_order"


def test_a_result_that_leads_to_the_next_call_is_not_unused() -> None:
    transcript = Transcript(
        (
            Message("assistant", None, (ToolCall("find", {}, "a"),)),
            Message("tool", '{"customer": "C-310", "level": 4}', call_id="a"),
            Message("assistant", None, (ToolCall("get", {"id": "C-310"}, "b"),)),
            Message("tool", '{"name": "Ines Kaya", "city": "Graz"}', call_id="b"),
            Message("assistant", "It is Ines Kaya."),
        )
    )
    use = grade_result_use(transcript)
    assert use.verdict.status == "passed"
    assert [fields.passed_on for fields in use.utilisation] == [True, False]


@pytest.mark.parametrize("result", ["ok", '{"ok": true}', '{"orders": [], "count": 0}', '{"n": 1}', ""])
def test_receipts_need_not_be_used(result: str) -> None:
    assert _use(result, "Done, have a nice day.").verdict.status == "passed"


def test_errors_need_not_be_used() -> None:
    assert _use("Error: 503 upstream", "It does not work right now.", is_error=True).verdict.status == "passed"


def test_lines_of_text_are_fields() -> None:
    use = _use("Hotel Ribeira\nCheck-in 15:00, check-out 11:00", "Check-out is at 12:00.")
    (finding,) = use.findings
    assert (finding.kind, finding.pointer) == ("contradiction", "/1")


def test_what_is_written_down_is_json() -> None:
    document = _use(_ORDER, "It costs $54.00 and was placed on March 14.").to_document()
    assert json.loads(json.dumps(document)) == document


def _pairs(use: ResultUse) -> Any:
    return zip(use.claims, use.attributions, strict=True)
