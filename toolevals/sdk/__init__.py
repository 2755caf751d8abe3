"""Declare tools and record what agents do with them, from the agent's own process.

    from toolevals.sdk import instrument, tool

    instrument("https://toolevals.example.org", token="te_...", agent="support", version="2026-11")

`@tool` keeps a function's spec and traces its calls; `tool_specs()` gives the specs of all. `agent_span`
and `chat_span` trace an agent's turn and a model's call, `tool_call` says which call a tool answers. Nothing here
raises into an agent's work, and without `instrument()` nothing is traced.
"""

from toolevals.sdk.errors import SetUpError, ToolError
from toolevals.sdk.instrumenting import Instrumentation, instrument
from toolevals.sdk.specs import ToolSpec
from toolevals.sdk.tools import tool, tool_specs
from toolevals.sdk.tracing import agent_span, chat_span, tool_call

__all__ = [
    "Instrumentation",
    "SetUpError",
    "ToolError",
    "ToolSpec",
    "agent_span",
    "chat_span",
    "instrument",
    "tool",
    "tool_call",
    "tool_specs",
]
