"""Defines a failure and its key: tool, layer, mode, argument, error class and masked error text."""

from __future__ import annotations

from typing import Final

from toolevals.grading.values.canonical import digest
from toolevals.grading.values.value_classes import value_class
from toolevals.json_types import JsonMapping, JsonObject

# A tool's own error, whatever the agent makes of it: beside the layers of the table of verdicts.
TOOL: Final = "tool"
LAYERS: Final = ("selection", "arguments", "result_use", "recovery", "answer", "execution", "outcome", TOOL)
# Counts up where the same failure gets another key.
KEY_VERSION: Final = 1
LONGEST_NAME: Final = 200


@value_class
class Failure:
    """One thing that failed in a case.

    `tool` is the tool that it is about, `other` the one that was called in its place or too late; `argument` a
    parameter. `error_class` and `error_text` (masked) are those of a tool's error.
    """

    layer: str
    mode: str
    tool: str = ""
    other: str = ""
    argument: str = ""
    error_class: str = ""
    error_text: str = ""

    @property
    def key(self) -> str:
        """The name of the failure by content: equal for all failures that are the same."""
        parts = (self.layer, self.mode, self.tool, self.other, self.argument, self.error_class)
        return digest([KEY_VERSION, *parts, self.error_text.casefold()])

    @classmethod
    def from_document(cls, document: JsonMapping) -> Failure:
        """Read what `to_document` gives."""
        return cls(**document)

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {
            "layer": self.layer, "mode": self.mode, "tool": self.tool, "other": self.other, "argument": self.argument,
            "error_class": self.error_class, "error_text": self.error_text,
        }  # fmt: skip
