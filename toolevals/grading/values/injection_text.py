"""Defines one text that speaks to a judge, as it is kept with a graded case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class InjectionKind(StrEnum):
    """The reason for which a text is flagged."""

    MARK = "mark"
    ANSWER = "answer"
    ORDER = "order"
    OVERRIDE = "override"


@dataclass(frozen=True, slots=True)
class Injection:
    """One text that speaks to its judge: its place as a JSON pointer, the reason, and the words."""

    pointer: str
    kind: InjectionKind
    excerpt: str

    @classmethod
    def from_document(cls, document: Mapping[str, str]) -> Self:
        """Read what `to_document` gives."""
        return cls(document["pointer"], InjectionKind(document["kind"]), document["excerpt"])

    def to_document(self) -> dict[str, str]:
        """Return the normal form."""
        return {"pointer": self.pointer, "kind": self.kind.value, "excerpt": self.excerpt}
