"""Chooses some of a document's tools, for documents that hold more than a registry needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.grading.reading.specs.drafts import Operation
from toolevals.grading.values.problems import InvalidDocument, pointer_to

# An agent that is offered more tools than this chooses worse, and a matrix of as many classes is hard to read.
MANY_TOOLS = 100
_FIELDS = ("tools", "tags", "paths", "search")


@dataclass(frozen=True, slots=True)
class Choice:
    """The tools to take: those that meet each of the given conditions.

    `tools` are names; `tags` those of an OpenAPI document; `paths` begin the operation's path ("/pets" takes "/pets"
    and "/pets/{id}"); each word of `search` stands in the name, path, tags or description, in any case.
    """

    tools: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    search: str = ""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Choice:
        """Return the choice that JSON describes. Raises InvalidDocument."""
        for key, value in document.items():
            if key not in _FIELDS:
                raise InvalidDocument.at(pointer_to([key]), f"is none of {', '.join(_FIELDS)}")
            if key == "search":
                if not isinstance(value, str):
                    raise InvalidDocument.at(f"/{key}", "is not text")
            elif not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise InvalidDocument.at(f"/{key}", "is not a list of texts")
        return cls(
            tools=frozenset(document.get("tools", ())),
            tags=frozenset(document.get("tags", ())),
            paths=tuple(document.get("paths", ())),
            search=document.get("search", ""),
        )

    def to_document(self) -> dict[str, Any]:
        """Return the choice as JSON, for `from_document`."""
        return {
            "tools": sorted(self.tools),
            "tags": sorted(self.tags),
            "paths": list(self.paths),
            "search": self.search,
        }

    @property
    def takes_all(self) -> bool:
        """Tell whether nothing is left out."""
        return not (self.tools or self.tags or self.paths or self.search.strip())

    def takes(self, name: Any, description: str, operation: Operation | None) -> bool:
        """Tell whether a tool is among those chosen."""
        if self.tools and name not in self.tools:
            return False
        tags: Collection[str] = operation.tags if operation else ()
        path = operation.path if operation else ""
        if self.tags and self.tags.isdisjoint(tags):
            return False
        if self.paths and not any(_is_below(path, each) for each in self.paths):
            return False
        text = " ".join([str(name), path, *tags, description]).lower()
        return all(word in text for word in self.search.lower().split())

    def __str__(self) -> str:
        parts = [
            f"{len(self.tools)} names" if self.tools else "",
            f"tags {', '.join(sorted(self.tags))}" if self.tags else "",
            f"paths {', '.join(self.paths)}" if self.paths else "",
            f"search {self.search.strip()!r}" if self.search.strip() else "",
        ]
        return "; ".join(filter(None, parts))


def _is_below(path: str, start: str) -> bool:
    start = start.rstrip("/")
    return path == start or path.startswith(f"{start}/") or path.rstrip("/") == start
