"""Tell which providers' strict modes take a tool, what stands in the way, and which schema they would take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from toolevals.grading.json_schema.strict_mode import PROVIDERS, Provider, strict_problems
from toolevals.grading.json_schema.strict_tools import strict_schema, tool_strict_problems
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import Problem

TITLES: dict[Provider, str] = {"openai": "OpenAI", "anthropic": "Anthropic", "gemini": "Gemini"}


@dataclass(frozen=True, slots=True)
class Fit:
    """The problems that keep a tool out of one provider's strict mode, none where it takes the tool."""

    tool: ToolSpec
    provider: Provider
    problems: Sequence[Problem]

    @property
    def title(self) -> str:
        """The provider's name for people."""
        return TITLES[self.provider]

    @property
    def changed(self) -> str:
        """The changed schema as text, to be copied."""
        return json.dumps(strict_schema(self.tool.input_schema, self.provider), indent=2, ensure_ascii=False)

    @property
    def left(self) -> Sequence[Problem]:
        """The problems that the changed schema still has: a person must mend them."""
        return strict_problems(strict_schema(self.tool.input_schema, self.provider), self.provider)


def tool_fits(tool: ToolSpec) -> list[Fit]:
    """Return what the strict mode of each provider says of a tool."""
    return [Fit(tool, provider, tool_strict_problems(tool, provider)) for provider in PROVIDERS]
