"""Define whether a tool only reads or may change something: as its owner says, else by the verb in its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolevals.grading.values import ToolSpec
from toolevals.grading.values.effects_by_name import Effect, effect_of_name

# Tells of a tool, by its name, whether it only reads.
Reads = Callable[[str], bool]


def tool_effect(tool: str, spec: ToolSpec | None) -> Effect:
    """Return the effect of a tool: by the annotation `read_only` of its spec, else by the first verb in its name."""
    if spec is not None and spec.annotations.read_only is not None:
        return "reads" if spec.annotations.read_only else "writes"
    return effect_of_name(tool)


def reads_by_name(tool: str) -> bool:
    """Return whether a tool of which only the name is known reads."""
    return effect_of_name(tool) == "reads"


def reads_of(specs: Mapping[str, ToolSpec]) -> Reads:
    """Return the function that tells it of the tools in a mapping by name, and of others by their names."""
    return lambda tool: tool_effect(tool, specs.get(tool)) == "reads"
