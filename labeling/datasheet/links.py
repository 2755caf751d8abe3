"""Tell where the numbers of a datasheet lead."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from labeling.models import Dataset, DatasetVersion
from toolevals.workspace.models import Role

_OF_VERSION = frozenset({"version-examples", "version-export", "version-changes"})
# Pages that not every member may open: a number leads there for those who may.
_NEEDED = {"proposals": Role.ADJUDICATOR, "adjudicate": Role.ADJUDICATOR}


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses for one reader; `base` stands before each, where they leave the application."""

    dataset: Dataset
    version: DatasetVersion | None
    role: Role
    base: str = ""

    def page(self, name: str) -> str:
        """Return the address of a page of labelling; "" where this reader may not open it."""
        if self.role < _NEEDED.get(name, Role.VIEWER):
            return ""
        arguments = [] if name == "adjudicate" else [self.dataset.slug]
        if name in _OF_VERSION and self.version is not None:
            arguments.append(str(self.version.number))
        return self._address(f"labeling:{name}", *arguments)

    def examples(self, field: str, value: str) -> str:
        """Return the list of the examples with a value; of a frozen version, its own list.

        `field`: a stratum, `source` of the gold, `tool` for what gold calls; `status` of now, `changed` of a version.
        """
        if not value:
            return ""
        if self.version is not None:
            return f"{self.page('version-examples')}?{urlencode({field: value})}"
        query = {"covers": "expected", "tool": value} if field == "tool" else {field: value}
        return f"{self.page('dataset')}?{urlencode(query)}"

    def guideline(self, version: int) -> str:
        """Return one wording of the guideline."""
        return f"{self.page('guideline')}?{urlencode({'version': version})}"

    def lint(self, rule: str) -> str:
        """Return the findings of one rule."""
        return f"{self.page('lint')}?{urlencode({'rule': rule})}"

    def job(self, pk: str) -> str:
        """Return the page of an import."""
        return self._address("workspace:job", pk)

    def tools(self) -> str:
        """Return the registry version that the dataset offers by default."""
        tools = self.dataset.default_tools
        return self._address("registry:version", tools.registry.slug, tools.number) if tools else ""

    def _address(self, name: str, *arguments: str | int) -> str:
        return self.base + reverse(name, args=[self.dataset.project.slug, *arguments])
