"""Show what the guideline pane beside an example shows."""

from __future__ import annotations

from typing import Any

from labeling.conversation.guideline_blocks import guideline_blocks
from labeling.conversation.tool_description import tool_reading
from labeling.models import Revision
from labeling.queue.solved_examples import solved_examples
from toolevals.registry.tool_lists import tools_in


def guide_context(revision: Revision) -> dict[str, Any]:
    """Return the guideline in force, the offered tools with their schemas, and solved examples of theirs."""
    tools = tools_in(revision.tools)
    dataset = revision.example.dataset
    return {
        "revision": revision,
        "dataset": dataset,
        "guideline": guideline_blocks(dataset.guideline),
        "guideline_version": dataset.guidelines.first(),
        "tool_readings": [tool_reading(tool) for tool in tools],
        "solved": solved_examples(revision, frozenset(tool.name for tool in tools)),
    }
