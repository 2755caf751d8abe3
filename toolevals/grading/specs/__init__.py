"""Tool specs in the formats people have them in, turned into ours: JSON Schema 2020-12, with every loss named.

- `native`: `{"name", "description", "input_schema", ...}`, as in `schemas/tool.v1.json`.
- `openai`: `{"type": "function", "function": {"name", "description", "parameters"}}`, the same without the inner
  object, and the older `{"name", "description", "parameters"}`.
- `anthropic`: `{"name", "description", "input_schema"}`.
- `gemini`: `{"functionDeclarations": [{"name", "description", "parameters"}]}`, or with `parametersJsonSchema`.
- `mcp`: the result of `tools/list`: `{"tools": [{"name", "title", "description", "inputSchema", ...}]}`.
- `openapi`: a document of OpenAPI 3.0 or later; each operation is a tool.
- `bfcl`: the older OpenAI form with the Berkeley Function-Calling Leaderboard's pseudo-types.

Without `openapi`, a document is a list of tools, one of them, or an object with the list under `tools` or `functions`.
Documents are JSON that is already parsed: YAML is not read.
"""

from toolevals.grading.specs.bfcl import BFCL_TYPES, bfcl_schema
from toolevals.grading.specs.drafts import Losses
from toolevals.grading.specs.reading import FORMATS, ReadTools, read_tools

__all__ = ["BFCL_TYPES", "FORMATS", "Losses", "ReadTools", "bfcl_schema", "read_tools"]
