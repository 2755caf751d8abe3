"""Tell where a server of the Model Context Protocol is: an address of streamable HTTP, or a command on this machine."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from toolevals.agents.option_checks import TEXT, Check, Options, address, number, options_read
from toolevals.grading.values.problems import InvalidDocument


def _is_command(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(part, str) and part for part in value)


@dataclass(frozen=True, slots=True)
class McpOptions(Options):
    """The place of a server: either a `url`, or a `command` with its arguments, which speaks over its pipes.

    `secret` names the project's secret that is sent to the address as a bearer token. `timeout` is in seconds, of each
    answer.
    """

    CHECKS: ClassVar[Mapping[str, Check]] = {
        "url": address(),
        "command": Check(_is_command, "must be a list of a program and its arguments"),
        "secret": TEXT,
        "timeout": number(1, 600, "of seconds"),
    }

    url: str = ""
    command: tuple[str, ...] = ()
    secret: str = ""
    timeout: float = 30.0

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read options; what is not said is at its default. Raises InvalidDocument with every problem."""
        said = options_read(document, cls.CHECKS)
        if bool(said.get("url")) == bool(said.get("command")):
            raise InvalidDocument.at("/url", "is missing: give it, or a command")
        return cls(**{**said, "command": tuple(said.get("command", ()))})

    @property
    def address(self) -> str:
        """Return where the secret is sent."""
        return self.url

    def to_document(self) -> dict[str, Any]:
        """Return what is said."""
        where: dict[str, Any] = {"url": self.url} if self.url else {"command": list(self.command)}
        return {**where, "timeout": self.timeout} | ({"secret": self.secret} if self.secret else {})

    @property
    def line(self) -> str:
        """The command as a shell would take it; empty for an address."""
        return shlex.join(self.command)
