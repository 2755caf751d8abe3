"""Test what personal data rules take out, and what they leave."""

from __future__ import annotations

import json

import pytest

from tests.traces.sending import conversation, export, send
from toolevals.traces.intake.scrubbing import Scrubber, rules_of
from toolevals.traces.intake.services import trace_settings_update
from toolevals.traces.models import Trace
from toolevals.traces.reading.chunks import spans_of

EVERY = rules_of([{"kind": kind} for kind in ("email", "phone", "card", "iban")])


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("write to ada.lovelace+x@example.co.uk.", "write to [email]."),
        ("grüße an jörg@straße.de", "grüße an [email]"),
        ("call +49 (30) 1234-5678 or 555-123-4567", "call [phone] or [phone]"),
        ("card 4111 1111 1111 1111, 4111-1111-1111-1111", "card [card], [card]"),
        ("no card: 4111 1111 1111 1112", "no card: 4111 1111 1111 1112"),
        ("to GB82 WEST 1234 5698 7654 32 please", "to [iban] please"),
        ("no account: GB82 WEST 1234 5698 7654 33", "no account: GB82 WEST 1234 5698 7654 33"),
        ("no issuer: 9111 1111 1111 1111", "no issuer: 9111 1111 1111 1111"),
        ("ruf 030 1234567 an, phone: 5550123", "ruf [phone] an, phone: [phone]"),
        ("٤١١١ ١١١١ ١١١١ ١١١١", "[card]"),
        (
            "logo@2x.png at 2026-11-26 10:00:00, order 20261126123",
            "logo@2x.png at 2026-11-26 10:00:00, order 20261126123",
        ),
    ],
)
def test_each_kind_is_told_by_its_form_and_its_check_digits(text, scrubbed):
    assert Scrubber(EVERY).without(text) == scrubbed


def test_json_in_a_text_stays_json():
    scrubber = Scrubber((*EVERY, *rules_of([{"kind": "field", "value": "Name"}])))
    inner = json.dumps({"card": 4111111111111111, "name": {"first": "Ada"}, "n": 7})
    text = json.dumps({"to": "ada@example.org", "inner": inner})
    found = json.loads(scrubber.without(text))
    assert found["to"] == "[email]"
    assert json.loads(found["inner"]) == {"card": "[card]", "name": "[field]", "n": 7}
    untouched = '{ "a" : 1 }'
    assert scrubber.without(untouched) == untouched


def test_patterns_and_fields_of_a_project_are_applied_before_anything_is_stored(client, project, owner, token):
    rules = rules_of([{"kind": "email"}, {"kind": "field", "value": "shard"}, {"kind": "pattern", "value": r"ORD-\d+"}])
    trace_settings_update(project=project, actor=owner, retention_days=30, sample_rate=1.0, rules=rules)
    send(client, token, export(*conversation(asked="I am ada@example.org, where is ORD-77?")))
    spans = spans_of(Trace.objects.get())
    said = json.dumps([[dict(each.attributes), dict(each.resource)] for each in spans])
    assert "ada@example.org" not in said
    assert "ORD-77" not in said
    assert "I am [email], where is [pattern]?" in said
    assert spans[2].attributes["shop.shard"] == "[field]"
    assert spans[2].attributes["gen_ai.tool.name"] == "get_order"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"kind": "name"}, "kinds are email"),
        ({"kind": "field"}, "needs the name of a field"),
        ({"kind": "field", "value": "- _"}, "has no letter and no digit"),
        ({"kind": "pattern", "value": "(?=x)"}, "the pattern is refused"),
        ({"kind": "pattern", "value": "x*"}, "matches the empty text"),
    ],
)
def test_rules_that_cannot_be_are_refused_by_their_place(rule, words):
    with pytest.raises(ValueError, match="rule 2.*" + words):
        rules_of([{"kind": "email"}, rule])
