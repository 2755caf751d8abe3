"""Limits whom this installation calls: public addresses, and private ones only where its operator allows them.

An agent's address is entered by a member of a project. Without a guard it would let them reach whatever the server
reaches: a cloud's metadata, a database next to it. Names are resolved once, every address is checked, and the
connection goes to the address that was checked, so that a name cannot change its mind in between. Some IPv6 addresses
carry an IPv4 one, to which a gateway passes what is sent: that one is checked too.

All answers have one limit of size. What comes is counted as it is sent and as it unpacks, so that a small answer cannot
become a large one. It is unpacked here, in pieces, and the reader of the answer gets it plain.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Self, TypeAlias

import httpx2

# Of one answer, packed and unpacked. A megabyte of text is more than any model writes in a turn.
ANSWER_BYTES = 16 * 1024 * 1024
# After which an answer that is still coming is given up.
ANSWER_SECONDS = 900.0
# What we say that we can unpack.
ENCODINGS = "gzip, deflate"
_PIECE = 64 * 1024
_GZIP = zlib.MAX_WBITS | 16


class AnswerRefusedError(Exception):
    """More was answered than is taken, or in a form that is not read. Asking again is useless."""


def too_long(what: str = "The answer") -> AnswerRefusedError:
    """Return the error for what is longer than the limit."""
    return AnswerRefusedError(f"{what} is longer than {ANSWER_BYTES:,} bytes, which is the most that is taken.")


class Measure:
    """Counts one answer, and unpacks it."""

    def __init__(self, encoding: str, *, seconds: float | None = ANSWER_SECONDS) -> None:
        """Take the header's `encoding`. Raises AnswerRefusedError for what is not read."""
        self._unpack = _unpacker(encoding)
        self._came = self._made = 0
        self._until = None if seconds is None else time.monotonic() + seconds

    def taken(self, part: bytes) -> Iterator[bytes]:
        """Yield what a part of the answer holds. Raises AnswerRefusedError and DecodingError."""
        self._came += len(part)
        if self._came > ANSWER_BYTES:
            raise too_long()
        if self._until is not None and time.monotonic() > self._until:
            raise AnswerRefusedError(f"The answer did not end within {ANSWER_SECONDS:,.0f} seconds.")
        for piece in (part,) if self._unpack is None else self._unpack.pieces(part):
            self._made += len(piece)
            if self._made > ANSWER_BYTES:
                raise too_long("The answer, unpacked,")
            yield piece

    def end(self) -> None:
        """Find the answer whole. Raises DecodingError."""
        if self._came and self._unpack is not None and not self._unpack.is_whole:
            raise httpx2.DecodingError("The answer ends before what is packed in it does.")


class LimitedStream(httpx2.SyncByteStream):
    """The body of an answer, counted and unpacked."""

    def __init__(self, stream: httpx2.SyncByteStream, measure: Measure) -> None:
        self._stream = stream
        self._measure = measure

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            yield from self._measure.taken(part)
        self._measure.end()

    def close(self) -> None:
        self._stream.close()


class AsyncLimitedStream(httpx2.AsyncByteStream):
    """The same, for callers that do not wait."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, measure: Measure, note: Callable[[AnswerRefusedError], None]
    ) -> None:
        """Take the words on a refusal that the reader does not get."""
        self._stream = stream
        self._measure = measure
        self._note = note

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._stream:
                for piece in self._measure.taken(part):
                    yield piece
        except AnswerRefusedError as error:
            self._note(error)
            raise
        self._measure.end()

    async def aclose(self) -> None:
        await self._stream.aclose()


def plain_headers(headers: httpx2.Headers) -> httpx2.Headers:
    """Return the headers of an answer that is no longer packed."""
    kept = headers.copy()
    if kept.pop("content-encoding", ""):
        kept.pop("content-length", None)
    return kept


class _Unpacker:
    """Unpacks gzip, zlib or bare deflate, a piece at a time."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._zlib = zlib.decompressobj(bits)
        self._is_first = True

    @property
    def is_whole(self) -> bool:
        return self._zlib.eof

    def pieces(self, part: bytes) -> Iterator[bytes]:
        while part:
            if self._zlib.eof:
                if self._bits != _GZIP:
                    return
                # Several packed one behind the other are one.
                self._zlib = zlib.decompressobj(self._bits)
            piece = self._some(part)
            part = self._zlib.unconsumed_tail or self._zlib.unused_data
            if piece:
                yield piece

    def _some(self, part: bytes) -> bytes:
        was_first, self._is_first = self._is_first, False
        try:
            return self._zlib.decompress(part, _PIECE)
        except zlib.error as error:
            if was_first and self._bits == zlib.MAX_WBITS:
                # Some send deflate bare, without the header of zlib.
                self._bits = -zlib.MAX_WBITS
                self._zlib = zlib.decompressobj(self._bits)
                return self._some(part)
            raise httpx2.DecodingError(f"The answer cannot be unpacked: {error}") from None


