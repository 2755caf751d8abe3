"""Which addresses are called."""

from ipaddress import ip_address

import pytest

from toolevals.agents.network import AddressPolicy, ForbiddenAddressError

PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "fd00::1",
]
PRIVATE += ["fe80::1", "::ffff:10.0.0.1", "224.0.0.1", "255.255.255.255", "ff02::1", "::"]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_need_leave(address):
    assert not AddressPolicy().permits(ip_address(address))
    assert AddressPolicy.of(["*"]).permits(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
def test_public_addresses_need_none(address):
    assert AddressPolicy().permits(ip_address(address))


def test_leave_is_given_by_network():
    policy = AddressPolicy.of(["10.0.0.0/8", " ::1 ", ""])
    assert policy.permits(ip_address("10.9.9.9"))
    assert policy.permits(ip_address("::1"))
    assert not policy.permits(ip_address("192.168.1.1"))
    with pytest.raises(ValueError, match="does not appear to be"):
        AddressPolicy.of(["10.0.0.0/8", "nonsense"])


def test_a_name_is_judged_by_what_it_stands_for():
    with pytest.raises(ForbiddenAddressError, match="localhost is a private address"):
        AddressPolicy().address_of("localhost", 80)
    assert ip_address(AddressPolicy.of(["127.0.0.0/8", "::1"]).address_of("localhost", 80)).is_loopback
