"""The grader on transcripts small enough to follow by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolevals.grading.layers.result_use import FINDING_SENTENCES, ResultUse, grade_result_use
from toolevals.grading.values import Message, ToolCall, Transcript

_ORDER = {"order_id": "ORD-9182", "total_cents": 4510, "placed": "2025-03-14", "status": "shipped"}


def _use(
    result: Any, *replies: str, user: str = "And my order?", system: str = "", is_error: bool = False
) -> ResultUse:
    content = result if isinstance(result, str) else json.dumps(result)
    messages = [
        *([Message("system", system)] if system else []),
        Message("user", user),
        Message("assistant", None, (ToolCall("get_order", {"n": 1}, "c1"),)),
        Message("tool", content, call_id="c1", is_error=is_error),
    ]
    for reply in replies:
        messages += [Message("assistant", reply), Message("user", "Thanks.")]
    return grade_result_use(Transcript(tuple(messages[:-1] if replies else messages)))


def _kinds(use: ResultUse) -> set[str]:
    return {finding.kind for finding in use.findings}


def test_without_a_result_or_a_reply_nothing_is_scored() -> None:
    assert grade_result_use(Transcript()).verdict.status == "unscored"
    assert grade_result_use(Transcript((Message("assistant", "It costs $5."),))).verdict.status == "unscored"
    assert _use(_ORDER).verdict.status == "unscored"


def test_a_right_answer_passes_with_its_sources() -> None:
    use = _use(_ORDER, "Order ORD-9182 of March 14 costs $45.10.")
    assert (use.verdict.status, use.verdict.value) == ("passed", 1.0)
    pairs = zip(use.claims, use.attributions, strict=True)
    assert [(claim.text, attribution.pointer, attribution.rule) for claim, attribution in pairs] == [
        ("ORD-9182", "/order_id", "equal"),
        ("March 14", "/placed", "equal"),
        ("$45.10", "/total_cents", "minor_units"),
    ]
    assert all(attribution.call_id == "c1" and attribution.message == 2 for attribution in use.attributions)


def test_a_finding_leads_to_its_words_and_its_field() -> None:
    use = _use(_ORDER, "The total of ORD-9182 is $54.10.")
    (finding,) = use.findings
    assert (finding.kind, finding.pointer, finding.message, finding.call_id) == (
        "flipped_digits",
        "/total_cents",
        2,
        "c1",
    )
    assert use.claims[finding.claims[0]].text == "$54.10"
    assert (use.verdict.status, use.verdict.value) == ("failed", 0.5)
    assert "45" in use.verdict.reason


@pytest.mark.parametrize(
    ("result", "reply", "kind"),
    [
        ({"serial": "IV-40551"}, "The serial is IV-40515.", "flipped_digits"),
        ({"konto": "DE02 1203 0000 0000 2020 51"}, "Bitte an DE02 1203 0000 0000 2200 51.", "flipped_digits"),
        ({"spread_bp": 145}, "The spread is 14.5 %.", "changed_scale"),
        ({"tel": "202-555-0143"}, "Call 202 555 0134.", "flipped_digits"),
        ({"amount_cents": 21300}, "That makes $2,130.00.", "changed_scale"),
        ({"pv_mwh": 0.684}, "It made 6,840 kWh.", "changed_scale"),
        ({"wind_kn": 19, "gust_kn": 27}, "Gusts of 27 km/h are forecast.", "wrong_unit"),
        ({"value": 138, "unit": "g/L"}, "Your value is 138 g/dL.", "wrong_unit"),
        ({"total": 8502, "currency": "CHF"}, "The total is €8,502.", "wrong_unit"),
        ({"pickup_until": "2027-06-18"}, "Collect it until Thursday, 18 June.", "wrong_date"),
    ],
)  # fmt: skip
def test_each_kind_of_contradiction(result: Any, reply: str, kind: str) -> None:
    use = _use(result, reply)
    assert kind in _kinds(use)
    assert use.verdict.status == "failed"
    assert _kinds(use) <= set(FINDING_SENTENCES)


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        ({"completion_rate": 0.643}, "6.43 % listened to the end."),
        ({"outstanding": 1850000, "currency": "INR"}, "18.5 lakh are outstanding."),
        ({"wh": 612000}, "In kWh that is 612."),
        ({"gpu": 684500000}, "It costs $684.50."),
        ({"entries": [{"min": 2400}, {"min": 1350}]}, "That is 62.5 hours, 40 and 22.5."),
        ({"price": 57.1, "currency": "USD"}, "10 shares at this price cost $571.00."),
        ({"weight_kg": 12.5}, "100 of them have a weight of 1,250 kg."),
        ({"price": 54.0}, "The price drops by 10 % to $45 or so."),
        ({"price": 120.0, "discount": 15.0}, "With the discount the price is $102.00."),
        ({"price": 120.0, "shipping": 5.0}, "With shipping the price is $125.00."),
        ({"deck": "9594745976", "price": 184.13}, "Deck 9594745976 – $184.13."),
        ({"discount": 0.15, "price": 80.0, "currency": "USD"}, "With 15% off, it drops from $80 to $68."),
        ({"gross": 4310.0, "net": 3047.55}, "Your net pay is 3,047.55: of the gross, 4,310.00, the rest is tax."),
        ({"checkin": "16:00", "checkout": "10:30"}, "You can check out until 10:30; check-in is from 4 pm."),
        ({"last_four": "2411", "brand": "visa"}, "You can cancel within 24 hours."),
        ({"price": 57.1}, "10 shares cost $571.00."),
        ({"adult": 14.0, "student": 11.0}, "Two adults and a student pay 39.00."),
        ({"used_gb": 13.4, "included_gb": 20}, "6.6 GB are left, a third."),
        ({"seconds": 19740, "filament_mm": 20130}, "It takes 5 hours and 29 minutes and 20.1 m of filament."),
        ({"prices_cents": {"ADULT": 1650}}, "An adult pays €16.50."),
        ({"tel": "+49 30 1234567"}, "Call 030 1234567."),
        ({"hs": "6912002300"}, "The code is 6912 00 23 00."),
        ({"area_ha": 0.42}, "The plot has 4,200 m²."),
        ({"start": "2025-04-08T10:00:00Z"}, "It starts at 6:00 EDT."),
        ({"last_dose": "2026-06-21"}, "The booster is due a year later, on 21 June 2027."),
        ({"paid_on": "2027-04-14", "interval": "monthly"}, "You pay again on 14 May."),
        ({"due": "2027-04-14"}, "You pay on 14 April, 14 May and 14 June."),
        ({"amount": 4500, "currency": "usd"}, "You paid $45.10."),
        ({"output_gwh": 1.2, "voltage_mv": 3300}, "It made 1,200 MWh at 3.3 kV or 3.3 volts."),
        ({"dose_mcg": 250, "flow_lmin": 4}, "The dose is 0.25 mg."),
        ({"isbn": "978-3-16-148410-0"}, "We sold 987 of them."),
        ({"name": "Adult", "guests": 18}, "Guests are at least 16 years old; 20 guests asked for it."),
        ("Contact 0664 555 0198 for order 6912002300.", "Call 06645550198 about 6912 00 23 00."),
        ({"delay_min": 30}, "You have 30 days to return it."),
        ({"rate_pct": 12.5}, "It rose by 1.25 percentage points."),
        ({"start": "2027-03-05"}, "Come on Thursday. 5 March is the last day."),
        ({"price_cents": 12550}, "Ten cost $1,255.00."),
        ({"total": 1243.0, "fee": 9.0, "currency": "EUR"}, "It is €1,234.00 without the fee."),
        ({"pot_thousand_eur": 14.82}, "There are €14.82 thousand."),
        # What only words tell apart.
        ({"class_avg": 2.6, "own_avg": 2.1}, "Your own average is 2.6."),
        ({"gate": "G94"}, "It leaves from gate G49."),
        ({"reading": 138}, "The reading is 139."),
        ({"size_mib": 512}, "It has 512 MB."),
        ({"amount_minor": 5275, "currency": "JPY"}, "The amount is ¥52.75."),
    ],
)
def test_what_nobody_could_show_to_be_wrong_is_not_accused(result: Any, reply: str) -> None:
    assert _kinds(_use(result, reply)) == set()


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        ({"tel": "+49 30 1234 5678"}, "Call +49-30-1234-5678."),
        ({"rooms": [{"no": f"r{place}"} for place in range(14)]}, "There are 14 rooms."),
        ({"rate_bps": 845}, "The rate is 8.45 %."),
        ({"tin_bp": 187.5}, "Un 1,875 %."),
        ({"amount": 5200, "currency": "jpy"}, "It costs ¥5,200."),
        ({"amount_minor": 5200, "currency": "JPY"}, "It costs ¥5,200."),
        ({"amount_minor": 1275250, "currency": "KWD"}, "You have KWD 1,275.250."),
        ({"entries": [{"min": 2400}, {"min": 1350}]}, "That is 62.5 hours."),
        ({"by": "Ines Kaya", "on": "2027-04-14"}, "It was written by Ines Kaya on Wednesday, 14 April."),
    ],
)
def test_what_follows_passes(result: Any, reply: str) -> None:
    assert _use(result, reply).verdict.status == "passed"


def test_what_only_the_policy_could_support_is_for_a_judge_without_it() -> None:
    reply = "Refunds take 5 to 7 days, and order ORD-9182 has shipped."
    use = _use(_ORDER, reply)
    assert use.verdict.status == "unscored"
    assert "7 days" in use.question
    assert "7 days" in use.verdict.reason
    assert _use(_ORDER, reply, system="Refunds take 5 to 7 days.").verdict.status == "passed"


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        # A name that nothing gave, also in scripts without capitals.
        ({"on": "2027-04-14"}, "It was written by Ines Kaya on 14 April."),
        ({"on": "2027-04-14"}, "It was written by m.castellano on 14 April."),
        ({"premium": 18400, "currency": "INR"}, "वार्षिक प्रीमियम ₹18,400 है।"),
        # Sentences in words alone.
        ({"id": "p1", "open": False}, "The pool is open."),
        ({"no": "W-1", "status": "failed"}, "Order W-1 is known. It was completed."),
        # Results that say yes or no.
        ({"open": False, "celsius": 26}, "The pool is open and has 26 °C."),
        ({"lunch_included": False, "price": 75}, "Lunch is included in the €75."),
        # A unit that nothing named, and a small number that nothing gave.
        ({"area": 35}, "It has 35 hectares."),
        ({"fee": 12}, "The fee is 12 %."),
        ({"no": "W-1"}, "Order W-1 has four parts."),
        # Values of which the result holds others of the same kind and unit.
        ({"feed_w": 1480, "load_w": 3245}, "The load is 3,245 W."),
        ([{"no": "B2", "eur": 96}, {"no": "B7", "eur": 99}], "It costs €99."),
        ({"open": ["a", "b"], "closed": ["c", "d", "e"]}, "There are two."),
        # Times in other zones, and fractions that no unit names.
        ({"start": "2025-04-08T10:00:00Z"}, "It starts at 10:00 EST."),
        ({"value": 0.018}, "It is 1.8 %."),
        # Sums that mix units, or a count with money, or two results; a product.
        ({"paint_kg": 860, "brushes_kg": 145, "pallets": 6}, "That is 1,011 kg."),
        ({"price": 116.0, "seats": 4}, "That is $120.00."),
        ({"total_kwh": 912.5, "power_kw": 22}, "That is 934.5 kWh."),
        ({"price": 57.1}, "10 shares cost $571.00."),
        ({"due": "2026-03-13", "days": 3}, "Pay by 16 March."),
    ],
)
def test_what_is_not_traced_is_for_a_judge(result: Any, reply: str) -> None:
    use = _use(result, reply)
    assert use.verdict.status == "unscored"
    assert use.question.startswith("Do ")


def test_a_derivation_names_its_fields() -> None:
    use = _use({"lots": [{"kg": 860}, {"kg": 145}, {"kg": 210}]}, "That is 1,215 kg in 3 lots.")
    assert use.verdict.status == "passed"
    assert [(each.rule, each.fields) for each in use.attributions] == [
        ("sum", ("/lots/0/kg", "/lots/1/kg", "/lots/2/kg")),
        ("count", ("/lots",)),
    ]


def test_a_later_turn_is_compared_too() -> None:
    use = _use(_ORDER, "The total is $45.10.", "The total is $54.10.")
    assert [(finding.kind, use.claims[finding.claims[0]].message) for finding in use.findings] == [
        ("flipped_digits", 5)
    ]


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        ({"price": 120.0, "rate": 15.0}, "With the rate the price is $102.00."),
        ({"price": 120.0, "deposit": 18.0}, "With the deposit the price is $102.00."),
        ({"carton_kg": 12.5, "cartons": 10}, "All weigh 125 kg."),
        ({"carton_kg": 12.5}, "Ten weigh 125 kg."),
    ],
)
def test_what_other_numbers_explain_is_not_accused(result: Any, reply: str) -> None:
    assert _kinds(_use(result, reply)) == set()


def test_among_many_fields_nothing_is_near() -> None:
    result = {"total_eur": 4310, "others": [f"n{place}" for place in range(30)]}
    assert not _use(result, "The total is €4,130.").findings
    assert _use({"total_eur": 4310}, "The total is €4,130.").findings


@pytest.mark.parametrize("result", ["ok", '{"ok": true}', '{"orders": [], "count": 0}', "[]", ""])
def test_empty_results_and_receipts_are_no_failure(result: str) -> None:
    assert _use(result, "You have no open orders. Have a nice day.").verdict.status == "unscored"


@pytest.mark.parametrize(
    "result",
    [
        "Error: 503 upstream",
        '{"error": {"code": "SLOT_TAKEN", "retry_after": 45}}',
        '{"isError": true, "content": "54"}',
        '{"error": "Rate limit exceeded", "retry_after_minutes": 45}',
    ],
)
def test_honest_replies_after_an_error_are_no_failure(result: str) -> None:
    assert _use(result, "It does not work right now; try again in 54 minutes.").verdict.status != "failed"


def test_what_a_user_said_supports_a_claim() -> None:
    assert _use({"total": 45.0}, "You said $54.00, but it is $45.00.", user="I paid $54.00").verdict.status == "passed"


def test_the_separate_answer_is_read_once() -> None:
    messages = (Message("tool", '{"total": 12}'), Message("assistant", "It is 12 in total."))
    assert len(grade_result_use(Transcript(messages, answer="It is 12 in total.")).claims) == 1
    other = grade_result_use(Transcript(messages, answer="So: 12."))
    assert [claim.message for claim in other.claims] == [1, 2]


def test_the_share_of_returned_fields_that_are_used() -> None:
    use = _use(_ORDER, "ORD-9182 has shipped.")
    (fields,) = use.utilisation
    assert fields.used == ("/order_id", "/status")
    assert fields.unused == ("/total_cents", "/placed")
    assert (fields.share, use.share_used, fields.tool) == (0.5, 0.5, "get_order")


def test_a_result_that_leads_to_the_next_call_is_passed_on() -> None:
    transcript = Transcript(
        (
            Message("assistant", None, (ToolCall("find", {}, "a"),)),
            Message("tool", '{"customer": "C-310", "level": 4}', call_id="a"),
            Message("assistant", None, (ToolCall("get", {"id": "C-310"}, "b"),)),
            Message("tool", '{"name": "Ines Kaya", "city": "Graz"}', call_id="b"),
            Message("assistant", "It is Ines Kaya."),
        )
    )
    assert [fields.passed_on for fields in grade_result_use(transcript).utilisation] == [True, False]


@pytest.mark.parametrize(
    ("text", "reply", "pointer"),
    [
        ("Hotel Ribeira\nCheck-in 15:00, check-out 11:00", "Check-out is at 11:00.", "/1"),
        ("sensor,moist_pct\nN1,31.2\nN2,18.7", "N2 has 18.7 %.", "/2"),
        ('<pallet id="PAL-00931"><units>212</units></pallet>', "It has 212 units.", "/0"),
        ('{"content": [{"type": "text", "text": "{\\"units\\": 212}"}]}', "It has 212 units.", "/content/0/text"),
    ],
)
def test_tables_markup_and_lines_have_fields_too(text: str, reply: str, pointer: str) -> None:
    assert pointer in {attribution.pointer for attribution in _use(text, reply).attributions}


def test_what_is_written_down_is_json() -> None:
    document = _use(_ORDER, "The total is $54.10; it was placed on March 14.").to_document()
    assert json.loads(json.dumps(document)) == document
