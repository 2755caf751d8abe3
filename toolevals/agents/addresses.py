"""Finds addresses within addresses: some IPv6 addresses carry an IPv4 one, to which a gateway passes what is sent."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias

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
