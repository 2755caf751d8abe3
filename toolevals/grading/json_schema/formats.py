"""Tell which formats of texts the validator of a draft checks, and which of a schema nothing checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from toolevals.grading.json_schema.subschemas import subschemas
from toolevals.grading.values import ToolSpec

# What `$schema` says, without the empty fragment that some write.
DRAFT_4: Final = "http://json-schema.org/draft-04/schema"
DRAFT_6: Final = "http://json-schema.org/draft-06/schema"
DRAFT_7: Final = "http://json-schema.org/draft-07/schema"
DRAFT_2019_09: Final = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020_12: Final = "https://json-schema.org/draft/2020-12/schema"

_IN_4 = frozenset(
    {"date", "date-time", "email", "hostname", "idn-email", "ipv4", "ipv6", "regex", "time", "uri"},
)
_IN_6 = _IN_4 | {"json-pointer", "uri-reference", "uri-template"}
_IN_7 = _IN_6 | {"idn-hostname", "iri", "iri-reference", "relative-json-pointer"}
_IN_2019 = _IN_7 | {"duration", "uuid"}
CHECKED: Final = {DRAFT_4: _IN_4, DRAFT_6: _IN_6, DRAFT_7: _IN_7, DRAFT_2019_09: _IN_2019, DRAFT_2020_12: _IN_2019}
"""The formats that are checked, by draft: those that the draft defines, and a few that it does not."""
# Of a format's name, where it is shown.
LONGEST_NAME = 60


def with_formats(tool: ToolSpec, *, asserted: bool) -> ToolSpec:
    """Return the tool with its formats asserted or not; one that states none is the same either way."""
    asserted = asserted and states_formats(tool.input_schema)
    return tool if tool.assert_formats is asserted else replace(tool, assert_formats=asserted)


def draft_of(schema: dict[str, Any]) -> str:
    """Return the draft that a schema is read by: one that no one knows is read as the newest."""
    said = schema.get("$schema")
    named = said.removesuffix("#") if isinstance(said, str) else ""
    return named if named in CHECKED else DRAFT_2020_12


def states_formats(schema: dict[str, Any]) -> bool:
    """Tell whether a schema states the format of a text anywhere."""
    return next(_formats(schema), None) is not None


@lru_cache(maxsize=4096)
def unchecked_formats(tool: ToolSpec) -> str:
    """Return the sentence that names the formats that a tool asserts and nothing checks; "" where there are none."""
    if not tool.assert_formats:
        return ""
    checked = CHECKED[draft_of(tool.input_schema)]
    names = dict.fromkeys(name[:LONGEST_NAME] for name in _formats(tool.input_schema) if name not in checked)
    word = "format" if len(names) == 1 else "formats"
    return f"Nothing checks the {word} {', '.join(names)} of {tool.name}." if names else ""


def _formats(schema: dict[str, Any]) -> Iterator[str]:
    for _, inside in subschemas(schema):
        if isinstance(name := inside.get("format"), str):
            yield name
