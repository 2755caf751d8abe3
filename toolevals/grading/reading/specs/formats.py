"""Lists the formats of tool specs in one table: each one's name, what it reads and writes, what it cannot carry."""

from __future__ import annotations

from dataclasses import dataclass


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
