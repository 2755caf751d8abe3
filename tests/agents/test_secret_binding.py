"""A secret may be sent to exactly those addresses that its owner has named, however they are written."""

from __future__ import annotations

import pytest

from toolevals.agents.secret_binding import Origin, OriginError, SecretBinding, SecretForbiddenError, origins_read

BOUND = SecretBinding.of(
    "model-host",
    [
        "https://models.example.org",
        "http://10.0.0.5:8080",
        "https://[2001:db8::1]:8443",
        "https://xn--bcher-kva.example",
    ],
    "hush",
)


@pytest.mark.parametrize(
    "address",
    [
        "https://models.example.org",
        "https://models.example.org/v1?x=1#y",
        "https://models.example.org:443/v1",
        "https://models.example.org:/v1",
        "HTTPS://MODELS.Example.ORG/v1",
        "http://10.0.0.5:8080/",
        "https://[2001:DB8:0:0::1]:8443/v1",
        "https://bücher.example/",
        "https://BÜCHER.example/",
    ],
)
def test_what_is_named_gets_it(address):
    assert BOUND.key_for(address) == "hush"


@pytest.mark.parametrize(
    "address",
    [
        "http://models.example.org",
        "https://models.example.org:8443",
        "https://evil.example",
        "https://models.example.org.evil.example",
        "https://evilmodels.example.org",
        "https://sub.models.example.org",
        "https://example.org",
        "https://models.example.org.",
        "https://models.example.org@evil.example",
        "https://user:password@models.example.org",
        "https://@models.example.org",
        "https://models.example.org\\@evil.example",
        "https://evil.example\\.models.example.org",
        "https://evil.example#@models.example.org",
        "https://evil.example/https://models.example.org",
        "https://models%2eexample.org",
        "https://models.example.org%2f.evil.example",
        "https://models.example.org%00.evil.example",
        "https://models.exam\tple.org",
        "https://models.example.org\n.evil.example",
        " https://models.example.org",
        "https:/models.example.org",
        "https:models.example.org",
        "//models.example.org",
        "models.example.org",
        "https://models.example.org:443443",
        "https://models.example.org:0",
        "https://models.example.org:4x",
        "https://models..example.org",
        "https://models.example\u2044org",
        "https://",
        "ftp://models.example.org",
        "http://10.0.0.5",
        "http://010.0.0.5:8080",
        "http://167772165:8080",
        "https://[2001:db8::2]:8443",
        "https://[2001:db8::1%25eth0]:8443",
        "https://2001:db8::1:8443",
        "https://[::ffff:10.0.0.5]:8080",
        "https://[models.example.org]",
        "",
    ],
)
def test_anything_else_is_refused_and_the_value_is_not_told(address):
    with pytest.raises(SecretForbiddenError) as caught:
        BOUND.key_for(address)
    assert "hush" not in str(caught.value) + repr(BOUND)


def test_a_secret_without_addresses_goes_nowhere():
    with pytest.raises(SecretForbiddenError, match="may be sent to no address yet"):
        SecretBinding.of("old", [], "hush").key_for("https://models.example.org")


def test_what_an_owner_writes_is_kept_in_one_way():
    written = [
        "HTTPS://Models.Example.org:443/",
        "https://models.example.org",
        "http://[::1]:80",
        "https://bücher.example",
    ]
    assert origins_read(written) == ["http://[::1]", "https://models.example.org", "https://xn--bcher-kva.example"]
    assert [str(Origin.of(each)) for each in origins_read(written)] == origins_read(written)


@pytest.mark.parametrize(
    "wrong", ["https://models.example.org/v1", "https://x.example?y", "*.example.org", "https://*.x.org"]
)
def test_an_owner_names_no_path_and_no_pattern(wrong):
    with pytest.raises(OriginError, match="must"):
        origins_read([wrong])
