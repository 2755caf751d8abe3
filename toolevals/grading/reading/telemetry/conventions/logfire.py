"""Reads spans of Logfire's own form: the request to a provider and its response, as its client had them.

Source: `logfire._internal.integrations.llm_providers` and `openai_agents`. Where such a span holds messages as
OpenTelemetry's conventions have them, too, it is read by those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.reading.telemetry.conventions import genai
from toolevals.grading.reading.telemetry.reading import Attributes, SpanReading, items_of
from toolevals.json_types import JsonMapping

NAME = "logfire"
_REQUEST, _RESPONSE = "request_data", "response_data"
# Operations of models that hold no conversation.
_OTHERS = ("embeddings", "image_generation")
_CONVERSATIONS = ("chat", "text_completion")
_FUNCTION = "Function: "
# What else such spans tell, of the program and of themselves.
_ABOUT = ("async", "duration", "usage", "model_config", "response_id", "mcp_data", "raw_input", "response")


def signs(attributes: Attributes) -> bool:
    """Tell whether a span holds a request, or a tool's call, and no messages of the conventions."""
    if "logfire.msg" not in attributes and "logfire.msg_template" not in attributes:
        return False
    is_request = _REQUEST in attributes and not ("events" in attributes or "gen_ai.input.messages" in attributes)
    return is_request or _is_function(attributes)


def read(attributes: Attributes) -> SpanReading:
    """Return what the span says."""
    common = genai.shared(attributes)
    attributes.value(*_ABOUT)
    if _is_function(attributes):
        return SpanReading(
            NAME,
            "tool",
            given=attributes.document("input"),
            made=attributes.result("output"),
            given_at="/attributes/input",
            made_at="/attributes/output",
            tool=attributes.text("name"),
            **common,
        )
    request = attributes.document(_REQUEST)
    request = request if isinstance(request, Mapping) else {}
    own = attributes.document("input")
    given = own if own is not None else _asked(request)
    is_model = given is not None or attributes.text("gen_ai.operation.name") in _CONVERSATIONS
    return SpanReading(
        NAME,
        "model" if is_model and attributes.text("gen_ai.operation.name") not in _OTHERS else "other",
        given=given,
        made=_answered(attributes),
        given_at=attributes.first_name("input", _REQUEST),
        made_at=attributes.first_name("output", _RESPONSE, "gen_ai.output.messages"),
        tools=[each for each in items_of(request.get("tools")) if isinstance(each, Mapping)] or None,
        **common,
    )


def _is_function(attributes: Attributes) -> bool:
    template = attributes.span.attributes.get("logfire.msg_template")
    return isinstance(template, str) and template.startswith(_FUNCTION) and "name" in attributes


def _asked(request: JsonMapping) -> Any:
    """Return what a request asks, with the system's words before it, as the provider has them."""
    given = next((request[key] for key in ("messages", "input", "prompt", "contents") if request.get(key)), None)
    system = request.get("system") or request.get("instructions")
    if system and isinstance(given, str):
        given = [{"role": "user", "content": given}]
    return [{"role": "system", "content": system}, *given] if system and isinstance(given, list) else given


def _answered(attributes: Attributes) -> Any:
    """Return what a response says; one of a stream is in a span of its own."""
    made = attributes.document("output", _RESPONSE, "gen_ai.output.messages")
    if not isinstance(made, Mapping):
        return made
    said = next((made[key] for key in ("message", "text", "combined_chunk_content") if made.get(key)), made)
    return [said] if isinstance(said, Mapping) and "role" in said else said
