"""Scrubbing: values and spans come back without personal data, counted by rule, and otherwise as they were."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.strategies import json_values
from toolevals.grading.reading.telemetry.otlp import SpanEvent, TelemetrySpan, spans_in
from toolevals.grading.reading.telemetry.scrubbing import FINDERS, ScrubbingRules, plain, scrubbed
from toolevals.grading.values.problems import InvalidDocument

RULES = ScrubbingRules(fields=("password", "date of birth"), patterns=(("order", r"ORD-\d+"),))
NONE = ScrubbingRules(email=False, phone=False, card=False, iban=False)
DATA = ["ann@example.org", "+4917012345678", "4111 1111 1111 1111", "DE89370400440532013000", "ORD-12"]
noise = st.lists(st.sampled_from([*DATA, *"0123456789 .-()@/\"'{}[]:,é", "x.y", "2024-01-05", "phone: "])).map("".join)
values = st.recursive(
    json_values | noise, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(noise, inner, max_size=3)
)


@pytest.mark.parametrize(
    ("value", "expected", "counts"),
    [
        ("Ann <ann@example.org>, ann@example.org", "Ann <[email]>, [email]", {"email": 2}),
        ("pay DE89 3704 0044 0532 0130 00 or 4111111111111111", "pay [iban] or [card]", {"iban": 1, "card": 1}),
        ({"ann@example.org": 1, "bob@example.org": 2}, {"[email]": 1, "[email] 2": 2}, {"email": 2}),
        ({"card": 4111111111111111, "at": 17044470001234567}, {"card": "[card]", "at": 17044470001234567}, {"card": 1}),
        (4111111111111111.0, "[card]", {"card": 1}),
        ({"phone": "5551234567", "phones": 3}, {"phone": "[phone]", "phones": 3}, {"phone": 1}),
        ({"user.phone_number": 5551234567}, {"user.phone_number": "[phone]"}, {"phone": 1}),
        ({"Pass-Word": {"a": [1]}, "password": None}, {"Pass-Word": "[field]", "password": None}, {"field": 1}),
        ({"user.dateOfBirth": "1990-01-05"}, {"user.dateOfBirth": "[field]"}, {"field": 1}),
        ('{"a": 1, "password":"x y"}', '{"a":1,"password":"[field]"}', {"field": 1}),
        ('{"a":  1.0}', '{"a":  1.0}', {}),
        ('{"a": "{\\"password\\": 12}"}', '{"a":"{\\"password\\":\\"[field]\\"}"}', {"field": 1}),
        ('{"a": 1, "password": "x \\" y", "b": "cut of', '{"a": 1, "password": [field], "b": "cut of', {"field": 1}),
        ('{"password": {"old": "x", "new', '{"password": [field]', {"field": 1}),
        ("password=hunter2&user=ann", "password=[field]&user=ann", {"field": 1}),
        ("Date of birth: 1990-01-05", "Date of birth: [field]", {"field": 1}),
        ("ORD-12 and ORD-é", "[order] and ORD-é", {"order": 1}),
        ("é ORD-12\ud800", "é [order]\ud800", {"order": 1}),
        ([True, None, 1.5, ("a@b.io",)], [True, None, 1.5, ("[email]",)], {"email": 1}),
    ],
)  # fmt: skip
def test_what_is_found_is_replaced_and_counted(value: Any, expected: Any, counts: dict[str, int]) -> None:
    assert scrubbed(value, RULES) == (expected, counts)


def test_what_is_nested_too_deep_is_refused_and_deep_text_is_searched_as_text() -> None:
    deep: Any = "a@b.io"
    for _ in range(300):
        deep = [deep]
    with pytest.raises(InvalidDocument, match="deeper"):
        scrubbed(deep, RULES)
    text = "[" * 150 + '"a@b.io"' + "]" * 150
    assert scrubbed(text, RULES) == (text.replace("a@b.io", "[email]"), {"email": 1})
    told = "a@b.io"
    for _ in range(12):
        told = json.dumps([told])
    made, counts = scrubbed(told, RULES)
    assert ("a@b.io" not in made, counts) == (True, {"email": 1})


def test_places_that_overlap_leave_nothing_of_either() -> None:
    rules = ScrubbingRules(patterns=(("tail", r"org and more"),))
    assert scrubbed("to ann@example.org and more.", rules) == ("to [email].", {"email": 1})


def test_spans_keep_ids_times_and_status() -> None:
    # An id of digits alone that passes as a card's number.
    span = TelemetrySpan(
        "4111111111111111" * 2, "4111111111111111", "4222222222222224", "mail ann@example.org", 1, 2,
        {"user.id": "ann@example.org", "gen_ai.tool.call.arguments": '{"to": "a@b.io"}', "n": 3},
        (SpanEvent("exception", 4111111111111111, {"exception.message": "no a@b.io"}),),
        "error", "no a@b.io", {"host.name": "h"}, "scope", "1", "https://x",
    )  # fmt: skip
    made, counts = scrubbed([span], ScrubbingRules())
    assert counts == {"email": 5}
    assert made == [
        TelemetrySpan(
            span.trace_id, span.span_id, span.parent_id, "mail [email]", 1, 2,
            {"user.id": "[email]", "gen_ai.tool.call.arguments": '{"to":"[email]"}', "n": 3},
            (SpanEvent("exception", 4111111111111111, {"exception.message": "no [email]"}),),
            "error", "no [email]", {"host.name": "h"}, "scope", "1", "https://x",
        )
    ]  # fmt: skip


def test_a_document_of_otlp_stays_one_and_says_the_same() -> None:
    attributes = [
        {"key": "user.password", "value": {"stringValue": "x"}},
        {"key": "phone", "value": {"intValue": "5551234567"}},
        {"key": "card", "value": {"intValue": "4111111111111111"}},
        {
            "key": "mails",
            "value": {"arrayValue": {"values": [{"stringValue": "ann@example.org"}, {"boolValue": True}]}},
        },
        {"key": "n", "value": {"intValue": "3"}},
        {"key": "password", "value": {"kvlistValue": {"values": [{"key": "a", "value": {"boolValue": True}}]}}},
    ]
    span = {"traceId": "4111111111111111" * 2, "spanId": "4111111111111111", "startTimeUnixNano": "4111111111111111",
            "endTimeUnixNano": 4111111111111111, "name": "a", "attributes": attributes}  # fmt: skip
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    made, counts = scrubbed(document, RULES)
    ((_, found),) = spans_in(made)
    assert isinstance(found, TelemetrySpan)
    assert (found.span_id, found.start, found.end) == ("4111111111111111", 4111111111111111, 4111111111111111)
    assert found.attributes == {
        "user.password": "[field]", "phone": "[phone]", "card": "[card]", "mails": ["[email]", True], "n": 3,
        "password": "[field]",
    }  # fmt: skip
    assert counts == {"field": 2, "phone": 1, "card": 1, "email": 1}
    ((_, before),) = spans_in(document)
    assert isinstance(before, TelemetrySpan)
    assert scrubbed(before, RULES)[0].attributes == found.attributes


@given(values)
def test_nothing_is_left_and_a_second_time_finds_nothing(value: Any) -> None:
    given_value = deepcopy(value)
    made, _ = scrubbed(value, RULES)
    assert value == given_value
    assert scrubbed(made, RULES) == (made, {})


@given(noise)
def test_no_finder_finds_anything_in_what_was_scrubbed(text: str) -> None:
    made, counts = scrubbed(text, ScrubbingRules())
    assert not [name for name, finder in FINDERS.items() if list(finder(plain(made)))]
    assert counts or made == text


@given(values)
def test_without_rules_everything_stays(value: Any) -> None:
    assert scrubbed(value, NONE) == (value, {})


@given(st.lists(noise, max_size=3), st.sampled_from(DATA))
def test_what_is_in_json_text_is_found(before: list[str], data: str) -> None:
    made, counts = scrubbed(json.dumps([*before, data]), RULES)
    assert counts
    assert data not in json.loads(made)
