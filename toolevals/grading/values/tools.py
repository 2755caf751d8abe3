"""Defines tools as they are offered to a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from toolevals.grading.values import canonical
from toolevals.grading.values.documents import require_valid


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """The effects of a tool, as its owner declares them; None where they are not declared."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None

    def to_document(self) -> dict[str, Any]:
        """Return what is known."""
        said = {"read_only": self.read_only, "destructive": self.destructive, "idempotent": self.idempotent}
        return {key: value for key, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool: its name, what the model reads of it, and the schemas of its arguments and output.

    `sensitive_output` lists JSON pointers into the output that hold personal data. `cost` is what one call costs
    relative to the other tools of its list. `title` is a name for people, which no model reads. `assert_formats` says
    that a text which is not in its schema's `format` breaks the schema.
    """

    name: str
    description: str = ""
    input_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    output_schema: dict[str, Any] | None = None
    sensitive_output: tuple[str, ...] = ()
    annotations: ToolAnnotations = ToolAnnotations()
    cost: float | None = None
    title: str = ""
    assert_formats: bool = False
    _digest: str = field(default="", init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical document: the tool's name by content."""
        if not self._digest:
            object.__setattr__(self, "_digest", canonical.digest(self.to_document()))
        return self._digest

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read the native form (`schemas/tool.v1.json`). Raises InvalidDocument."""
        require_valid(document, "tool")
        return cls.from_valid(document)

    @classmethod
    def from_valid(cls, document: dict[str, Any]) -> Self:
        """Return what `from_document` does of a document that is known to fit the schema."""
        return cls(
            name=document["name"],
            description=document.get("description", ""),
            input_schema=document["input_schema"],
            output_schema=document.get("output_schema"),
            sensitive_output=tuple(document.get("sensitive_output", ())),
            annotations=ToolAnnotations(**document.get("annotations", {})),
            cost=document.get("cost"),
            title=document.get("title") or "",
            assert_formats=document.get("assert_formats", False),
        )

    def to_document(self) -> dict[str, Any]:
        """Return the normal form, without what was not said."""
        document: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }
        if self.output_schema is not None:
            document["output_schema"] = self.output_schema
        if self.sensitive_output:
            document["sensitive_output"] = list(self.sensitive_output)
        if annotations := self.annotations.to_document():
            document["annotations"] = annotations
        if self.cost is not None:
            document["cost"] = self.cost
        if self.title:
            document["title"] = self.title
        if self.assert_formats:
            document["assert_formats"] = True
        return document
