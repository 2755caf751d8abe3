"""What texts and names say, by rule of thumb."""

import pytest

from toolevals.grading.effects_by_name import effect_of_name, hands_over
from toolevals.grading.recovery.wording import read_text

TEXTS = [
    ("Your flight has been successfully booked.", {"claims_done"}),
    ("I've gone ahead and cancelled the order. Is there anything else I can help you with?", {"claims_done"}),
    ("Once the payment has been processed, you will get an email.", set()),
    ("I\u2019ve retrieved your order.", {"claims_read"}),
    ("I was unable to book it.", {"admits"}),
    ("Unfortunately, there are no nonstop flights available.", {"admits"}),
    ("The total is $305. Shall I charge the rest to your card?", {"asks"}),
    ("Could you please provide your zip code?", {"asks"}),
    ("Please confirm the new date.", {"asks"}),
    ("Would you like me to search other dates, or is there anything else I can do?", {"asks"}),
    ("Is there anything else I can help you with?", set()),
    ("I am transferring you to a human agent.", {"escalates"}),
    ("If that does not suit you, I can transfer you to a human agent.", {"admits"}),
    ("I transferred $50 to your savings.", set()),
    ("Have a nice day.", set()),
    ("", set()),
    ("\ud800 failed", {"admits"}),
]


@pytest.mark.parametrize(("text", "says"), TEXTS)
def test_text(text, says):
    reading = read_text(text)
    assert {name for name in reading.__slots__ if getattr(reading, name)} == says


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
