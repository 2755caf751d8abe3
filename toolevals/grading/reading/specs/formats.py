"""Lists the formats of tool specs in one table: each one's name, what it reads and writes, what it cannot carry.

Finds the format of a document of tool specs, by its own keys or those of its tools, and says why.

Reads Anthropic's tools: `{"name", "description", "input_schema"}`.

`strict` and `cache_control` are settings of the request, not of the tool, and no loss.

Reads OpenAI's tools, as the chat and the responses API take them, and the older `functions`.

A tool of type `custom` takes free text. `strict` is a setting of the request, not of the tool, and no loss.

Reads tools of the Model Context Protocol, as `tools/list` answers them, with or without the JSON-RPC envelope.

Source: the protocol's specification, revision 2025-11-25, "Tools" and the schema of `Tool` and `ToolAnnotations`.
Only what a server says of itself is kept: its hints have defaults there, ours are unknown where nothing was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from toolevals.grading.reading.parsing.provider_run import client_tool, provider_run_tool
from toolevals.grading.reading.specs.drafts import (
    Draft,
    Drafts,
    draft_of,
    each_entry,
    entries_of,
    named_list,
    not_carried,
    schema_in,
)
from toolevals.grading.reading.specs.gemini import LISTS as GEMINI_LISTS
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

_MCP_KNOWN = frozenset({"name", "title", "description", "inputSchema", "outputSchema", "annotations"})
_HINTS = {"readOnlyHint": "read_only", "destructiveHint": "destructive", "idempotentHint": "idempotent"}


def read_mcp(document: object) -> Drafts:
    """Read the result of `tools/list`, the message that carries it, or its list of tools."""
    root = ""
    if isinstance(document, dict) and isinstance(document.get("result"), dict):
        document, root = document["result"], "/result"
    rest = document.get("nextCursor") if isinstance(document, dict) else None
    for place, (where, entry) in enumerate(entries_of(document)):
        draft = draft_of(entry, root + where, _read_mcp)
        if rest and not place and isinstance(draft, Draft):
            draft.losses.append(Problem(f"{root}/nextCursor", "the list has more pages: read them too"))
        yield draft


def _read_mcp(entry: JsonObject, where: str) -> Draft:
    hints = entry.get("annotations")
    losses = not_carried(entry, _MCP_KNOWN, where)
    native: JsonObject = {
        "name": entry.get("name"),
        "description": entry.get("description") or "",
        "input_schema": schema_in(entry, "inputSchema", _MCP_KNOWN, where, required=True),
    }
    origins = {"/input_schema": f"{where}/inputSchema", "/output_schema": f"{where}/outputSchema"}
    if entry.get("outputSchema") is not None:
        native["output_schema"] = entry["outputSchema"]
    if isinstance(hints, dict):
        known = frozenset({*_HINTS, "title"})
        losses += not_carried(hints, known, f"{where}/annotations")
        native["annotations"] = {ours: hints[theirs] for theirs, ours in _HINTS.items() if theirs in hints}
        origins |= {f"/annotations/{ours}": f"{where}/annotations/{theirs}" for theirs, ours in _HINTS.items()}
        title = entry.get("title") or hints.get("title")
    else:
        title = entry.get("title")
    if title:
        native["title"] = title
    return Draft(where, native, losses, origins)


_OPENAI_KNOWN = frozenset({"type", "function", "name", "description", "parameters", "strict"})

_OUTER = frozenset({"type", "function", "strict"})
# A tool that takes free text. Its calls are read with the text as the argument `input`.
_CUSTOM = frozenset({"type", "name", "description", "custom"})
_FREE_TEXT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def _read_openai(entry: JsonObject, where: str) -> Draft:
    if entry.get("type") == "custom":
        return _custom(entry, where)
    if entry.get("type", "function") != "function":
        words = "is not a type of a tool that is known: leave it out, or write it as a function"
        raise InvalidDocument.at(f"{where}/type", f"{str(entry['type'])[:60]!r} {words}")
    inner, root = (entry["function"], f"{where}/function") if "function" in entry else (entry, where)
    if not isinstance(inner, dict):
        raise InvalidDocument.at(root, "is not an object")
    losses = not_carried(inner, _OPENAI_KNOWN, root)
    if inner is not entry:
        if "parameters" in entry:
            raise InvalidDocument.at(f"{where}/parameters", "must be inside function: move it there")
        losses += not_carried(entry, _OUTER, where)
    native = {
        "name": inner.get("name"),
        "description": inner.get("description") or "",
        "input_schema": schema_in(inner, "parameters", _OPENAI_KNOWN, root, required=False),
    }
    origins = {"/name": f"{root}/name", "/description": f"{root}/description", "/input_schema": f"{root}/parameters"}
    return Draft(where, native, losses, origins)


def _custom(entry: JsonObject, where: str) -> Draft:
    inner, root = (entry["custom"], f"{where}/custom") if isinstance(entry.get("custom"), dict) else (entry, where)
    native = {
        "name": inner.get("name"),
        "description": inner.get("description") or "",
        "input_schema": dict(_FREE_TEXT),
    }
    origins = {"/name": f"{root}/name", "/description": f"{root}/description"}
    return Draft(where, native, not_carried(inner, _CUSTOM, root), origins)


read_openai = each_entry(_read_openai)


_KNOWN = frozenset({"type", "name", "description", "input_schema", "strict", "cache_control"})
# What only this provider's tools have: they tell them from native ones.
ANTHROPIC_KEYS = frozenset(
    {
        "type",
        "strict",
        "cache_control",
        "input_examples",
        "defer_loading",
        "allowed_callers",
        "eager_input_streaming",
    }
)


def _read(entry: JsonObject, where: str) -> Draft:
    kind = entry.get("type")
    if kind not in (None, "custom"):
        words = f"{kind!r} is not a type of a tool that is known: leave it out, or write it with name and input_schema"
        raise InvalidDocument.at(f"{where}/type", words)
    native = {
        "name": entry.get("name"),
        "description": entry.get("description") or "",
        "input_schema": schema_in(entry, "input_schema", _KNOWN, where, required=True),
    }
    return Draft(where, native, not_carried(entry, _KNOWN, where))


read_anthropic = each_entry(_read)


@dataclass(frozen=True, slots=True)
class SpecFormat:
    """A format: `name` in addresses and commands, `label` for people, what is read, where it is written, and losses.

    `written` is empty where no export writes it. `keys` are those of one tool, by which the nearest format is found.
    """

    name: str
    label: str
    read: str
    written: str
    losses: str
    keys: tuple[str, ...]


FORMAT_TABLE: tuple[SpecFormat, ...] = (
    SpecFormat(
        "openai",
        "OpenAI tools",
        "tools of the chat and responses APIs, with or without the outer object, and the older functions",
        "openai_chat exports",
        "keys besides name, description, parameters and strict",
        ("name", "description", "parameters", "type", "function", "strict"),
    ),
    SpecFormat(
        "anthropic",
        "Anthropic tools",
        "client tools; input_schema is required",
        "",
        "keys besides name, description, input_schema, strict and cache_control",
        ("name", "description", "input_schema", "type", "strict", "cache_control", "input_examples"),
    ),
    SpecFormat(
        "gemini",
        "Gemini function declarations",
        "functionDeclarations, with parameters or parametersJsonSchema, in REST's or the SDK's spelling",
        "",
        "behavior and other keys; types that are not known; enums of a number that hold text",
        ("name", "description", "parameters", "parametersJsonSchema", "functionDeclarations", "response"),
    ),
    SpecFormat(
        "mcp",
        "MCP tools/list",
        "the answer to tools/list, with or without the JSON-RPC envelope; inputSchema is required",
        "",
        "openWorldHint, _meta, icons, execution; further pages of the list",
        ("name", "title", "description", "inputSchema", "outputSchema", "annotations"),
    ),
    SpecFormat(
        "openapi",
        "OpenAPI 3 or Swagger 2.0 document",
        "operations with parameters and a body that is JSON, a form or multipart; references across the files of a zip",
        "",
        "callbacks, webhooks, deprecated; bodies of other media types; files in forms become text",
        ("openapi", "swagger", "paths", "components", "definitions", "info"),
    ),
    SpecFormat(
        "bfcl",
        "BFCL functions",
        "the leaderboard's functions with its pseudo-types",
        "bfcl exports",
        "keys besides name, description and parameters; types that are not known; optional",
        ("name", "description", "parameters"),
    ),
    SpecFormat(
        "skills",
        "Agent skills",
        "SKILL.md files in a zip or folder: name and description; each skill is a tool with the argument request",
        "",
        "the instructions themselves, bundled files, license, compatibility, allowed-tools, metadata",
        ("skills",),
    ),
    SpecFormat(
        "native",
        "native",
        "schemas/tool.v1.json; unknown keys are refused",
        "jsonl exports, registry versions by the REST interface",
        "nothing",
        ("name", "description", "input_schema", "output_schema", "annotations", "cost", "title", "sensitive_output"),
    ),
)
FORMATS = tuple(each.name for each in FORMAT_TABLE)


_GEMINI_KEYS = frozenset({*GEMINI_LISTS, "parametersJsonSchema", "parameters_json_schema"})
_LISTED_KEYS = 8


@dataclass(frozen=True, slots=True)
class Detected:
    """The format of a document and the sign by which it was told, in words."""

    format: str
    because: str


def detected_format(document: object) -> Detected:
    """Return the document's format: told by its own keys, else by those of its tools.

    Raises InvalidDocument where there is no list of tools, and, with the nearest format, where its tools are of none.
    """
    if isinstance(document, dict):
        for key in ("swagger", "openapi"):
            if key in document:
                return Detected("openapi", f"{key} is {str(document[key])[:20]!r}")
        if isinstance(document.get("result"), dict) and "tools" in document["result"]:
            return Detected("mcp", "it is an answer to tools/list, with tools under result")
        if isinstance(document.get("skills"), list):
            return Detected("skills", "it holds SKILL.md files")
        for key in GEMINI_LISTS:
            if key in document:
                return Detected("gemini", f"it has {key}")
        if not (named_list(document) or "name" in document or "function" in document or provider_run_tool(document)):
            raise _no_list(document)
    entries = entries_of(document)
    if not entries:
        return Detected("native", "the list is empty")
    return _format_of_entries(entries)


def _format_of_entries(entries: list[tuple[str, Any]]) -> Detected:
    # An object that is no tool of any known format is no reason to read the others as anything.
    left = {where for where, entry in entries if isinstance(entry, dict) and provider_run_tool(entry)}
    if len(left) == len(entries):
        return Detected("openai", "all are tools that the provider runs")
    signs = [
        (where, *sign)
        for where, entry in entries
        if isinstance(entry, dict) and where not in left and (sign := _sign(entry)) is not None
    ]
    # A type says least: a provider may have made it up yesterday.
    for where, name, because in sorted(signs, key=lambda sign: sign[2] == "type"):
        if because == "input_schema" and (key := _anthropic_key(entries)):
            return Detected("anthropic", f"its tools have input_schema and {key}")
        if name == "openai" and (at := _gemini_entry(entries)):
            return Detected("gemini", f"{at} has what only Gemini's declarations have")
        return Detected(name, f"{where or 'the document'} has {because}")
    others = [(where, entry) for where, entry in entries if where not in left]
    where, entry = next(((where, each) for where, each in others if isinstance(each, dict)), others[0])
    if not isinstance(entry, dict):
        raise InvalidDocument.at(where, "is not an object")
    raise InvalidDocument.at(where, unknown_words(entry))


def _sign(entry: JsonObject) -> tuple[str, str] | None:
    """Return what tells an entry's format, and the key that does; None where nothing does."""
    if "input_schema" in entry:
        return "native", "input_schema"
    if "inputSchema" in entry:
        return "mcp", "inputSchema"
    for key in entry:
        if key in _GEMINI_KEYS:
            return "gemini", key
    if client_tool(entry):
        return "anthropic", "the type of a tool that Anthropic defines"
    for key in ("function", "type"):
        if key in entry:
            return "openai", key
    if "parameters" not in entry:
        return None
    parameters = entry["parameters"]
    kind = parameters.get("type") if isinstance(parameters, Mapping) else None
    if kind == "dict":
        return "bfcl", "parameters of type dict"
    return ("gemini", "parameters of type OBJECT") if kind == "OBJECT" else ("openai", "parameters")


