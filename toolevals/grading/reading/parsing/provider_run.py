"""Tells tools that the provider runs itself, such as web search, from those of the agent, in every format.

The provider makes such a call and answers it before the agent's program hears of it: it is no call of the agent. The
call and its result are left out of messages, and the tool out of lists of tools. The loss names the tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from toolevals.json_types import JsonMapping

PROVIDER_RUN: Final = "call of a tool that the provider runs"
# What names the kind of a part, in one format or another.
_KINDS: Final = ("type", "part_kind", "kind", "block_type", "content_type")
_NAMES: Final = ("name", "tool_name", "toolName", "toolType", "tool_type")
_IDS: Final = ("id", "call_id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId")
# Kinds of parts that only such calls and their results have: OpenAI's items, Anthropic's blocks, the parts of Gemini,
# Pydantic AI, LangChain and OpenTelemetry.
_OWN_KINDS: Final = frozenset({
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "tool_search_call",
    "tool_search_output", "mcp_call", "x_search_call", "builtin_function",
    "server_tool_use", "mcp_tool_use", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result",
    "code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "executable_code", "code_execution_result", "code_execution_call", "google_search_call", "google_search_result",
    "url_context_call", "url_context_result", "google_maps_call", "google_maps_result", "mcp_server_tool_call",
    "mcp_server_tool_result",
    "builtin-tool-call", "builtin-tool-return", "native-tool-call", "native-tool-return",
    "server_tool_call", "server_tool_call_chunk", "server_tool_result", "server_tool_call_response",
})  # fmt: skip
# Kinds without a name of the tool: the name is the kind without this end.
_ENDS: Final = ("_tool_result", "_call", "_output", "_result")
# Parts that hold it under a key of their own: Gemini's.
_OWN_KEYS: Final[Mapping[str, str]] = {
    "executableCode": "code_execution", "executable_code": "code_execution",
    "codeExecutionResult": "code_execution", "code_execution_result": "code_execution",
    "toolCall": "", "tool_call": "", "toolResponse": "", "tool_response": "",
}  # fmt: skip
# What lists of tools call such tools, as a type or a key, plainly: without case, underscores, `preview` and a date. The
# last row are tools that a provider defines and the agent's program runs; their calls are left out of messages, too.
_TOOLS: Final = frozenset({
    "websearch", "websearchpremium", "webfetch", "filesearch", "codeinterpreter", "codeexecution", "imagegeneration",
    "toolsearch", "toolsearchtoolregex", "toolsearchtoolbm25", "mcp", "mcptoolset", "mcpserver",
    "builtinfunction", "retrieval", "xsearch", "collectionssearch", "livesearch", "browsersearch", "documentlibrary",
    "openrouter:websearch", "binggrounding", "bingcustomsearch", "azureaisearch", "sharepointgrounding",
    "deepresearch", "browserautomation", "advisor",
    "googlesearch", "googlesearchretrieval", "enterprisewebsearch", "googlemaps", "urlcontext", "computeruse",
    "computer", "localshell", "shell", "applypatch",
})  # fmt: skip
_PROVIDERS_OWN: Final = ("provider", "provider-defined", "provider-defined-server")
# With one of these an entry of a list says its arguments itself: it is a tool as others are, whatever its type.
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_VERSION: Final = re.compile(r"(?:[_-]preview)?(?:[_-]\d{4}[_-]?\d{2}[_-]?\d{2})?$")
# Anthropic's tools that the agent's program runs: their calls are the agent's, as those of its own tools.
_CLIENT_TOOL: Final = re.compile(r"(?:bash|text_editor|computer|memory)_\d{8}")
# A flag next to a call that is else like the agent's own: the AI SDK's, and Pydantic AI's in OpenTelemetry's parts.
_FLAGS: Final = ("providerExecuted", "provider_executed", "builtin")
# Anthropic's ids, which gateways keep when they write such a call in another provider's form.
_ID_STARTS: Final = ("srvtoolu_", "mcptoolu_")


def provider_run(part: object) -> str | None:
    """Return the name of the tool where a part is a call of one that the provider runs, or its result; else None."""
    if not isinstance(part, dict):
        return None
    kind = next((kind for key in _KINDS if isinstance(kind := part.get(key), str)), "")
    if kind in _OWN_KINDS or is_marked(part) or (kind == "tool_use" and "tool_type" in part):
        return _name(part) or _plain(kind)
    return None


def is_marked(part: JsonMapping) -> bool:
    """Tell whether a call is like the agent's own, and a flag or its id says that the provider ran it."""
    return any(part.get(flag) is True for flag in _FLAGS) or any(
        isinstance(identifier := part.get(key), str) and identifier.startswith(_ID_STARTS) for key in _IDS
    )


def provider_run_key(part: JsonMapping) -> str | None:
    """Return the name of the tool where one of a part's keys holds such a call or its result, as Gemini's do."""
    for key, name in _OWN_KEYS.items():
        if isinstance(inner := part.get(key), dict):
            return name or _name(inner) or _plain(key)
    return None


def provider_run_tool(entry: JsonMapping) -> str | None:
    """Return the name of the tool where an entry of a list of tools is one that the provider runs; else None."""
    if any(key in entry for key in _SCHEMAS) or client_tool(entry):
        return None
    kind = next((kind for key in ("type", "kind") if isinstance(kind := entry.get(key), str)), None)
    if kind is None:
        named = list(provider_run_tools_beside(entry))
        return named[0] if named and len(named) == len(entry) else None
    if (kind in _PROVIDERS_OWN and entry.get("id") != "openai.custom") or _is_tool(kind):
        return _name(entry) or kind
    return None


def provider_run_tools_beside(entry: JsonMapping) -> Iterator[str]:
    """Yield the keys of an entry that are tools which the provider runs, as Gemini has them, next to functions too."""
    return (key for key, value in entry.items() if isinstance(value, Mapping | list) and _is_tool(key))


def client_tool(entry: JsonMapping) -> str | None:
    """Return the type of a tool that the provider defines, without a schema, and whose calls are the agent's."""
    for key in ("type", "id"):
        kind = entry.get(key)
        if isinstance(kind, str) and _CLIENT_TOOL.fullmatch(kind.removeprefix("anthropic.")):
            return kind
    return None


def _is_tool(kind: str) -> bool:
    return _VERSION.sub("", kind).replace("_", "").lower() in _TOOLS


def identifiers(part: JsonMapping) -> tuple[str, ...]:
    """Return the ids by which a result may name the call that a part is."""
    return tuple(value for key in _IDS if isinstance(value := part.get(key), str) and value)


def _name(part: JsonMapping) -> str:
    function = part.get("function")
    holders = (part, function) if isinstance(function, dict) else (part,)
    return next((name for each in holders for key in _NAMES if isinstance(name := each.get(key), str) and name), "")


def _plain(kind: str) -> str:
    return next((kind[: -len(end)] for end in _ENDS if kind.endswith(end) and kind != end), kind)
