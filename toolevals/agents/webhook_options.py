"""Tell how an agent behind a webhook is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from toolevals.agents.option_checks import TEXT, Check, address, number, options_read


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """The address of an agent and how to ask it.

    `secret` names the project's secret that signs requests; none: they are not signed. `timeout` is in seconds of
    silence: an agent says nothing until it has done.
    """

    url: str
    secret: str = ""
    timeout: float = 600.0

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read options; what is not said is at its default. Raises InvalidDocument with every problem."""
        return cls(**options_read(document, _CHECKS, required=("url",)))

    @property
    def address(self) -> str:
        """Return where the secret is sent."""
        return self.url

    def to_document(self) -> dict[str, Any]:
        """Return every option."""
        return asdict(self)


_CHECKS: Mapping[str, Check] = {"url": address(), "secret": TEXT, "timeout": number(1, 3600, "of seconds")}
