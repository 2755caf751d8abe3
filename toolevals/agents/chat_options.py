"""How a model is asked: the options of every subject, simulated user or judge behind a chat protocol."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

from toolevals.grading.problems import InvalidDocument, Problem

# How tools are offered: as the protocol says, or described in the prompt and called by text.
TOOL_STYLES = ("native", "text")
# Parameters of a request that have options of their own, or that decide what is measured.
RESERVED = frozenset(
    {"model", "messages", "tools", "stream", "stream_options", "temperature", "seed", "max_tokens", "n"}
)


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a model is asked.

    `secret` names the project's secret that lets it in. `system` is put before the conversation. `timeout` is in
    seconds of silence. `extra` are further parameters of the request, sent as they are.
    """

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

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read options; what is not said is at its default. Raises InvalidDocument with every problem."""
        problems = [Problem(f"/{name}", "is not an option of a model") for name in document if name not in _CHECKS]
        for name, (is_right, message) in _CHECKS.items():
            value = document.get(name)
            if (value is None and name in ("base_url", "model")) or (value is not None and not is_right(value)):
                problems.append(Problem(f"/{name}", message))
        if problems:
            raise InvalidDocument(problems)
        return cls(**{name: value for name, value in document.items() if value is not None})

    def to_document(self) -> dict[str, Any]:
        """Return every option."""
        return asdict(self)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_address(value: Any) -> bool:
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        return parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        return False


def _is_number(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and low <= value <= high
    )


def _is_count(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "base_url": (_is_address, "must be an address that begins with http:// or https://, without a password in it"),
    "model": (lambda value: _is_text(value) and bool(value.strip()), "must name a model"),
    "secret": (_is_text, "must be the name of a secret"),
    "temperature": (_is_number(0, 2), "must be a number from 0 to 2"),
    "seed": (_is_count(-(2**63), 2**63 - 1), "must be a whole number"),
    "max_tokens": (_is_count(1, 10_000_000), "must be a whole number above 0"),
    "system": (_is_text, "must be text"),
    "tools": (lambda value: value in TOOL_STYLES, f"must be one of {', '.join(TOOL_STYLES)}"),
    "stream": (lambda value: isinstance(value, bool), "must be true or false"),
    "timeout": (_is_number(1, 3600), "must be a number of seconds from 1 to 3600"),
    "extra": (
        lambda value: isinstance(value, dict) and not RESERVED & value.keys(),
        f"must be an object without {', '.join(sorted(RESERVED))}",
    ),
}
