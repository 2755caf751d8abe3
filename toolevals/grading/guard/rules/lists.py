"""Refuses what is on no list or on a blocked one: by key tools, models, providers, addresses; MCP servers; tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from toolevals.grading.guard.names import DeniedNames, Names
from toolevals.grading.guard.rules.rule import Finding, Look, Options, Rule, Test, quoted
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import Problem, pointer_to

# The key whose lists are those of every key that is not named.
ANY_KEY = "*"
_MCP = "mcp__"


@dataclass(frozen=True, slots=True)
class Key(Options):
    """The lists and rates of a key; what is left out is not limited.

    `models` and `providers` are globs. `addresses` are IP addresses and networks (CIDR).
    """

    allowed_tools: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    requests_a_minute: int | None = None
    tokens_a_minute: int | None = None

    def problems(self) -> Iterator[Problem]:
        for place, address in enumerate(self.addresses):
            try:
                ip_network(address)
            except ValueError as error:
                yield Problem(f"/addresses/{place}", f"is neither an address nor a network: {error}")


@dataclass(frozen=True, slots=True)
class KeysRule(Rule):
    """Each key may do what its lists say. A key that is not named has the lists of `*`; without it, it is refused."""

    kind = "keys"
    reads_values = False

    keys: Mapping[str, Key] = field(default_factory=dict, metadata={"of": Key})

    def problems(self) -> Iterator[Problem]:
        for name, key in self.keys.items():
            yield from (problem.below(f"/keys{pointer_to([name])}") for problem in key.problems())

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        return partial(_key_findings, {name: _Scope(name, key) for name, key in self.keys.items()})


def _key_findings(keys: Mapping[str, _Scope], look: Look) -> Iterator[Finding]:
    name = look.request.key
    scope = keys.get(name) or keys.get(ANY_KEY)
    if scope is None:
        words = f"The key {quoted(name)} is not in the policy." if name else "The request names no key."
        yield Finding("/key", words)
        return
    yield from scope.findings(look)


class _Scope:
    """The lists of one key, compiled."""

    def __init__(self, name: str, key: Key) -> None:
        self.key = key
        self.whose = "any key" if name == ANY_KEY else quoted(name)
        self.allowed = Names(key.allowed_tools) if key.allowed_tools else None
        self.denied = DeniedNames(key.denied_tools) if key.denied_tools else None
        self.stated = [
            (what, Names(globs)) for what, globs in (("model", key.models), ("provider", key.providers)) if globs
        ]
        self.networks = [_network(each) for each in key.addresses]
        limits = (("requests", key.requests_a_minute), ("tokens", key.tokens_a_minute))
        self.limits = [(what, limit) for what, limit in limits if limit is not None]

    def findings(self, look: Look) -> Iterator[Finding]:
        tool = look.request.name
        if tool and self.denied is not None and self.denied.hold(tool):
            yield Finding("/name", f"{quoted(tool)} is denied to {self.whose}.")
        if tool and self.allowed is not None and not self.allowed.holds(tool):
            yield Finding("/name", f"{quoted(tool)} is not among the tools of {self.whose}.")
        for what, names in self.stated:
            stated: str = getattr(look.request, what)
            if not stated:
                yield Finding(f"/{what}", f"The request states no {what}.", is_unknown=True)
            elif not names.holds(stated):
                yield Finding(f"/{what}", f"The {what} {quoted(stated)} is not among those of {self.whose}.")
        if self.networks:
            yield from self._address(look.request.address)
        for what, limit in self.limits:
            yield from self._rate(look, what, limit)

    def _address(self, address: str) -> Iterator[Finding]:
        if not address:
            yield Finding("/address", "The address of the request is not known.", is_unknown=True)
        elif (known := _address(address)) is None or not any(known in network for network in self.networks):
            yield Finding("/address", f"The address {quoted(address)} is not among those of {self.whose}.")

    def _rate(self, look: Look, what: str, limit: int) -> Iterator[Finding]:
        count: int | None = getattr(look.state, f"{what}_last_minute")
        if count is None:
            yield Finding("/key", f"The {what} of the last minute are not known.", is_unknown=True)
        elif count >= limit:
            yield Finding("/key", f"{count:,} {what} in the last minute; {self.whose} has {limit:,} a minute.")


def _network(address: str) -> IPv4Network | IPv6Network:
    return ip_network(address)


def _address(written: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(written)
    except ValueError:
        return None
    # A server that listens on both protocols sees IPv4 as ::ffff:192.0.2.1.
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


@dataclass(frozen=True, slots=True)
class ServersRule(Rule):
    """A call of an MCP server is of an allowed one. A call that names none, as `mcp__NAME__tool` does, is of none."""

    kind = "servers"
    reads_values = False

    allowed: tuple[str, ...] = ()

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        return partial(_server_findings, Names(self.allowed))


def _server_findings(allowed: Names, look: Look) -> Iterator[Finding]:
    server, pointer = look.request.server, "/server"
    if not server and look.request.name.startswith(_MCP):
        server, pointer = look.request.name.removeprefix(_MCP).partition("__")[0], "/name"
    if server and not allowed.holds(server):
        yield Finding(pointer, f"The server {quoted(server)} is not allowed.")


@dataclass(frozen=True, slots=True)
class BlockedRule(Rule):
    """No call is of a blocked tool: one with that name, with a server's name before it, or that ends in `_` and it."""

    kind = "blocked"
    reads_values = False

    tools: tuple[str, ...] = ()

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        return partial(_blocked_findings, DeniedNames(self.tools, suffixes=True))


def _blocked_findings(blocked: DeniedNames, look: Look) -> Iterator[Finding]:
    if look.request.name and blocked.hold(look.request.name):
        yield Finding("/name", f"{quoted(look.request.name)} is blocked.")
