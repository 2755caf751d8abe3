"""Whom this installation calls: public addresses, and private ones only where its operator allows them.

An agent's address is entered by a member of a project. Without a guard it would let them reach whatever the server
reaches: a cloud's metadata, a database beside it. Names are resolved once, every address is checked, and the
connection goes to the address that was checked, so that a name cannot change its mind in between.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Self, TypeAlias

import httpx2

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


class ForbiddenAddressError(Exception):
    """The address is private, and the operator has not allowed it."""


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Which private networks may be called, beside all that is public."""

    allowed: tuple[Network, ...] = ()

    @classmethod
    def of(cls, networks: Sequence[str]) -> Self:
        """Read networks as "127.0.0.0/8" or "::1"; "*" is all. Raises ValueError."""
        every = ("0.0.0.0/0", "::/0")
        said = [each for network in networks for each in (every if network.strip() == "*" else (network.strip(),))]
        return cls(tuple(ip_network(network) for network in said if network))

    def permits(self, address: Address) -> bool:
        """Tell whether an address may be called."""
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        plain: Address = mapped or address
        is_public = plain.is_global and not plain.is_multicast
        return is_public or any(plain.version == network.version and plain in network for network in self.allowed)

    def address_of(self, host: str, port: int | None) -> str:
        """Return the address to connect to. Raises ForbiddenAddressError, and OSError where the name is not known."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
        if not addresses or not all(self.permits(address) for address in addresses):
            raise ForbiddenAddressError(
                f"{host} is a private address. The operator can allow it by AGENT_NETWORKS: see docs/operating.md."
            )
        return str(addresses[0])


class GuardedTransport(httpx2.HTTPTransport):
    """Connects to nobody whom the policy does not permit."""

    def __init__(self, policy: AddressPolicy) -> None:
        # Proxies and certificates of the environment are the operator's; a proxy would resolve names by itself.
        super().__init__(trust_env=True)
        self._policy = policy

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return super().handle_request(_to_checked(request, self._policy))


class AsyncGuardedTransport(httpx2.AsyncHTTPTransport):
    """The same, for clients that do not wait."""

    def __init__(self, policy: AddressPolicy) -> None:
        super().__init__(trust_env=True)
        self._policy = policy

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        checked = await asyncio.to_thread(_to_checked, request, self._policy)
        return await super().handle_async_request(checked)


def _to_checked(request: httpx2.Request, policy: AddressPolicy) -> httpx2.Request:
    """Return the request with the address that was checked in place of its name."""
    host = request.url.host
    try:
        address = policy.address_of(host, request.url.port)
    except OSError as error:
        raise httpx2.ConnectError(f"{host}: {error.strerror or error}", request=request) from error
    request.extensions = {**request.extensions, "sni_hostname": host}
    request.url = request.url.copy_with(host=address)
    return request


def guarded_client(policy: AddressPolicy, *, seconds: float) -> httpx2.Client:
    """Return a client that keeps to the policy, follows no redirect and gives up after so many seconds of silence."""
    return httpx2.Client(
        transport=GuardedTransport(policy),
        timeout=httpx2.Timeout(seconds, connect=min(seconds, 10.0)),
        follow_redirects=False,
        trust_env=False,
    )


def guarded_async_client(
    policy: AddressPolicy, *, seconds: float, headers: Mapping[str, str] | None = None
) -> httpx2.AsyncClient:
    """Return the same for callers that do not wait."""
    return httpx2.AsyncClient(
        transport=AsyncGuardedTransport(policy),
        timeout=httpx2.Timeout(seconds, connect=min(seconds, 10.0)),
        headers=headers,
        follow_redirects=False,
        trust_env=False,
    )
