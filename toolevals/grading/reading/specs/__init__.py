"""Turns tool specs from the formats people have them in into ours: JSON Schema 2020-12, with every loss named.

- `native`: `{"name", "description", "input_schema", ...}`, as in `schemas/tool.v1.json`.
- `openai`: `{"type": "function", "function": {"name", "description", "parameters"}}`, the same without the inner
  object, and the older `{"name", "description", "parameters"}`.
- `anthropic`: `{"name", "description", "input_schema"}`.
- `gemini`: `{"functionDeclarations": [{"name", "description", "parameters"}]}`, or with `parametersJsonSchema`.
- `mcp`: the result of `tools/list`: `{"tools": [{"name", "title", "description", "inputSchema", ...}]}`.
- `openapi`: a document of OpenAPI 3.0 or later, or of Swagger 2.0; each operation is a tool.
- `bfcl`: the older OpenAI form with the Berkeley Function-Calling Leaderboard's pseudo-types.
- `skills`: SKILL.md files of agent skills; each is a tool that takes a request.

Other documents are a list of tools, one of them, or an object with the list under `tools` or `functions`.
`document_in` reads one from a file: JSON, YAML, or a zip of files that refer to each other.
"""

from toolevals.grading.reading.specs.bfcl import BFCL_TYPES, bfcl_schema
from toolevals.grading.reading.specs.drafts import MANY_TOOLS, Choice, Losses, left_out
from toolevals.grading.reading.specs.files import document_in, document_of
from toolevals.grading.reading.specs.formats import FORMAT_TABLE, FORMATS
from toolevals.grading.reading.specs.reading import (
    LossCount,
    ReadTools,
    Survey,
    SurveyedTool,
    counted,
    read_tools,
    survey_tools,
)

__all__ = [
    "BFCL_TYPES",
    "FORMATS",
    "FORMAT_TABLE",
    "MANY_TOOLS",
    "Choice",
    "LossCount",
    "Losses",
    "ReadTools",
    "Survey",
    "SurveyedTool",
    "bfcl_schema",
    "counted",
    "document_in",
    "document_of",
    "left_out",
    "read_tools",
    "survey_tools",
]
