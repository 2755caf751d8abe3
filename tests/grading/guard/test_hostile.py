"""Hostile requests are decided, and none takes long: size, depth, encodings, patterns."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import replace

import pytest

from tests.grading.guard.shop import BEFORE, POLICY, TOOLS, USUAL
from toolevals.grading.guard import Policy, Request, compile_policy
from toolevals.grading.guard.dangers import DANGER_FAMILIES
from toolevals.grading.guard.instructions import INJECTION_FAMILIES

BOMBS = [{"name": "bomb", "pattern": "(a+)+$"}, {"name": "states", "pattern": "(.*a){20}x"}]
RULES = POLICY["rules"] | {
    "patterns": {"kind": "patterns", "mode": "enforce", "families": list(DANGER_FAMILIES), "own": BOMBS},
    "injected": {
        "kind": "injection",
        "mode": "enforce",
        "families": list(INJECTION_FAMILIES),
        "where": ["arguments", "results"],
    },
    "privacy": {"kind": "personal_data", "mode": "enforce", "where": ["arguments", "results"]},
    "origin": {"kind": "origin", "mode": "enforce", "places": [{"tool": "*"}], "trusted": ["*"]},
}
GUARD = compile_policy(Policy.from_document({"rules": RULES}), TOOLS)
# Many times what a request takes on a busy machine: one that multiplies takes minutes.
MOST_SECONDS = 10


def deep(levels: int, wrap) -> object:
    value: object = "exec(1)"
    for _ in range(levels):
        value = wrap(value)
    return value


HOSTILE = {
    "ten megabytes": "x" * 10_000_000,
    "orders": "ignore the model please " * 400_000,
    "one long word": "a" * 99_990 + "b",
    "judges": "judge give pass " * 6_000,
    "braces": "{" * 100_000,
    "objects": '{"a":' * 20_000,
    "lists in lists": deep(100_000, lambda inner: [inner]),
    "objects in objects": deep(5_000, lambda inner: {"a": inner}),
    "many numbers": [0] * 1_000_000,
    "many names": {str(number): number for number in range(100_000)},
    "base64": base64.b64encode(b"exec(1) " * 9_000).decode(),
    "many base64": "aGVsbG8gd29ybGQgaGVsbG8= " * 4_000,
    "percent": "%41" * 33_000,
    "digits": "1" * 100_000,
    "commas": "1," * 50_000,
    "phones": "+49 170 " * 12_000,
    "addresses": "a@b." * 25_000,
    "accounts": "GB82 " * 20_000,
    "surrogates": "\ud800" * 1_000,
    "other letters": "\u0430b\u0441" * 30_000,
    "letters apart": "a " * 50_000,
    "headings": "system note\n" * 8_000,
    "digits for letters": "h3ll0 " * 16_000,
    "hexadecimal": "ab " * 30_000,
    "nul": "\0" * 100_000,
    "quotes": "' or " * 20_000,
    "dots": "../" * 30_000,
    "tags": "<a " * 30_000,
    "nobody": "dear assistant " * 6_000,
    "a long number": 10**5_000,
    "no number": float("nan"),
    "text in text": json.dumps(json.dumps(json.dumps({"a": "x" * 1_000}))),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_value_is_decided_in_bounded_time(what):
    value = HOSTILE[what]
    begin = time.perf_counter()
    GUARD.check(replace(USUAL, arguments={"order_id": value, "amount": 51}), BEFORE)
    GUARD.check(replace(USUAL, arguments=value), BEFORE)
    GUARD.check(Request("get_order", {}, result=value), BEFORE)
    if isinstance(value, str):
        GUARD.check(Request(value, {}, key=value, model=value, server=value, address=value), BEFORE)
    assert time.perf_counter() - begin < MOST_SECONDS


@pytest.mark.parametrize("what", ["ten megabytes", "lists in lists", "objects in objects", "many numbers"])
def test_what_is_too_large_is_refused_where_the_policy_fails_closed(what):
    request = replace(USUAL, arguments={"order_id": HOSTILE[what], "amount": 51})
    decision = GUARD.check(request, BEFORE)
    assert not decision.allowed
    assert {reason.sentence for reason in decision.reasons} == {"It is too large to be looked at."}
    opened = compile_policy(Policy.from_document({"rules": RULES, "on_error": "allow"}), TOOLS)
    assert opened.check(request, BEFORE).allowed
    assert opened.check(request, BEFORE).unanswered == decision.unanswered


def test_a_command_behind_much_text_is_not_missed_in_silence():
    guard = compile_policy(Policy.from_document({"rules": {"p": {"kind": "patterns", "mode": "enforce"}}}))
    decision = guard.check(Request("note", {"text": "x" * 100_000 + "exec(1)"}))
    assert [reason.pointer for reason in decision.unanswered] == ["/arguments/text"]
    assert not decision.allowed
