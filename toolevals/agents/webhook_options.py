"""Tell how an agent behind a webhook is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from toolevals.agents.option_checks import TEXT, Check, Options, address, number


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
