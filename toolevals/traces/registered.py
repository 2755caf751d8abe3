"""Find the tools of a project by their names: spans of a decorated function say the name alone."""

from __future__ import annotations

from toolevals.grading.values import ToolSpec
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import Project


def registered_tools(project: Project) -> dict[str, ToolSpec]:
    """Return the tools of each registry's newest version by name; not those of which two registries say different."""
    found: dict[str, ToolSpec] = {}
    differing: set[str] = set()
    newest = [vars(each)["newest_id"] for each in Registry.objects.in_project(project).with_newest()]
    for version in RegistryVersion.objects.filter(pk__in=filter(None, newest)).select_related("tools"):
        for tool in tools_in(version.tools):
            if found.setdefault(tool.name, tool) != tool:
                differing.add(tool.name)
    return {name: tool for name, tool in found.items() if name not in differing}
