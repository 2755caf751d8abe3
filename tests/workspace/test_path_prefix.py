"""Prefixes that can be told from the application's own addresses, and no others; both kinds of proxy are understood."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from tests.access.addresses import addresses
from toolevals import wsgi
from toolevals.cli.main import main
from toolevals.cli.output import Exit
from toolevals.path_prefix import TAKEN, PathPrefixError, path_below, prefix_of
from toolevals.settings.environment import path_prefix

SEGMENTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,9}", fullmatch=True)
PREFIXES = st.lists(SEGMENTS, min_size=1, max_size=3).filter(lambda parts: parts[0] not in TAKEN)
OWN = [f"/{address.route}" for address in addresses()]


@pytest.mark.parametrize("given", ["", "/"])
def test_none(given):
    assert prefix_of(given) == ""


@pytest.mark.parametrize("given", ["/evals", "/evals/", "/tools/evals", "/Evals-2.x_y"])
def test_a_clean_one(given):
    assert prefix_of(given) == given.removesuffix("/")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("evals", "does not start with a slash"),
        ("https://host/evals", "does not start with a slash"),
        ("//", "has two slashes in a row"),
        ("//evals", "has two slashes in a row"),
        ("/evals//", "has two slashes in a row"),
        ("/a//b", "has two slashes in a row"),
        ("/..", "has the part '..'"),
        ("/evals/../x", "has the part '..'"),
        ("/./evals", "has the part '.'"),
        ("/e vals", "has the part 'e vals'"),
        ("/evals\n", "has the part 'evals\\n'"),
        ("/evals?x", "has the part 'evals?x'"),
        ("/%65vals", "has the part '%65vals'"),
        ("/\u00e9vals", "has the part '\u00e9vals'"),
        ("/docs", "begins with 'docs', where the application has addresses of its own"),
        ("/static/evals", "begins with 'static'"),
        ("/p/evals/", "begins with 'p'"),
    ],
)
def test_any_other_is_refused_by_name(given, why):
    with pytest.raises(PathPrefixError) as error:
        prefix_of(given)
    assert str(error.value).startswith(f"TOOLEVALS_PATH_PREFIX: {given!r} {why}")
    assert str(error.value).endswith("Give a path such as /evals.")
    with pytest.raises(ImproperlyConfigured, match="TOOLEVALS_PATH_PREFIX"):
        path_prefix(given)


def test_a_command_refuses_it_before_anything_starts(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("TOOLEVALS_PATH_PREFIX", "evals")
    assert main(["serve", "--data", str(tmp_path), "--port", "0"]) == Exit.CONFIGURATION
    assert "'evals' does not start with a slash" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_every_first_part_of_the_application_is_taken():
    firsts = {route.split("/")[1] for route in OWN}
    assert firsts - {""} | {"static"} == TAKEN


@given(PREFIXES, st.sampled_from(OWN))
def test_a_path_is_the_same_from_both_kinds_of_proxy(parts, path):
    prefix = prefix_of("/" + "/".join(parts))
    assert path_below(f"{prefix}{path}", prefix) == path_below(path, prefix) == path


@pytest.mark.parametrize(
    ("asked", "known"), [("/evals/v1/traces", "/v1/traces"), ("/v1/traces", "/v1/traces"), ("/evals", ""), ("/e", "/e")]
)
def test_the_server_takes_the_prefix_off_where_it_stands(asked, known, settings, monkeypatch):
    settings.PATH_PREFIX = "/evals"
    monkeypatch.setattr(wsgi, "_django", lambda environ, _: [environ["PATH_INFO"].encode()])
    assert list(wsgi.application({"PATH_INFO": asked}, None)) == [known.encode()]


def test_two_installations_on_one_host_share_no_cookie():
    names = {
        prefix: made_settings(prefix, "SESSION_COOKIE_NAME, CSRF_COOKIE_NAME, COOKIE_SUFFIX")
        for prefix in ("", "/a", "/a/b", "/a-b")
    }
    assert len({name for each in names.values() for name in each}) == 3 * len(names)
    assert made_settings("/a/b", "SESSION_COOKIE_PATH, CSRF_COOKIE_PATH, STATIC_URL") == [
        "/a/b",
        "/a/b",
        "/a/b/static/",
    ]
    assert made_settings("", "SESSION_COOKIE_NAME, SESSION_COOKIE_PATH, STATIC_URL") == ["sessionid", "/", "/static/"]


def made_settings(prefix: str, names: str) -> list[str]:
    """Return settings as a process has them that starts with this prefix."""
    code = f"import json, toolevals.settings as s; print(json.dumps([getattr(s, n) for n in {names!r}.split(', ')]))"
    with tempfile.TemporaryDirectory() as folder:
        environment = {"TOOLEVALS_DATA_DIR": folder, "TOOLEVALS_PATH_PREFIX": prefix}
        made = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True)
    found: list[str] = json.loads(made.stdout)
    return found
