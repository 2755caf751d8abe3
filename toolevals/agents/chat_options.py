"""Tell how a model, or an agent behind a webhook, is asked: options of every agent, simulated user or judge."""

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
    one_of,
    parameters,
    some_text,
)

# How tools are offered: as the protocol says, or described in the prompt and called by text.
TOOL_STYLES = ("native", "text")
# Parameters of a request that have options of their own, or that decide what is measured.
RESERVED = frozenset(
    {"model", "messages", "tools", "stream", "stream_options", "temperature", "seed", "max_tokens", "n"}
)


@dataclass(frozen=True, slots=True)
class ChatOptions(Options):
    """The settings of a request to a model.

    `secret` names the project's secret that lets it in. `system` is put before the conversation. `timeout` is in
    seconds of silence. `extra` are further parameters of the request, sent as they are.
    """

    CHECKS: ClassVar[Mapping[str, Check]] = {
        "base_url": address(),
        "model": some_text("must name a model"),
        "secret": TEXT,
        "temperature": number(0, 2),
        "seed": count(-(2**63), 2**63 - 1, "must be a whole number"),
        "max_tokens": count(1, 10_000_000, "must be a whole number above 0"),
        "system": TEXT,
        "tools": one_of(TOOL_STYLES),
        "stream": TRUE_OR_FALSE,
        "timeout": number(1, 3600, "of seconds"),
        "extra": parameters(RESERVED),
    }

    base_url: str
    model: str
    secret: str = ""
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    system: str = ""
    tools: str = "native"
    stream: bool = False
    timeout: float = 120.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Return where the secret is sent."""
        return self.base_url


@dataclass(frozen=True, slots=True)
class WebhookOptions(Options):
    """The address of an agent and how to ask it.

    `secret` names the project's secret that signs requests; none: they are not signed. `timeout` is in seconds of
    silence: an agent says nothing until it has done.
    """

    CHECKS: ClassVar[Mapping[str, Check]] = {"url": address(), "secret": TEXT, "timeout": number(1, 3600, "of seconds")}

    url: str
    secret: str = ""
    timeout: float = 600.0

    @property
    def address(self) -> str:
        """Return where the secret is sent."""
        return self.url
