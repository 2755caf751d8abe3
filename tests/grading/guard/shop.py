"""A shop's tools, and a policy with every kind of rule."""

from __future__ import annotations

from typing import Any

from toolevals.grading.guard import Decision, Guard, PastCall, Policy, Request, State, compile_policy
from toolevals.grading.values import ToolSpec

TOOLS = (
    ToolSpec(
        "issue_refund",
        input_schema={
            "type": "object",
            "required": ["order_id", "amount"],
            "additionalProperties": False,
            "properties": {
                "order_id": {"type": "string"},
                "amount": {"type": "number", "minimum": 0},
                "currency": {"enum": ["GBP", "EUR"]},
                "reason": {"type": "string"},
            },
        },
    ),
    ToolSpec("get_order", input_schema={"type": "object", "properties": {"order_id": {"type": "string"}}}),
    ToolSpec("create_return"),
    ToolSpec("search_kb"),
    ToolSpec(
        "book",
        input_schema={"type": "object", "properties": {"day": {"type": "string", "format": "date"}}},
        assert_formats=True,
    ),
    ToolSpec("broken", input_schema={"type": "object", "$ref": "https://elsewhere.example/schema"}),
)

POLICY: dict[str, Any] = {
    "name": "shop",
    "version": 5,
    "rules": {
        "schema": {"kind": "schema", "mode": "enforce"},
        "keys": {
            "kind": "keys",
            "mode": "enforce",
            "keys": {
                "support-chat": {
                    "allowed_tools": ["get_*", "issue_refund", "create_return"],
                    "denied_tools": ["delete_*"],
                    "models": ["small-*"],
                    "providers": ["local"],
                    "addresses": ["192.0.2.0/24", "2001:db8::/32"],
                    "requests_a_minute": 120,
                    "tokens_a_minute": 10_000,
                },
                "*": {"allowed_tools": ["get_*"]},
            },
        },
        "servers": {"kind": "servers", "mode": "enforce", "allowed": ["shop"]},
        "blocked": {"kind": "blocked", "mode": "enforce", "tools": ["drop_all"]},
        "calls": {"kind": "calls", "mode": "enforce"},
        "rates": {"kind": "tool_rates", "mode": "audit", "a_minute": {"get_*": 60}},
        "repeat": {"kind": "repeat", "mode": "enforce", "effect": "writes"},
        "order": {
            "kind": "order",
            "mode": "audit",
            "preconditions": [{"tool": "issue_refund", "after": ["create_return"], "same": ["order_id"]}],
        },
        "origin": {
            "kind": "origin",
            "mode": "enforce",
            "places": [
                {"tool": "issue_refund", "pointer": "/amount"},
                {"tool": "issue_refund", "pointer": "/order_id"},
            ],
            "trusted": ["get_order"],
            "confirmed": ["A-1"],
            "lists": ["orders"],
        },
        "patterns": {
            "kind": "patterns",
            "mode": "enforce",
            "own": [{"name": "ticket", "pattern": "T-[0-9]{6}"}],
            "exempt": [{"tool": "search_kb", "pointer": "/query"}],
        },
        "privacy": {"kind": "personal_data", "mode": "off", "only": [{"tool": "search_kb"}]},
        "injected": {"kind": "injection", "mode": "enforce"},
    },
}

USUAL = Request(
    "issue_refund",
    {"order_id": "A-20138", "amount": 51, "currency": "GBP", "reason": "damaged"},
    key="support-chat",
    model="small-2",
    provider="local",
    address="192.0.2.7",
)
BEFORE = State(
    calls=(
        PastCall("get_order", {"order_id": "A-20138"}, '{"total": 51.0, "status": "delivered"}'),
        PastCall("create_return", {"order_id": "A-20138"}, "done"),
    ),
    user_texts=("My order A-20138 came damaged, I want my money back.",),
    requests_last_minute=3,
    tokens_last_minute=900,
    tool_calls_last_minute={},
)


def guard_of(*rules: dict[str, Any], tools: tuple[ToolSpec, ...] = TOOLS, **options: Any) -> Guard:
    """Return the guard of rules that are enforced unless they say otherwise, with their kinds as ids."""
    documents = {each["kind"]: {"mode": "enforce", **each} for each in rules}
    return compile_policy(Policy.from_document({"rules": documents, **options}), tools)


def said(decision: Decision) -> list[tuple[str, str]]:
    """Return rule and pointer of each reason to refuse."""
    return [(reason.rule, reason.pointer) for reason in decision.reasons]
