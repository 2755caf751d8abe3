"""Tell what a cell of the coverage table counts, and the examples behind it.

The list is exactly as long as the number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q

from labeling.blindness import is_resolved
from labeling.coverage.classes import CLASSES, spellings_of
from labeling.examples.models import ExampleQuerySet
from labeling.models import GoldTool, Resolution, ToolPart

# What a tool needs beside edge cases and errors: calls of it, no call though it comes near, reactions to its errors.
EXPECTED, NEGATIVE, ERROR_RECOVERY = "expected", "negative", "error_recovery"
# How an address says that the examples without gold are meant.
WAITS = "none"
_BY_TOOL = frozenset({EXPECTED, NEGATIVE, ERROR_RECOVERY})
# Of these strata a tool's examples are those that call it; an error's are those in which the tool gave it.
_PART: Mapping[str, ToolPart] = dict.fromkeys(CLASSES, ToolPart.EXPECTED) | {"error_class": ToolPart.ANSWERED}


@dataclass(frozen=True, slots=True)
class Cell:
    """Examples with gold: of a kind (`expected`, `negative`, ..., or a stratum's class as "edge_case.currency").

    About one tool, or about any where `tool` is empty. With `waits`, those of a stratum's class that have no gold yet.
    """

    covers: str
    tool: str = ""
    waits: bool = False

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> Cell | None:
        """Return the cell that an address asks for; None where it asks for none, or for what is no cell."""
        covers, tool = query.get("covers", "")[:80], query.get("tool", "")[:200]
        stratum, _, name = covers.partition(".")
        if covers in _BY_TOOL or (not covers and tool):
            return cls(covers or EXPECTED, tool) if tool else None
        if not name or stratum not in CLASSES:
            return None
        return cls(covers, waits=True) if query.get("gold") == WAITS else cls(covers, tool)

    @property
    def query(self) -> str:
        """The address of the examples behind it, as a query of the list page."""
        about = {"tool": self.tool} if self.tool else {"gold": WAITS} if self.waits else {}
        return urlencode({"covers": self.covers} | about)

    def examples(self, examples: ExampleQuerySet, *, hidden: Collection[str]) -> ExampleQuerySet:
        """Return those of the examples that the cell counts; of `hidden` strata, none that is not resolved."""
        stratum, _, name = self.covers.partition(".")
        if self.waits and stratum in hidden:
            return examples.none()
        if self.waits:
            return examples.filter(~is_resolved("current"), _spelled(stratum, name))
        chosen = examples.filter(current__resolution=Resolution.RESOLVED)
        if self.covers == NEGATIVE:
            return chosen.filter(Q(_about(ToolPart.NEAR, self.tool)) | Q(_about(ToolPart.ESTIMATED, self.tool)))
        if self.covers == EXPECTED:
            return chosen.filter(_about(ToolPart.EXPECTED, self.tool))
        if self.covers == ERROR_RECOVERY:
            reacts = ~Q(error_class="") | _spelled("bucket", "error_recovery")
            return chosen.filter(reacts, _about(ToolPart.ANSWERED, self.tool))
        chosen = chosen.filter(self._of_class(stratum, name))
        return chosen.filter(_about(_PART[stratum], self.tool)) if self.tool else chosen

    def _of_class(self, stratum: str, name: str) -> Q:
        said = _spelled(stratum, name)
        if stratum != "edge_case" or not self.tool:
            return said
        return said | Q(_about(ToolPart.EXPECTED, self.tool, kinds__contains=f",{name},"))


def _about(part: ToolPart, tool: str, **more: str) -> Exists:
    return Exists(GoldTool.objects.filter(gold=OuterRef("current__gold"), part=part, tool=tool, **more))


def _spelled(stratum: str, name: str) -> Q:
    said = Q()
    for spelling in spellings_of(stratum, name):
        said |= Q(**{f"{stratum}__iexact": spelling})
    return said