def _anthropic_key(entries: Iterable[tuple[str, Any]]) -> str | None:
    keys = [key for _, entry in entries if isinstance(entry, dict) for key in entry if key in ANTHROPIC_KEYS]
    return keys[0] if keys else None


def _gemini_entry(entries: Iterable[tuple[str, Any]]) -> str | None:
    found = (where for where, entry in entries if isinstance(entry, dict) and not _GEMINI_KEYS.isdisjoint(entry))
    return next(found, None)


def _no_list(document: JsonObject) -> InvalidDocument:
    words = (
        f"is neither a list of tools nor an object with the list under tools or functions: it has {_listed(document)}"
    )
    for key, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return InvalidDocument.at(pointer_to([key]), f"is a list under an unknown name: rename {key} to tools")
        if isinstance(value, dict) and (sign := _sign(value)):
            there = f"{words}. Below {key} is what looks like {sign[0]}: send a list of tools, each with its name"
            return InvalidDocument.at("", there)
    return InvalidDocument.at("", words)


def unknown_words(entry: JsonMapping) -> str:
    """Return why an entry is of no known format: what it has, and which format is the nearest."""
    name, lacking, near = nearest_format(entry)
    words = f"is a tool of no known format: it has {_listed(entry)}. The nearest format is {name}"
    if near:
        return f"{words}: rename {near[0]} to {near[1]}"
    return f"{words}, which has {lacking}. If the tool takes no arguments, say the format"


def nearest_format(entry: JsonMapping) -> tuple[str, str, tuple[str, str] | None]:
    """Return the name of the format whose tools have most of an entry's keys, its schema's key, and a likely typo."""
    schemas = {"openai": "parameters", "mcp": "inputSchema", "anthropic": "input_schema", "gemini": "parameters"}
    for key in entry:
        plain = key.replace("_", "").replace("-", "").lower()
        for name, schema in schemas.items():
            if key != schema and get_close_matches(plain, [schema.replace("_", "").lower()], cutoff=0.85):
                return name, schema, (key, schema)
    scores = {each.name: len(set(each.keys) & entry.keys()) for each in FORMAT_TABLE if each.name in schemas}
    best = max(scores, key=lambda name: scores[name])
    return best, schemas[best], None


def _listed(document: JsonMapping) -> str:
    names = [str(key)[:40] for key in document]
    more = f" and {len(names) - _LISTED_KEYS} more" if len(names) > _LISTED_KEYS else ""
    return (", ".join(names[:_LISTED_KEYS]) or "no keys") + more
