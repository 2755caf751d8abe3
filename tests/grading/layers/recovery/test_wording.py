"""Test what texts and names say, by rule of thumb."""

import pytest

from toolevals.grading.layers.recovery.words import read_text
from toolevals.grading.values.tools import effect_of_name, hands_over

TEXTS = [
    ("Your flight has been successfully booked.", set()),
    ("I've cancelled the order. Is there anything else I can help you with?", set()),
    ("I was unable to book it.", {"denials"}),
    ("Unfortunately, there are no nonstop flights available.", {"denials"}),
    ("Das ging leider nicht.", {"denials"}),
    ("We are sorry to see you go, unfortunately.", set()),
    ("Aucune amende.", {"denials"}),
    ("予約できていません。", {"denials"}),
    ("The total is $305. Shall I charge the rest to your card?", {"questions"}),
    ("Which address should it go to?", {"questions"}),
    ("Please confirm the new date.", {"questions"}),
    ("I see two visits. Tell me which one you mean.", {"questions"}),
    ("Is there anything else I can help you with?", set()),
    ("I am transferring you to a human agent.", set()),
    ("", set()),
    ("\ud800 failed", {"denials"}),
]


@pytest.mark.parametrize(("text", "says"), TEXTS)
def test_text(text, says):
    reading = read_text(text)
    assert {name for name in ("denials", "questions") if getattr(reading, name)} == says


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("Table 12 is yours. Shall I order a cake?", ["Table 12 is yours."]),
        ("Your refund is on its way and should arrive soon.", ["Your refund is on its way"]),
        ("Once it is paid, the room is booked.", []),
        ("It was not booked.", []),
    ],
)
def test_what_is_stated_as_so(text, statements):
    assert list(read_text(text).statements) == statements


@pytest.mark.parametrize(
    ("text", "is_english"),
    [("Your room is booked.", True), ("Foglalás kész.", False), ("完了しました。", False), ("C'est fait.", False)],
)
def test_only_english_is_read_as_a_claim(text, is_english):
    assert read_text(text).is_english == is_english


@pytest.mark.parametrize(
    ("tool", "effect"),
    [
        ("get_order_details", "reads"),
        ("find_user_id_by_email", "reads"),
        ("updateReservation", "writes"),
        ("orders.cancel", "writes"),
        ("user_update", "writes"),
        ("frobnicate", "unknown"),
        ("", "unknown"),
    ],
)
def test_effect_of_a_name(tool, effect):
    assert effect_of_name(tool) == effect


@pytest.mark.parametrize("tool", ["transfer_to_human_agents", "escalateTicket", "contact_support", "handoff"])
def test_tools_that_hand_over(tool):
    assert hands_over(tool)


@pytest.mark.parametrize("tool", ["transfer_money", "get_agent", "list_support_hours", "request_refund"])
def test_tools_that_do_not(tool):
    assert not hands_over(tool)
