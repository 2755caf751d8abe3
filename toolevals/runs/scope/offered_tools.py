"""Read the tools that an agent was offered in an example."""

from __future__ import annotations

from collections.abc import Sequence

from toolevals.grading.values import ToolSpec
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import Agent


def tools_offered(tools: Sequence[ToolSpec], agent: Agent) -> tuple[ToolSpec, ...]:
    """Return an example's tools as the agent knows them: in its own wording, matched by name, where it has one."""
    if agent.tools is None:
        return tuple(tools)
    own = {spec.name: spec for spec in tools_in(agent.tools.tools)}
    return tuple(own.get(spec.name, spec) for spec in tools)
