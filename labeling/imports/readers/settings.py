"""Say what a person chose for one import, and what the dataset gives to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.values import ToolSpec


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of an import, as its job keeps them, and the dataset's default tools by name (None: it has none)."""

    options: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, ToolSpec] | None = None