_BITS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": zlib.MAX_WBITS}


def _unpacker(encoding: str) -> _Unpacker | None:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in _BITS:
        raise AnswerRefusedError(f"The answer is packed as {name[:40]!r}; {ENCODINGS} are read.")
    return _Unpacker(_BITS[name])


Address: TypeAlias = IPv4Address | IPv6Address

# Addresses of one machine on the internet. All else is reserved, local, multicast, or carries another address.
_UNICAST = IPv6Network("2000::/3")
_THIS_NETWORK = IPv4Network("0.0.0.0/8")
# IPv4 in the last 32 bits: compatible (RFC 4291), mapped, translated (RFC 7915), NAT64 (RFC 6052).
_IN_THE_END = tuple(map(IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
_UNSPECIFIED_AND_LOOPBACK = IPv6Network("::/127")
# NAT64 of a site's own (RFC 8215): each site chooses where in it the IPv4 address stands.
_NAT64_OF_A_SITE = IPv6Network("64:ff9b:1::/48")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
# What ISATAP (RFC 5214) puts before the IPv4 address, behind any prefix.
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
Network: TypeAlias = IPv4Network | IPv6Network


def judged(address: Address) -> tuple[Address, ...]:
    """Return the addresses that must all be permitted for this one to be: itself, or those that it carries.

    Empty where it carries one that cannot be told: then it is not to be called.
    """
    if isinstance(address, IPv4Address) or address in _UNSPECIFIED_AND_LOOPBACK:
        return (address,)
    number = int(address)
    if any(address in network for network in _IN_THE_END):
        return (_ipv4(number),)
    if address in _NAT64_OF_A_SITE:
        return tuple(_of_a_site(number))
    if address in _SIX_TO_FOUR:
        return (_ipv4(number >> 80),)
    if address in _TEREDO:
        # The server, and the client, whose bits are turned over (RFC 4380).
        return _ipv4(number >> 64), _ipv4(~number)
    if (number >> 32) & 0xFFFF_FFFF in _ISATAP:
        return address, _ipv4(number)
    return (address,)


def is_public(address: Address) -> bool:
    """Return whether an address, taken by itself, is of one machine on the internet."""
    if not address.is_global or address.is_multicast:
        return False
    return isinstance(address, IPv4Address) or address in _UNICAST


def _ipv4(number: int) -> IPv4Address:
    return IPv4Address(number & 0xFFFF_FFFF)


def _of_a_site(number: int) -> Iterator[Address]:
    """Yield each reading of a site's NAT64 address, by the lengths of prefix of RFC 6052, that is an address."""
    for length in (48, 56, 64, 96):
        bits = number & ((1 << (128 - length)) - 1)
        if length < 96:
            # Bits 64 to 71 are not part of it.
            bits = (bits >> 64 << 56) | (bits & ((1 << 56) - 1))
            found = IPv4Address(bits >> (128 - length - 8 - 32))
        else:
            found = IPv4Address(bits)
        if found not in _THIS_NETWORK:
            yield found


class ForbiddenAddressError(Exception):
    """The address is private, and the operator has not allowed it."""


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """The private networks that may be called, in addition to all that is public."""

    allowed: tuple[Network, ...] = ()

    @classmethod
    def of(cls, networks: Sequence[str]) -> Self:
        """Read networks as "127.0.0.0/8" or "::1"; "*" is all. Raises ValueError."""
        every = ("0.0.0.0/0", "::/0")
        said = [each for network in networks for each in (every if network.strip() == "*" else (network.strip(),))]
        return cls(tuple(ip_network(network) for network in said if network))

    def permits(self, address: Address) -> bool:
        """Tell whether an address may be called. One that carries another is judged by that."""
        found = judged(address)
        return bool(found) and all(is_public(each) or self._allows(each) for each in found)

    def _allows(self, address: Address) -> bool:
        return any(address.version == network.version and address in network for network in self.allowed)

    def address_of(self, host: str, port: int | None) -> str:
        """Return the address to connect to. Raises ForbiddenAddressError, and OSError where the name is not known."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
        if not addresses or not all(self.permits(address) for address in addresses):
            raise _forbidden(host)
        return str(addresses[0])

    def require_plain(self, host: str) -> None:
        """Raise ForbiddenAddressError where the host itself tells that it may not be called. No name is looked up."""
        try:
            address = ip_address("127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host)
        except ValueError:
            return
        if not self.permits(address):
            raise _forbidden(host)


def _forbidden(host: str) -> ForbiddenAddressError:
    return ForbiddenAddressError(
        f"{host} is a private address. The operator can allow it by TOOLEVALS_AGENT_NETWORKS: see docs/operating.md."
    )


@cache
def certificates() -> ssl.SSLContext:
    """Return the certificates that this machine or its environment trusts, read once: that takes 20 milliseconds."""
    return httpx2.create_ssl_context()


class GuardedTransport(httpx2.HTTPTransport):
    """Connects to no one whom the policy does not permit, and takes no more of an answer than `answers` says."""

    def __init__(self, policy: AddressPolicy) -> None:
        # Proxies and certificates of the environment are the operator's; a proxy would resolve names by itself.
        super().__init__(verify=certificates(), trust_env=True)
        self._policy = policy

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(_to_checked(request, self._policy))
        try:
            measure = _measure(request, response)
        except AnswerRefusedError:
            response.close()
            raise
        assert isinstance(response.stream, httpx2.SyncByteStream)
        return _measured(response, LimitedStream(response.stream, measure))


class AsyncGuardedTransport(httpx2.AsyncHTTPTransport):
    """The same, for clients that do not wait."""

    def __init__(self, policy: AddressPolicy, note: Callable[[AnswerRefusedError], None]) -> None:
        super().__init__(verify=certificates(), trust_env=True)
        self._policy = policy
        self._note = note

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        checked = await asyncio.to_thread(_to_checked, request, self._policy)
        response = await super().handle_async_request(checked)
        try:
            measure = _measure(request, response)
        except AnswerRefusedError as error:
            self._note(error)
            await response.aclose()
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return _measured(response, AsyncLimitedStream(response.stream, measure, self._note))


def _to_checked(request: httpx2.Request, policy: AddressPolicy) -> httpx2.Request:
    """Return the request with the address that was checked in place of its name."""
    host = request.url.host
    try:
        address = policy.address_of(host, request.url.port)
    except OSError as error:
        raise httpx2.ConnectError(f"{host}: {error.strerror or error}", request=request) from error
    request.extensions = {**request.extensions, "sni_hostname": host}
    request.url = request.url.copy_with(host=address)
    request.headers["accept-encoding"] = ENCODINGS
    return request


def _measure(request: httpx2.Request, response: httpx2.Response) -> Measure:
    # What is asked for by GET may be a stream of events, which lasts as long as a session.
    seconds = None if request.method == "GET" else ANSWER_SECONDS
    return Measure(response.headers.get("content-encoding", ""), seconds=seconds)


def _measured(response: httpx2.Response, stream: LimitedStream | AsyncLimitedStream) -> httpx2.Response:
    return httpx2.Response(
        response.status_code,
        headers=plain_headers(response.headers),
        stream=stream,
        extensions=response.extensions,
    )


def guarded_client(policy: AddressPolicy, *, seconds: float) -> httpx2.Client:
    """Return a client that keeps to the policy, follows no redirect and gives up after so many seconds of silence."""
    return httpx2.Client(
        transport=GuardedTransport(policy),
        timeout=httpx2.Timeout(seconds, connect=min(seconds, 10.0)),
        follow_redirects=False,
        trust_env=False,
    )


def guarded_async_client(
    policy: AddressPolicy,
    *,
    seconds: float,
    note: Callable[[AnswerRefusedError], None],
    headers: Mapping[str, str] | None = None,
) -> httpx2.AsyncClient:
    """Return the same for callers that do not wait. `note` is told what was refused of an answer."""
    return httpx2.AsyncClient(
        transport=AsyncGuardedTransport(policy, note),
        timeout=httpx2.Timeout(seconds, connect=min(seconds, 10.0)),
        headers=headers,
        follow_redirects=False,
        trust_env=False,
    )
