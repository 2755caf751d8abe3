"""Defines the options of models, webhooks and MCP servers, and checks them in words for the person who gave them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject


@dataclass(frozen=True, slots=True)
class Check:
    """The condition of a value, and the words for a value that does not meet it."""

    is_right: Callable[[Any], bool]
    message: str


def options_read(document: JsonMapping, checks: Mapping[str, Check], *, required: Collection[str] = ()) -> JsonObject:
    """Return the options that are given. Raises InvalidDocument with every problem."""
    problems = [Problem(f"/{name}", "is not an option here") for name in document if name not in checks]
    for name, check in checks.items():
        value = document.get(name)
        if (value is None and name in required) or (value is not None and not check.is_right(value)):
            problems.append(Problem(f"/{name}", check.message))
    if problems:
        raise InvalidDocument(problems)
    return {name: value for name, value in document.items() if value is not None}


# Options that came after agents were kept by all of theirs.
NEWER = frozenset({"strict_tools"})


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one connector, which has them as its fields. A field without a default must be given."""

    CHECKS: ClassVar[Mapping[str, Check]]

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read options; what is not said is at its default. Raises InvalidDocument with every problem."""
        required = [each.name for each in fields(cls) if each.default is MISSING and each.default_factory is MISSING]
        return cls(**options_read(document, cls.CHECKS, required=required))

    def to_document(self) -> JsonObject:
        """Return every option; `NEWER` ones only where they are said, so that agents from before them stay the same."""
        document = asdict(self)
        return {name: value for name, value in document.items() if value or name not in NEWER}


TEXT = Check(lambda value: isinstance(value, str), "must be text")
TRUE_OR_FALSE = Check(lambda value: isinstance(value, bool), "must be true or false")


def some_text(message: str) -> Check:
    """Text that is not empty."""
    return Check(lambda value: isinstance(value, str) and bool(value.strip()), message)


def address() -> Check:
    """An address to call."""
    return Check(is_address, "must be an address that starts with http:// or https://, without a password in it")


def number(low: float, high: float, of: str = "") -> Check:
    """A number within bounds."""
    words = f"must be a number {of} from {low:g} to {high:g}" if of else f"must be a number from {low:g} to {high:g}"
    return Check(
        lambda value: (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and low <= value <= high
        ),
        words,
    )


def count(low: int, high: int, message: str) -> Check:
    """A whole number within bounds."""
    return Check(lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high, message)


def one_of(values: Sequence[str]) -> Check:
    """One of a few words."""
    return Check(lambda value: value in values, f"must be one of {', '.join(values)}")


def parameters(reserved: frozenset[str]) -> Check:
    """Further parameters of a request, without those that are reserved."""
    return Check(
        lambda value: isinstance(value, dict) and not reserved & value.keys(),
        f"must be an object without {', '.join(sorted(reserved))}",
    )


def is_address(value: object) -> bool:
    """Tell whether a value is an address of HTTP without a password in it."""
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        return parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        return False


# How tools are offered: as the protocol says, or described in the prompt and called by text.
TOOL_STYLES = ("native", "text")
# Parameters of a request that have options of their own, or that decide what is measured.
RESERVED = frozenset(
    {"model", "messages", "tools", "stream", "stream_options", "temperature", "seed", "max_tokens", "n"}
)


@dataclass(frozen=True, slots=True)
class ChatOptions(Options):
    """The settings of a request to a model.

    `secret` names the project's secret that lets it in. `system` is put before the conversation. With `strict_tools`,
    tools whose schemas fit are sent in strict mode. `timeout` is in seconds of silence. `extra` are further parameters
    of the request, sent as they are.
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
        "strict_tools": TRUE_OR_FALSE,
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
    strict_tools: bool = False
    stream: bool = False
    timeout: float = 120.0
    extra: JsonMapping = field(default_factory=dict)

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read options; what is not said is at its default. Raises InvalidDocument with every problem."""
        said = super(ChatOptions, cls).from_document(document)
        if said.strict_tools and said.tools != "native":
            raise InvalidDocument.at("/strict_tools", "needs tools that are offered natively: set `tools` to native")
        return said

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


# Parameters of a request that have options of their own, that decide what is measured, or that need blocks in later
# turns which a transcript does not keep (thinking; tools that the provider runs).
_ANTHROPIC_RESERVED = frozenset(
    {"model", "messages", "tools", "stream", "temperature", "max_tokens", "system", "thinking", "mcp_servers"}
)


@dataclass(frozen=True, slots=True)
class AnthropicOptions(Options):
    """The settings of a request to a model.

    `secret` names the project's secret that holds its key. `system` is put before what the example says as system.
    `max_tokens` is the longest answer, which the protocol wants to be told. With `strict_tools`, tools whose schemas
    fit are sent in strict mode. `timeout` is in seconds of silence. `extra` are further parameters of the request, sent
    as they are.
    """

    CHECKS: ClassVar[Mapping[str, Check]] = {
        "model": some_text("must name a model"),
        "base_url": address(),
        "secret": TEXT,
        "temperature": number(0, 1),
        "max_tokens": count(1, 10_000_000, "must be a whole number above 0"),
        "system": TEXT,
        "strict_tools": TRUE_OR_FALSE,
        "stream": TRUE_OR_FALSE,
        "timeout": number(1, 3600, "of seconds"),
        "extra": parameters(_ANTHROPIC_RESERVED),
    }

    model: str
    base_url: str = "https://api.anthropic.com"
    secret: str = ""
    temperature: float | None = None
    max_tokens: int = 4096
    system: str = ""
    strict_tools: bool = False
    stream: bool = False
    timeout: float = 120.0
    extra: JsonMapping = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Return where the secret is sent."""
        return self.base_url


def _is_command(value: object) -> bool:
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
    def from_document(cls, document: JsonMapping) -> Self:
        """Read options; what is not said is at its default. Raises InvalidDocument with every problem."""
        said = options_read(document, cls.CHECKS)
        if bool(said.get("url")) == bool(said.get("command")):
            raise InvalidDocument.at("/url", "is missing: give it, or a command")
        return cls(**{**said, "command": tuple(said.get("command", ()))})

    @property
    def address(self) -> str:
        """Return where the secret is sent."""
        return self.url

    def to_document(self) -> JsonObject:
        """Return what is said."""
        where: JsonObject = {"url": self.url} if self.url else {"command": list(self.command)}
        return {**where, "timeout": self.timeout} | ({"secret": self.secret} if self.secret else {})

    @property
    def line(self) -> str:
        """The command as a shell would take it; empty for an address."""
        return shlex.join(self.command)
