"""List the tools that a dataset should cover, each with the edge cases that its parameters admit."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from labeling.coverage.counting import Counts, is_tool
from labeling.models import Dataset
from toolevals.grading.edge_cases import applicable_kinds
from toolevals.grading.values import ToolSpec
from toolevals.registry.models import ToolSpec as StoredSpec
from toolevals.registry.tool_lists import tools_in

AT_ONCE = 500


def tools_to_cover(dataset: Dataset, counts: Counts) -> dict[str, frozenset[str]]:
    """Return the default tools and those that gold calls: name -> edge cases that the tool admits.

    Of a tool that is no default tool, the newest spec of that name in the project says which.
    """
    specs = {spec.name: spec for spec in tools_in(dataset.default_tools.tools)} if dataset.default_tools else {}
    others = {name for name, tool in counts.tools.items() if is_tool(name) and tool.expected} - specs.keys()
    specs |= _newest(dataset, others)
    return {name: _kinds(spec) for name, spec in specs.items()}


def _newest(dataset: Dataset, names: Iterable[str]) -> dict[str, ToolSpec]:
    wanted = sorted(names)
    newest: dict[str, object] = {}
    for start in range(0, len(wanted), AT_ONCE):
        stored = StoredSpec.objects.filter(project=dataset.project_id, name__in=wanted[start : start + AT_ONCE])
        newest |= dict(stored.order_by("id").values_list("name", "document"))
    return {name: ToolSpec.from_document(document) for name, document in newest.items()}


@lru_cache(maxsize=8192)
def _kinds(spec: ToolSpec) -> frozenset[str]:
    return frozenset(kind.value for kinds in applicable_kinds(spec).values() for kind in kinds)
