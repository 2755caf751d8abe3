"""Tell how a model behind the Anthropic Messages protocol is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from toolevals.agents.option_checks import (
    TEXT,
    TRUE_OR_FALSE,
    Check,
    Options,
    address,
    count,
    number,
    parameters,
    some_text,
)

# Parameters of a request that have options of their own, that decide what is measured, or that need blocks in later
# turns which a transcript does not keep (thinking; tools that the provider runs).
RESERVED = frozenset(
    {"model", "messages", "tools", "stream", "temperature", "max_tokens", "system", "thinking", "mcp_servers"}
)


@dataclass(frozen=True, slots=True)
class AnthropicOptions(Options):
    """The settings of a request to a model.

    `secret` names the project's secret that holds its key. `system` is put before what the example says as system.
    `max_tokens` is the longest answer, which the protocol wants to be told. `timeout` is in seconds of silence. `extra`
    are further parameters of the request, sent as they are.
    """

    CHECKS: ClassVar[Mapping[str, Check]] = {
        "model": some_text("must name a model"),
        "base_url": address(),
        "secret": TEXT,
        "temperature": number(0, 1),
        "max_tokens": count(1, 10_000_000, "must be a whole number above 0"),
        "system": TEXT,
        "stream": TRUE_OR_FALSE,
        "timeout": number(1, 3600, "of seconds"),
        "extra": parameters(RESERVED),
    }

    model: str
    base_url: str = "https://api.anthropic.com"
    secret: str = ""
    temperature: float | None = None
    max_tokens: int = 4096
    system: str = ""
    stream: bool = False
    timeout: float = 120.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Return where the secret is sent."""
        return self.base_url
