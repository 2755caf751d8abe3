"""Test which addresses are called."""

import ssl
from ipaddress import ip_address

import httpx2
import pytest

from toolevals.agents.network import Address, AddressPolicy, ForbiddenAddressError, certificates, guarded_client

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


CARRIERS = [
    "::ffff:{mapped}",
    "::{mapped}",
    "::ffff:0:{mapped}",
    "64:ff9b::{mapped}",
    "64:ff9b:1::{mapped}",
    "64:ff9b:1:{hex}::",
    "2002:{hex}::1",
    "2001:0:808:808::{turned}",
    "2001:0:{hex}::f7f7:f7f7",
    "2606:2800:220:1:0:5efe:{mapped}",
    "2606:2800:220:1:200:5efe:{mapped}",
]


def carried(form: str, address: str) -> Address:
    """Return the IPv6 address of this form that carries an IPv4 address."""
    number = int(ip_address(address))
    high, low = number >> 16, number & 0xFFFF
    turned = number ^ 0xFFFF_FFFF
    words = f"{high:x}:{low:x}"
    if form.startswith("64:ff9b:1:{"):
        # Behind a prefix of 48 bits the address leaves out bits 64 to 71.
        words = f"{high:x}:{low >> 8:x}:{(low & 0xFF) << 8:x}"
    return ip_address(form.format(mapped=address, hex=words, turned=f"{turned >> 16:x}:{turned & 0xFFFF:x}"))


@pytest.mark.parametrize("form", CARRIERS)
def test_an_address_that_carries_another_is_judged_by_that(form):
    policy = AddressPolicy.of(["10.0.0.0/8"])
    for private in ("127.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1"):
        assert not policy.permits(carried(form, private)), private
    assert policy.permits(carried(form, "8.8.4.4"))
    assert policy.permits(carried(form, "10.1.2.3"))
    assert not AddressPolicy().permits(carried(form, "10.1.2.3"))


def test_a_carrier_behind_a_private_prefix_and_what_is_not_of_the_internet_are_private():
    for address in ("fd00::5efe:8.8.8.8", "fec0::1", "5f00::1", "100::1", "4000::1", "64:ff9b:1::", "2001:db8::1"):
        assert not AddressPolicy().permits(ip_address(address)), address


@pytest.mark.parametrize(
    "host",
    ["127.1", "0x7f.1", "0x7f000001", "2130706433", "127.0.0.1", "[::ffff:127.0.0.1]", "[::]", "0"],
)
def test_odd_spellings_are_judged_by_what_they_mean(host):
    with guarded_client(AddressPolicy(), seconds=5) as client, pytest.raises(ForbiddenAddressError):
        client.get(f"http://{host}:9/")


def test_a_name_is_judged_anew_at_each_connection(monkeypatch):
    answers = [["93.184.216.34"], ["127.0.0.1"], ["93.184.216.34", "10.0.0.1"]]
    asked = []

    def rebound(host, port, **_):
        asked.append(host)
        return [(None, None, None, "", (address, port)) for address in answers.pop(0)]

    connected: list[str] = []
    monkeypatch.setattr("toolevals.agents.network.socket.getaddrinfo", rebound)
    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", lambda _, request: answered(connected, request))
    with guarded_client(AddressPolicy(), seconds=5) as client:
        # What it leads to is not followed.
        assert client.get("http://name.example/").status_code == 302
        for _ in range(2):
            with pytest.raises(ForbiddenAddressError, match=r"name\.example is a private address"):
                client.get("http://name.example/")
    assert asked == ["name.example"] * 3
    assert connected == ["93.184.216.34"]


def answered(connected: list[str], request: httpx2.Request) -> httpx2.Response:
    connected.append(request.url.host)
    return httpx2.Response(302, headers={"location": "http://127.0.0.1/"}, stream=httpx2.ByteStream(b""))


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


@pytest.mark.parametrize("host", ["localhost", "api.localhost", "10.0.0.7", "::1", "169.254.169.254"])
def test_what_a_host_itself_tells_is_refused_before_anything_is_asked(host):
    with pytest.raises(ForbiddenAddressError, match="TOOLEVALS_AGENT_NETWORKS"):
        AddressPolicy().require_plain(host)
    AddressPolicy.of(["*"]).require_plain(host)
    AddressPolicy().require_plain("models.example")
    AddressPolicy().require_plain("93.184.216.34")


def test_certificates_are_read_once_for_all_clients(monkeypatch):
    certificates.cache_clear()
    read: list[None] = []
    load = ssl.SSLContext.load_verify_locations
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *args: read.append(load(*args)))
    for _ in range(3):
        guarded_client(AddressPolicy(), seconds=5).close()
    assert len(read) == 1
